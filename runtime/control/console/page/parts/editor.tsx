import {
  autocompletion,
  type CompletionContext,
  completionKeymap,
  insertCompletionText,
} from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint"
import { Annotation, EditorState, type Extension } from "@codemirror/state"
import { EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view"
import { useEffect, useRef } from "preact/hooks"
import { languageOf } from "./languages.ts"

/** A finding in a text: offsets in characters, and what to say there. */
export interface EditorMark {
  readonly start: number
  readonly end: number
  readonly severity: "error" | "warning" | "info" | "hint"
  readonly message: string
}

/** Where the cursor shall go: the beginning of a line (the first is 1), or an offset. A new object is a new jump. */
export interface EditorPlace {
  readonly offset: number
  readonly line?: number
}

/** A proposal for the text between two offsets. `docs` are Markdown, shown as text. */
export interface EditorProposal {
  readonly label: string
  readonly kind: string
  readonly detail?: string | undefined
  readonly docs?: string | undefined
  readonly insert: string
  readonly start: number
  readonly end: number
}

/** Answers questions about the text of an editor, by its path. */
export interface EditorHelp {
  complete(path: string, text: string, offset: number): Promise<readonly EditorProposal[]>
  hover(
    path: string,
    text: string,
    offset: number,
  ): Promise<{ readonly start: number; readonly end: number; readonly markdown: string } | undefined>
}

/** What an editor shows. A change of `path` or `label` makes a new editor; a change of `text` changes it. */
export interface EditorProps {
  /** Its ending chooses the language. */
  readonly path: string
  readonly label: string
  readonly text: string
  readonly marks?: readonly EditorMark[] | undefined
  readonly place?: EditorPlace | undefined
  /** Absent: nothing is proposed or explained. The first value counts. */
  readonly help?: EditorHelp | undefined
  /** Absent: the text can be read only. */
  readonly onChange?: ((text: string) => void) | undefined
}

/** Marks a change that the page made, not the person. */
const fromPage = Annotation.define<true>()

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--paper)" },
  // The host has the mark of the focus: gutters would cover it here.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: 'ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", monospace',
    lineHeight: "1.5",
  },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--sunk)" },
  ".cm-tooltip": {
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--strong-rule)",
    maxWidth: "420px",
  },
  ".cm-known": { padding: "6px 10px", whiteSpace: "pre-wrap" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { color: "inherit", opacity: "0.8" },
  ".cm-completionInfo": { whiteSpace: "pre-wrap" },
})

/** The editor of one text. It is in a shadow root: there CodeMirror adds its styles as objects, which the content policy allows. */
export function Editor(props: EditorProps) {
  const { path, label, text, marks, place } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  // Texts that were reported and have not come back as `text` yet. Somebody who types is ahead of the page: an older text must not replace a newer one.
  const reported = useRef<string[]>([])
  // The editor lives longer than one rendering, and calls the newest function.
  const changed = useRef<(now: string) => void>(() => undefined)
  changed.current = (now) => {
    reported.current.push(now)
    props.onChange?.(now)
  }

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" })
    const state = stateOf(props, (now) => changed.current(now))
    view.current = new EditorView({ state, root, parent: root })
    reported.current = []
    return () => view.current?.destroy()
  }, [path, label])

  useEffect(() => {
    const at = reported.current.indexOf(text)
    reported.current.splice(0, at === -1 ? reported.current.length : at + 1)
    const known = view.current?.state.doc.toString()
    if (at !== -1 || known === undefined || known === text) return
    view.current?.dispatch({
      changes: { from: 0, to: known.length, insert: text },
      annotations: fromPage.of(true),
    })
  }, [path, text])

  useEffect(() => {
    if (view.current === undefined) return
    const { length } = view.current.state.doc
    view.current.dispatch(setDiagnostics(view.current.state, diagnosticsOf(marks ?? [], length)))
  }, [path, marks])

  useEffect(() => {
    if (place === undefined || view.current === undefined) return
    const { doc } = view.current.state
    const { offset, line } = place
    const anchor =
      line === undefined ? Math.min(offset, doc.length) : doc.line(Math.min(line, doc.lines)).from
    view.current.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }),
    })
    view.current.focus()
  }, [path, place])

  return <div class="editor" ref={host} />
}

function stateOf(
  { path, label, text, onChange, help }: EditorProps,
  changed: (text: string) => void,
): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      highlightActiveLine(),
      lintGutter(),
      languageOf(path),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.lineWrapping,
      // Browsers reach editable text by the keyboard anyway; checkers of accessibility want it said.
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      // The text can be selected, copied and reached by the keyboard, but not changed.
      onChange === undefined ? EditorState.readOnly.of(true) : [],
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        if (docChanged && !transactions.some((each) => each.annotation(fromPage) === true))
          changed(state.doc.toString())
      }),
      help === undefined ? [] : helpOf(path, help),
      theme,
    ],
  })
}

/** Proposals while somebody types or presses Ctrl+Space, and what is known of the word under the mouse. */
function helpOf(path: string, help: EditorHelp): Extension {
  const source = async (context: CompletionContext) => {
    const { state, pos, explicit } = context
    if (!explicit && context.matchBefore(/[\w.#$]$/) === null) return null
    const found = await help.complete(path, state.doc.toString(), pos)
    const [first] = found
    if (first === undefined) return null
    return {
      from: first.start,
      validFor: /^[\w-]*$/,
      options: found.map(({ label, kind, detail, docs, insert, start, end }) => ({
        ...{ label, type: kind },
        ...(detail === undefined ? {} : { detail }),
        ...(docs === undefined ? {} : { info: docs }),
        apply: (view: EditorView) =>
          view.dispatch(
            insertCompletionText(view.state, insert, start, Math.max(end, view.state.selection.main.head)),
          ),
      })),
    }
  }
  return [
    autocompletion({ override: [source], icons: false }),
    keymap.of(completionKeymap),
    hoverTooltip(async ({ state }, offset) => {
      const found = await help.hover(path, state.doc.toString(), offset)
      if (found === undefined) return null
      const { start, end, markdown } = found
      return {
        pos: start,
        end,
        create: () => {
          const dom = document.createElement("div")
          dom.className = "cm-known"
          dom.textContent = markdown.replaceAll(/^```.*\n?/gm, "").trim()
          return { dom }
        },
      }
    }),
  ]
}

/** The text may have become shorter since it was judged. */
function diagnosticsOf(marks: readonly EditorMark[], length: number): Diagnostic[] {
  return marks.map(({ start, end, severity, message }) => ({
    from: Math.min(start, length),
    to: Math.min(end, length),
    severity,
    message,
  }))
}

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint"
import { EditorState } from "@codemirror/state"
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view"
import { useEffect, useRef } from "preact/hooks"
import { languageOf } from "./languages.ts"
import { analysis, change, jump, texts } from "./project.ts"

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
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
})

/** The editor of one file. It is in a shadow root: there CodeMirror adds its styles as objects, which the content policy allows. */
export function Editor({ path, label }: { readonly path: string; readonly label: string }) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" })
    view.current = new EditorView({ state: stateOf(path, label), root, parent: root })
    return () => view.current?.destroy()
  }, [path, label])

  const text = texts.value?.[path] ?? ""
  useEffect(() => {
    const known = view.current?.state.doc.toString()
    if (known !== undefined && known !== text)
      view.current?.dispatch({ changes: { from: 0, to: known.length, insert: text } })
  }, [path, text])

  const findings = analysis.value?.findings
  useEffect(() => {
    if (view.current !== undefined)
      view.current.dispatch(setDiagnostics(view.current.state, marksOf(path, view.current.state.doc.length)))
  }, [path, findings])

  const to = jump.value
  useEffect(() => {
    if (to?.path !== path || view.current === undefined) return
    const { doc } = view.current.state
    const anchor =
      to.line === undefined ? Math.min(to.offset, doc.length) : doc.line(Math.min(to.line, doc.lines)).from
    view.current.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }),
    })
    view.current.focus()
  }, [path, to])

  return <div class="editor" ref={host} />
}

function stateOf(path: string, label: string): EditorState {
  return EditorState.create({
    doc: texts.peek()?.[path] ?? "",
    extensions: [
      lineNumbers(),
      history(),
      highlightActiveLine(),
      lintGutter(),
      languageOf(path),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": `${label}: ${path}` }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) change(path, state.doc.toString())
      }),
      theme,
    ],
  })
}

/** The findings of a file as marks. The text may have become shorter since. */
function marksOf(path: string, length: number): Diagnostic[] {
  return (analysis.peek()?.findings ?? [])
    .filter((finding) => finding.path === path)
    .map(({ start, end, severity, title, detail, help }) => ({
      from: Math.min(start, length),
      to: Math.min(end, length),
      severity,
      message: `${title}: ${detail}${help === undefined ? "" : `\n${help}`}`,
    }))
}

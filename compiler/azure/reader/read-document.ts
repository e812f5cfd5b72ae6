import type { Report } from "../../core/diagnostic.ts"
import { didYouMean, nearest } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { SourceFile } from "../../core/source.ts"
import type { CommentNode, Element, PolicyDocument, PolicyNode } from "../ast.ts"
import { readAttributes } from "./attributes.ts"
import { Cursor } from "./cursor.ts"
import { readOpaque, readText } from "./texts.ts"

const sectionNames: ReadonlySet<string> = new Set(["inbound", "backend", "outbound", "on-error"])

/** Elements whose content is a body: markup inside belongs to the body. */
const opaque: ReadonlySet<string> = new Set(["set-body", "xsl-transform"])

/** Elements that contain one text and no elements. */
const oneText: ReadonlySet<string> = new Set([
  ...["value", "audience", "issuer", "application-id", "backend-application-id", "key", "origin", "header"],
  ...["method", "address", "set-url", "set-method", "message"],
])

/** Bounds of the work for one document. APIM's own limit for its size is 256 KB. */
const documentMax = 1024 * 1024
const depthMax = 64
const elementsMax = 20_000
const findingsMax = 50

/** An element whose end tag was not read yet. */
interface Open {
  readonly name: string
  readonly start: number
  readonly nameEnd: number
  readonly attributes: Element["attributes"]
  readonly children: PolicyNode[]
}

/**
 * Reads a policy document. Most documents are not XML: an attribute that begins with `@(` contains `"` and `<` as C# writes them. So an
 * expression ends at its matching bracket, whatever it contains; the rest is XML without document types and without its own entities. Mistakes
 * are reported with their places (SP7001, SP7002, SP7003): several per run, up to the first that breaks the nesting of elements. Never throws,
 * and terminates for every input.
 */
export function readPolicyDocument(file: SourceFile, report: Report): PolicyDocument {
  if (file.text.length > documentMax) {
    report.add(
      "SP7003",
      file.span(0, 0),
      `the document has ${file.text.length} characters; the maximum is ${documentMax}`,
    )
    return { file, root: undefined, around: [], plain: false, damaged: true }
  }
  return new DocumentReader(file, report).read()
}

class DocumentReader {
  readonly #report: Report
  readonly #cursor: Cursor
  readonly #around: CommentNode[] = []
  readonly #open: Open[] = []
  /** Policies outside any element: published snippets of fragments look like this. */
  readonly #bare: Element[] = []
  // The first complete element that can be a root.
  #root: Element | undefined
  #elements = 0

  constructor(file: SourceFile, report: Report) {
    this.#report = report
    this.#cursor = new Cursor(file, report, findingsMax)
  }

  read(): PolicyDocument {
    const cursor = this.#cursor
    while (!cursor.done && !cursor.givenUp) this.#next()
    this.#closeRest()
    this.#root ??= this.#fragment()
    if (this.#root === undefined && !cursor.damaged)
      cursor.report("SP7002", 0, 0, "there is neither `<policies>` nor `<fragment>`")
    const { file, plain, damaged } = cursor
    // After a broken nesting, findings of other phases would only be consequences.
    if (cursor.derailed) this.#report.close(file)
    return { file, root: this.#root, around: this.#around, plain, damaged }
  }

  #next(): void {
    const cursor = this.#cursor
    if (!cursor.sees("<")) {
      this.#text()
      return
    }
    if (cursor.sees("<!--")) this.#comment()
    else if (cursor.sees("<![CDATA[")) this.#text()
    else if (cursor.sees("<?")) this.#instruction()
    else if (cursor.sees("<!")) this.#declaration()
    else if (cursor.sees("</")) this.#endTag()
    else this.#startTag()
  }

  // Text outside of every element is reported where it is read.
  #add(node: PolicyNode): void {
    const parent = this.#open.at(-1)
    if (parent !== undefined) parent.children.push(node)
    else if (node.kind === "comment") this.#around.push(node)
    else if (node.kind === "element") this.#addRoot(node)
  }

  #addRoot(element: Element): void {
    if (this.#root === undefined) {
      const isRoot = element.name === "policies" || element.name === "fragment"
      // `<policy>` or a name near `policies` is a misspelt root, not a policy.
      const near = isRoot ? "" : didYouMean(element.name, ["policies", "fragment"])
      const meansRoot = near !== "" || /^polic/i.test(element.name)
      if (isRoot || meansRoot) this.#root = element
      else this.#bare.push(element)
      const wrong = isRoot ? this.#bare[0] : meansRoot ? element : undefined
      if (wrong === undefined) return
      const { start, end } = wrong.nameSpan
      this.#cursor.report(
        // Published snippets begin with a policy, which is right for a fragment and wrong before a root.
        "SP7002",
        start,
        end,
        `a document cannot start with \`<${shown(wrong.name)}>\`${near}`,
      )
      return
    }
    const { start, end } = element.nameSpan
    this.#cursor.report(
      "SP7002",
      start,
      end,
      `\`<${shown(element.name)}>\` comes after the end of the document`,
      {
        help: "Remove the rest, or move it into another file: a file contains one document.",
      },
    )
  }

  /** Top-level sections form a document, top-level policies form a fragment. */
  #fragment(): Element | undefined {
    const [first] = this.#bare
    const last = this.#bare.at(-1)
    if (first === undefined || last === undefined) return undefined
    const span = this.#cursor.file.span(first.span.start, last.span.end)
    return {
      kind: "element",
      name: this.#bare.every(({ name }) => sectionNames.has(name)) ? "policies" : "fragment",
      nameSpan: first.nameSpan,
      attributes: [],
      children: [...this.#bare],
      span,
    }
  }

  #text(): void {
    const cursor = this.#cursor
    const { at } = cursor
    const raw = readText(cursor, this.#open.at(-1)?.name ?? "")
    if (raw === undefined) return
    if (this.#open.length > 0) {
      this.#add({ kind: "text", raw })
      return
    }
    const written = cursor.text.slice(at, raw.span.end)
    const from = at + (written.length - written.trimStart().length)
    cursor.report("SP7001", from, at + written.trimEnd().length, "there is text outside of the document", {
      help: "Remove it; a comment is `<!-- … -->`.",
    })
  }

  #comment(): void {
    const cursor = this.#cursor
    const start = cursor.at
    const end = cursor.find("-->", start + 4)
    if (end === undefined) {
      // All elements around it would seem to have no end.
      cursor.derail(start, start + 4, "the comment has no `-->`", {
        help: "Add `-->` at its end.",
      })
      cursor.at = cursor.text.length
      return
    }
    cursor.at = end + 3
    const text = cursor.text.slice(start + 4, end)
    this.#add({ kind: "comment", text, span: cursor.file.span(start, end + 3) })
  }

  /** `<?xml …?>` has no relevant content. */
  #instruction(): void {
    const cursor = this.#cursor
    const end = cursor.find("?>", cursor.at)
    if (end === undefined) {
      cursor.report("SP7001", cursor.at, cursor.at + 2, "the instruction has no `?>`", { help: "Remove it." })
      cursor.at = cursor.text.length
    } else cursor.at = end + 2
  }

  #declaration(): void {
    const cursor = this.#cursor
    const end = cursor.find(">", cursor.at) ?? cursor.at + 1
    cursor.report("SP7001", cursor.at, end + 1, "a document cannot declare types or entities", {
      help: "Remove it; `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;` and `&#…;` are always there.",
    })
    cursor.at = end + 1
  }

  #startTag(): void {
    const cursor = this.#cursor
    const start = cursor.at
    cursor.at += 1
    const name = cursor.name()
    if (name === undefined) {
      cursor.derail(start, start + 1, "this `<` does not start an element", {
        help: "Write `&lt;` for the character, or put it in an expression: `@(…)`.",
      })
      this.#skipText()
      return
    }
    const nameEnd = cursor.at
    const attributes = readAttributes(cursor, name)
    this.#elements += 1
    if (this.#elements > elementsMax || this.#open.length >= depthMax) {
      const what = this.#open.length >= depthMax ? `${depthMax} levels` : `${elementsMax} elements`
      cursor.report("SP7003", start, nameEnd, `the maximum is ${what}`)
      cursor.giveUp()
      return
    }
    const open: Open = { name, start, nameEnd, attributes, children: [] }
    if (this.#isPlaceholder(open)) {
      cursor.at += 1
      cursor.report("SP7001", start, cursor.at, `the placeholder \`<${shown(name)}>\` was not replaced`, {
        help: 'Replace it with the value, or with `{{NAME}}` and `value NAME = "…"` in gateway.conf.',
      })
    } else if (cursor.takes("/>")) this.#finish(open)
    else {
      if (!cursor.takes(">"))
        cursor.derail(start, nameEnd, `the tag \`<${shown(name)}\` has no \`>\``, {
          help: "Add `>`, or `/>` if the element is empty.",
        })
      this.#open.push(open)
      if (opaque.has(name)) {
        const raw = readOpaque(cursor, name)
        if (raw !== undefined) open.children.push({ kind: "text", raw })
      }
    }
  }

  /** Whether a tag is a placeholder of a template, as in `<audience>api://<client-id></audience>`: its parent allows only text, and it has no end tag. */
  #isPlaceholder({ name, nameEnd, attributes }: Open): boolean {
    const cursor = this.#cursor
    const around = this.#open.at(-1)?.name ?? ""
    if (!oneText.has(around) || attributes.length > 0 || cursor.at !== nameEnd || !cursor.sees(">"))
      return false
    const end = cursor.find(`</${around}`, nameEnd)
    return end !== undefined && !cursor.text.slice(nameEnd, end).includes(`</${name}`)
  }

  #skipText(): void {
    const next = this.#cursor.find("<", this.#cursor.at)
    this.#cursor.at = next ?? this.#cursor.text.length
  }

  #endTag(): void {
    const cursor = this.#cursor
    const start = cursor.at
    cursor.at += 2
    const name = cursor.name()
    cursor.blanks()
    const closed = cursor.takes(">")
    if (name === undefined || !closed) {
      cursor.derail(start, cursor.at, "this end tag is malformed", {
        help: "Write `</NAME>`.",
      })
      if (name === undefined) {
        if (cursor.at === start + 2) this.#skipText()
        return
      }
    }
    const depth = this.#open.findLastIndex((each) => each.name === name)
    if (depth < 0) {
      const inner = this.#open.at(-1)
      if (inner !== undefined && nearest(name ?? "", [inner.name]) !== undefined) {
        this.#reportMisspelt(inner, name ?? "", start)
        this.#finish(this.#open.pop() as Open)
        return
      }
      const near = inner === undefined ? "" : `; \`<${shown(inner.name)}>\` is open here`
      cursor.derail(start, cursor.at, `\`</${shown(name)}>\` has no start tag${near}`, {
        help: "Remove the tag, or correct its name.",
      })
      return
    }
    for (const open of this.#open.splice(depth + 1).reverse()) {
      this.#reportUnclosed(open, `\`</${shown(name)}>\` comes first`)
      this.#adopt(open, start)
    }
    this.#finish(this.#open.pop() as Open)
  }

  /** Reports that one of two names is misspelt: the one that occurs less often in the document. */
  #reportMisspelt({ name, start, nameEnd }: Open, ended: string, endStart: number): void {
    const cursor = this.#cursor
    const often = (tag: string): number =>
      cursor.text.split(`<${tag}`).length + cursor.text.split(`</${tag}`).length
    const [from, to] = often(ended) > often(name) ? [start, nameEnd] : [endStart, cursor.at]
    cursor.derail(from, to, `\`</${shown(ended)}>\` does not end \`<${shown(name)}>\``, {
      help: "Write the same name in both tags.",
    })
  }

  #closeRest(): void {
    while (this.#open.length > 0) {
      const open = this.#open.pop() as Open
      if (!this.#cursor.givenUp) this.#reportUnclosed(open, "the document ends first")
      this.#adopt(open, this.#cursor.at)
    }
  }

  #reportUnclosed({ name, start, nameEnd }: Open, why: string): void {
    this.#cursor.derail(start, nameEnd, `\`<${shown(name)}>\` has no end tag: ${why}`, {
      help: `Add \`</${shown(name)}>\`, or write \`<${shown(name)} … />\` if it is empty.`,
    })
  }

  #finish(open: Open): void {
    this.#adopt(open, this.#cursor.at)
  }

  #adopt({ name, start, nameEnd, attributes, children }: Open, end: number): void {
    const { file } = this.#cursor
    this.#add({
      kind: "element",
      name,
      nameSpan: file.span(start + 1, nameEnd),
      attributes,
      children,
      span: file.span(start, end),
    })
  }
}

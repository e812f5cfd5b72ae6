import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type Node as YamlNode,
} from "yaml"
import type { Report } from "../core/diagnostic.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { yamlProblem, yamlProblems } from "../core/yaml-problem.ts"
import { type DocumentEntry, type DocumentNode, firstLine, type ScalarNode } from "./node.ts"
import { joinQuotedLines } from "./yaml-quotes.ts"

const depthMax = 100
/** Maximum number of values in one file, with repetitions: nested aliases double them at each level. */
const valuesMax = 4_000_000

/** The values of a YAML 1.2 file with their places. Undefined when it is not YAML, which is reported. */
export function readYamlTree(file: SourceFile, report: Report): DocumentNode | undefined {
  let document: Document.Parsed
  try {
    document = parsed(file.text)
    const joined = document.errors.length === 0 ? undefined : joinQuotedLines(file.text)
    const again = joined === undefined ? undefined : parsed(joined.text)
    if (joined !== undefined && again?.errors.length === 0) {
      document = again
      for (const at of joined.places)
        report.add("SP8021", firstLine(file, at, file.text.length), shallow, { help: shallowHelp })
    }
  } catch (error) {
    report.add("SP8002", file.span(0, 0), yamlProblem((error as Error).message))
    return undefined
  }
  for (const { start, end, detail, help } of yamlProblems(document.errors, file.text))
    report.add("SP8002", firstLine(file, start, end), detail, help === undefined ? {} : { help })
  if (document.errors.length > 0) return undefined
  return new YamlTree(file, report).read(document)
}

const shallow =
  "the string continues with less indentation than YAML requires: it is read as one line, with its spaces"
const shallowHelp = "Indent its lines deeper than the key."

function parsed(text: string): Document.Parsed {
  // Duplicate keys are checked here: the library compares each key with all previous ones.
  return parseDocument(text, { prettyErrors: false, uniqueKeys: false, merge: true })
}

/** A node and the number of values in it. */
interface Sized {
  readonly node: DocumentNode
  readonly size: number
}

/** Builds the tree from YAML nodes. `#anchors` has the nodes that aliases name, with their sizes. */
class YamlTree {
  readonly #file: SourceFile
  readonly #report: Report
  readonly #anchors = new Map<string, Sized>()
  #failed = false
  #count = 0

  constructor(file: SourceFile, report: Report) {
    this.#file = file
    this.#report = report
  }

  read({ contents }: Document.Parsed): DocumentNode | undefined {
    const start = this.#file.span(0, 0)
    const read = this.#sized(contents as YamlNode | null, start, 0)
    return this.#failed ? undefined : read.node
  }

  /** A node with the number of values in it. Aliases count each time, so that nested ones cannot multiply a small file. */
  #sized(node: YamlNode | null | undefined, at: Span, depth: number): Sized {
    if (node === null || node === undefined) return this.#empty(at)
    if (this.#failed) return this.#empty(at)
    if (depth > depthMax)
      return this.#fail("SP8006", this.#spanOf(node), `nested deeper than ${depthMax} levels`)
    if (isAlias(node)) return this.#alias(node)
    if (++this.#count > valuesMax) return this.#tooMany(node)
    const made = isMap(node)
      ? this.#map(node, depth)
      : isSeq(node)
        ? this.#list(node.items as (YamlNode | null)[], this.#spanOf(node), depth)
        : this.#scalar(node as Scalar)
    const { anchor } = node as { anchor?: string }
    if (anchor !== undefined) this.#anchors.set(anchor, made)
    return made
  }

  #alias(node: Alias): Sized {
    const target = this.#anchors.get(node.source)
    const span = this.#spanOf(node)
    if (target === undefined)
      return this.#fail("SP8002", span, `there is no anchor \`&${shown(node.source)}\` above`)
    this.#count += target.size
    return this.#count > valuesMax ? this.#tooMany(node) : target
  }

  #list(items: readonly (YamlNode | null)[], span: Span, depth: number): Sized {
    const read = items.map((item) => this.#sized(item, span, depth + 1))
    const size = read.reduce((sum, each) => sum + each.size, 1)
    return { node: { kind: "list", span, items: read.map((each) => each.node) }, size }
  }

  /** A map with what it merges (`<<`). Own keys come first. */
  #map(map: YAMLMap, depth: number): Sized {
    const span = this.#spanOf(map)
    const entries = new Map<string, DocumentEntry>()
    const merged: DocumentNode[] = []
    let size = 1
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? this.#text(key) : undefined
      if (name === undefined || name === "__proto__") {
        this.#fail(
          "SP8003",
          span,
          name === undefined ? "a key must be a string" : "`__proto__` is not allowed as a key",
        )
        continue
      }
      const at = this.#spanOf(key as Scalar)
      const read = this.#sized(value as YamlNode | null, at, depth + 1)
      size += read.size
      const first = entries.get(name)
      if (name === "<<") merged.push(read.node)
      else if (first === undefined) entries.set(name, { key: at, value: read.node })
      else this.#twice(name, at, first.key)
    }
    for (const node of merged) mergeInto(entries, node)
    return { node: { kind: "map", span, entries }, size }
  }

  #twice(name: string, at: Span, first: Span): void {
    this.#failed = true
    this.#report.add("SP8002", at, `the key \`${shown(name)}\` is given twice`, {
      help: "Remove one of the two, or rename it.",
      related: [{ span: first, message: "the first" }],
    })
  }

  /** A scalar. Dates and other types of YAML are texts here, as in JSON. */
  #scalar(node: Scalar): Sized {
    const { value } = node
    const plain: ScalarNode["value"] =
      typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null
        ? value
        : this.#text(node)
    // JSON has no such numbers, and they have no meaning in a document.
    const finite = typeof plain === "number" && !Number.isFinite(plain) ? String(plain) : plain
    return { node: { kind: "scalar", span: this.#spanOf(node), value: finite }, size: 1 }
  }

  #text(node: Scalar): string {
    return typeof node.value === "string" ? node.value : (node.source ?? String(node.value))
  }

  #empty(at: Span): Sized {
    return { node: { kind: "scalar", span: at, value: null }, size: 1 }
  }

  #tooMany(node: YamlNode): Sized {
    return this.#fail("SP8006", this.#spanOf(node), `the file has more than ${valuesMax} values`)
  }

  #fail(code: "SP8002" | "SP8003" | "SP8006", span: Span, detail: string): Sized {
    if (!this.#failed) this.#report.add(code, span, detail)
    this.#failed = true
    return this.#empty(span)
  }

  #spanOf({ range }: { range?: readonly number[] | null }): Span {
    return firstLine(this.#file, range?.[0] ?? 0, range?.[1] ?? 0)
  }
}

/** Keys of the map itself take precedence over merged keys. */
function mergeInto(entries: Map<string, DocumentEntry>, node: DocumentNode): void {
  const maps = node.kind === "list" ? node.items : [node]
  for (const map of maps) {
    if (map.kind !== "map") continue
    for (const [name, entry] of map.entries) if (!entries.has(name)) entries.set(name, entry)
  }
}

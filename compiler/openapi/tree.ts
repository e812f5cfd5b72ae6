import { type JsonVisitor, scanJson } from "../../runtime/plan/json-scan.ts"
import type { Report } from "../core/diagnostic.ts"
import type { SourceFile } from "../core/source.ts"
import { type DocumentEntry, type DocumentNode, firstLine } from "./node.ts"
import { readYamlTree } from "./yaml-tree.ts"

/** Maximum number of values in one file. Values repeated by YAML aliases count each time. */
export const nodesMax = 4_000_000

/** The values of a JSON or YAML file with their places. Undefined when it is neither, which is reported. */
export function readTree(file: SourceFile, report: Report): DocumentNode | undefined {
  return /^\s*[{[]/.test(file.text.slice(0, 4096)) ? readJsonTree(file, report) : readYamlTree(file, report)
}

/** A flow map of YAML begins like JSON. So invalid JSON is tried as YAML, unless the file name says JSON. */
function readJsonTree(file: SourceFile, report: Report): DocumentNode | undefined {
  const builder = new JsonTree(file)
  const problem = scanJson(file.text, builder.visitor)
  if (problem === undefined) return builder.finish(report)
  if (/\.ya?ml$/i.test(file.path)) return readYamlTree(file, report)
  report.add("SP8002", file.span(problem.at, Math.min(problem.at + 1, file.text.length)), problem.message)
  return undefined
}

/** Key, place and value of an entry whose map is not finished. */
interface Pending {
  readonly key: { readonly start: number; readonly end: number } | undefined
  readonly node: DocumentNode
}

/** Builds the tree from a scan of the text. Children are finished before their parent, so they wait by depth. */
class JsonTree {
  readonly #file: SourceFile
  /** By depth: the values of unfinished maps and lists. */
  readonly #pending: Pending[][] = [[]]
  #count = 0
  #reserved: DocumentEntry["key"] | undefined

  constructor(file: SourceFile) {
    this.#file = file
  }

  readonly visitor: JsonVisitor = (path, { start, end, key }) => {
    const depth = path.length
    const inside = this.#pending[depth + 1] ?? []
    if (inside.length > 0) this.#pending[depth + 1] = []
    let level = this.#pending[depth]
    if (level === undefined) {
      level = []
      this.#pending[depth] = level
    }
    this.#count += 1
    level.push({ key, node: this.#make(start, end, inside) })
  }

  /** The root, if the number of values is within the limit. */
  finish(report: Report): DocumentNode | undefined {
    const root = this.#pending[0]?.[0]?.node
    if (this.#reserved !== undefined) {
      report.add("SP8003", this.#reserved, "`__proto__` is not allowed as a key")
      return undefined
    }
    if (this.#count <= nodesMax) return root
    report.add("SP8006", root?.span, `the file has ${this.#count} values; the maximum is ${nodesMax}`)
    return undefined
  }

  /** A node from its text and its finished children. */
  #make(start: number, end: number, inside: readonly Pending[]): DocumentNode {
    const { text } = this.#file
    const first = text[start]
    const span = firstLine(this.#file, start, end)
    if (first === "[") return { kind: "list", span, items: inside.map((each) => each.node) }
    if (first !== "{") return { kind: "scalar", span, value: JSON.parse(text.slice(start, end)) }
    const entries = new Map<string, DocumentEntry>()
    for (const { key, node } of inside) {
      if (key === undefined) continue
      const name = JSON.parse(text.slice(key.start, key.end)) as string
      const at = this.#file.span(key.start, key.end)
      if (name === "__proto__") this.#reserved = at
      entries.set(name, { key: at, value: node })
    }
    return { kind: "map", span, entries }
  }
}

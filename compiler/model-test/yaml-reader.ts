import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseAllDocuments,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml"
import type { Report } from "../core/diagnostic.ts"
import { didYouMean, nearest } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { yamlProblems } from "../core/yaml-problem.ts"

/** A value of a YAML file: its node (undefined for an empty value), and its place. */
export interface YamlValue {
  readonly node: Node | undefined
  readonly span: Span
}

/** An entry of a map. */
export interface YamlEntry {
  readonly key: Span
  readonly name: string
  readonly value: YamlValue
}

/** Maximum number of values in one file that come from aliases (`*name`). */
const repeatedMax = 50_000

/**
 * Reads one YAML 1.2 file in the expected form. A deviation is a finding at its place, and the method returns undefined or an empty list.
 * Empty values (`tuples:` without a value) count as absent, as in OpenFGA's command line.
 */
export class YamlReader {
  readonly #file: SourceFile
  readonly #report: Report
  readonly #start: number
  readonly #text: string
  #document: Document | undefined
  #targets: ReadonlyMap<Node, Node> = new Map()
  /** Keys that misspelt keys were probably meant to be, with the start of their map. */
  readonly #meant = new Set<string>()
  /** How many values may still be read. */
  #left = repeatedMax

  /** `part` is the part of the file to read (default: all of it). */
  constructor(file: SourceFile, report: Report, part?: Span) {
    this.#file = file
    this.#report = report
    this.#start = part?.start ?? 0
    this.#text = file.text.slice(this.#start, part?.end)
  }

  /** Calls `read` with each document of the file in turn. Documents with syntax errors are reported and left out. */
  eachDocument(read: (value: YamlValue) => void): void {
    for (const document of parseAllDocuments(this.#text, { prettyErrors: false, merge: true })) {
      for (const { start, end, detail, help } of yamlProblems(document.errors, this.#text))
        this.#report.add("SP6001", this.#span(start, end), detail, help === undefined ? {} : { help })
      if (document.errors.length > 0) continue
      this.#document = document
      const { targets, count } = targetsOf(document)
      this.#targets = targets
      // Values that the file contains directly are read a few times at most. More reads come from aliases.
      this.#left += 4 * count
      read(this.#valueOf(document.contents, this.#span(0, 0)))
    }
  }

  /** Whether the value is empty. */
  isEmpty({ node }: YamlValue): boolean {
    return node === undefined || (isScalar(node) && node.value === null)
  }

  /** Whether the value is a list. */
  isList(value: YamlValue): boolean {
    return isSeq(this.#resolved(value))
  }

  /** The entries of a map, with `<<` resolved. Undefined when it is not a map. When `known` is given, every key must be in it. */
  entries(value: YamlValue, what: string, known?: readonly string[]): readonly YamlEntry[] | undefined {
    const node = this.#resolved(value)
    if (node === undefined) return undefined
    if (!isMap(node)) return this.#wrong(value, `${what} must be a map, found ${kindOf(node)}`)
    const found = new Map<string, YamlEntry>()
    this.#collect(node, found, 0)
    const entries = [...found.values()]
    if (known === undefined) return entries
    return entries.filter(({ name, key }) => {
      if (known.includes(name)) return true
      const meant = nearest(name, known)
      if (meant !== undefined) this.#meant.add(`${value.span.start} ${meant}`)
      const help = `Use one of these keys: ${known.map((each) => `\`${each}\``).join(", ")}.`
      this.#report.add(
        "SP6003",
        key,
        `\`${shown(name)}\` is not a key of ${what}${didYouMean(name, known)}`,
        {
          help,
        },
      )
      return false
    })
  }

  /** Whether a map has a misspelt key that was probably meant to be `name`: then the key is not missing. */
  misspells({ span }: Pick<YamlValue, "span">, name: string): boolean {
    return this.#meant.has(`${span.start} ${name}`)
  }

  /** The items of a list. Empty when the list is empty or the value is not a list. */
  list(value: YamlValue | undefined, what: string): readonly YamlValue[] {
    if (value === undefined) return []
    const node = this.#resolved(value)
    if (node === undefined) return []
    if (isSeq(node)) return node.items.map((item) => this.#valueOf(item as Node | null, value.span))
    this.#wrong(value, `${what} must be a list, found ${kindOf(node)}`)
    return []
  }

  /** A text; numbers and words such as `true` are taken as written. Undefined when empty or not a scalar. */
  text(value: YamlValue | undefined, what: string): string | undefined {
    const node = value === undefined ? undefined : this.#resolved(value)
    if (value === undefined || node === undefined) return undefined
    if (!isScalar(node)) return this.#wrong(value, `${what} must be a string, found ${kindOf(node)}`)
    return typeof node.value === "string" ? node.value : (node.source ?? String(node.value))
  }

  /** True or false, also in the words of YAML 1.1, which OpenFGA's command line accepts here. */
  flag(value: YamlValue, what: string): boolean | undefined {
    const node = this.#resolved(value)
    if (isScalar(node)) {
      if (typeof node.value === "boolean") return node.value
      if (node.type === "PLAIN" && /^(?:y|yes|on)$/i.test(String(node.value))) return true
      if (node.type === "PLAIN" && /^(?:n|no|off)$/i.test(String(node.value))) return false
    }
    return this.#wrong(value, `${what} must be \`true\` or \`false\`, found ${this.#shown(node)}`)
  }

  /** A value for a message: `"true"` in quotes is a text. */
  #shown(node: Node | undefined): string {
    if (node === undefined) return "nothing"
    if (!isScalar(node)) return kindOf(node)
    const source = `\`${shown(this.#source(node))}\``
    return typeof node.value === "string" ? `the string ${source}` : source
  }

  /** A map as JSON, for conditions. Undefined when empty or not a map. */
  json(value: YamlValue | undefined, what: string): Readonly<Record<string, unknown>> | undefined {
    const node = value === undefined ? undefined : this.#resolved(value)
    if (value === undefined || node === undefined || this.#document === undefined) return undefined
    if (!isMap(node)) return this.#wrong(value, `${what} must be a map, found ${kindOf(node)}`)
    try {
      return node.toJS(this.#document, { maxAliasCount: 100 }) as Record<string, unknown>
    } catch (error) {
      this.#report.add("SP6013", value.span, lowerFirst((error as Error).message))
      return undefined
    }
  }

  /** The scalar node in the file, for callers that need to know its style. */
  scalar(value: YamlValue): Scalar | undefined {
    const node = this.#resolved(value)
    return isScalar(node) ? node : undefined
  }

  /** The entries of a map, with those it merges (`<<`). The depth is limited, because merges can refer to each other. */
  #collect(map: YAMLMap, found: Map<string, YamlEntry>, depth: number): void {
    for (const { key, value } of map.items) {
      const place = this.#valueOf(key as Node | null, this.#spanOf(map))
      const target = this.#valueOf(value as Node | null, place.span)
      const name = isScalar(place.node) ? this.#source(place.node) : undefined
      if (name === undefined) this.#wrong(place, "a key must be a string")
      else if (name !== "<<") found.set(name, { key: place.span, name, value: target })
      // Keys of the map itself take precedence over merged keys.
      else if (depth < 10)
        for (const each of this.#merged(target)) {
          const inherited = new Map<string, YamlEntry>()
          this.#collect(each, inherited, depth + 1)
          for (const [inner, entry] of inherited) if (!found.has(inner)) found.set(inner, entry)
        }
    }
  }

  /** The maps that a merge key names: one, or a list of them. */
  #merged(value: YamlValue): YAMLMap[] {
    const node = this.#resolved(value)
    if (isMap(node)) return [node]
    return isSeq(node)
      ? node.items.flatMap((item) => {
          const each = this.#resolved(this.#valueOf(item as Node | null, value.span))
          return isMap(each) ? [each] : []
        })
      : []
  }

  #source(node: Scalar): string {
    return typeof node.value === "string" ? node.value : (node.source ?? String(node.value))
  }

  /** The node of a value with aliases resolved. Undefined when it is empty. */
  #resolved(value: YamlValue): Node | undefined {
    if (--this.#left < 0) {
      if (this.#left === -1)
        this.#report.add("SP6013", value.span, `aliases repeat more than ${repeatedMax} values`)
      return undefined
    }
    const node = isAlias(value.node) ? this.#targets.get(value.node) : value.node
    if (isAlias(value.node) && node === undefined)
      return this.#wrong(value, `there is no anchor \`&${shown(value.node.source)}\` above`)
    return node === undefined || this.isEmpty({ ...value, node }) ? undefined : node
  }

  #valueOf(node: Node | null | undefined, otherwise: Span): YamlValue {
    if (node === null || node === undefined) return { node: undefined, span: otherwise }
    return { node, span: node.range ? this.#spanOf(node) : otherwise }
  }

  #spanOf(node: Node): Span {
    return this.#span(node.range?.[0] ?? 0, node.range?.[1] ?? 0)
  }

  /** For a value of several lines, only its first line without spaces at its end. */
  #span(start: number, end: number): Span {
    const [line = ""] = this.#text.slice(start, end).split("\n", 1)
    const from = this.#start + start
    return this.#file.span(from, from + line.trimEnd().length)
  }

  #wrong(value: YamlValue, detail: string): undefined {
    this.#report.add("SP6002", value.span, detail)
    return undefined
  }
}

/**
 * The target of each alias (the nearest anchor of that name before it), and the number of nodes. Computed in one walk, because the library
 * needs a walk per alias.
 */
function targetsOf(document: Document): { targets: ReadonlyMap<Node, Node>; count: number } {
  const named = new Map<string, Node>()
  const targets = new Map<Node, Node>()
  let count = 0
  visit(document, {
    Node(_, node) {
      count++
      if (isAlias(node)) {
        const target = named.get(node.source)
        if (target !== undefined) targets.set(node, target)
      } else if (node.anchor !== undefined) named.set(node.anchor, node)
    },
  })
  return { targets, count }
}

function kindOf(node: Node): string {
  if (isMap(node)) return "a map"
  if (isSeq(node)) return "a list"
  if (!isScalar(node)) return "an alias"
  if (typeof node.value === "string") return "a string"
  return typeof node.value === "number" || typeof node.value === "bigint" ? "a number" : `\`${node.value}\``
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

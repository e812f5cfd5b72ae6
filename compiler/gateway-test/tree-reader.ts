import type { Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import { jsonOf, type Tree, type TreeEntry } from "./value-tree.ts"

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const durationPattern = /^(-?)((?:\d+(?:ms|s|m|h|d))+)$/

/** Reads values of a test file in the expected form. Every deviation is a finding at its place, and the method returns undefined. */
export class TreeReader {
  readonly report: Report

  constructor(report: Report) {
    this.report = report
  }

  /** The entries of a map whose keys must be in `known`. */
  fields(tree: Tree, what: string, known: readonly string[]): TreeFields | undefined {
    const entries = this.entries(tree, what)
    if (entries === undefined) return undefined
    const fitting = new Map<string, TreeEntry>()
    for (const [name, entry] of entries) {
      if (known.includes(name)) fitting.set(name, entry)
      else
        this.report.add(
          "SP6003",
          entry.key,
          `\`${shown(name)}\` is not a key of ${what}${didYouMean(name, known)}`,
          { help: `Use one of these keys: ${known.map((each) => `\`${each}\``).join(", ")}.` },
        )
    }
    return new TreeFields(fitting, tree.span)
  }

  /** The entries of a map with any keys. An empty value is an empty map. */
  entries(tree: Tree, what: string): ReadonlyMap<string, TreeEntry> | undefined {
    if (tree.is === "map") return tree.entries
    if (tree.is === "scalar" && tree.value === null) return new Map()
    return this.wrong(tree, `${what} must be a map`)
  }

  /** The items of a list. */
  items(tree: Tree, what: string): readonly Tree[] {
    if (tree.is === "list") return tree.items
    if (tree.is === "scalar" && tree.value === null) return []
    this.wrong(tree, `${what} must be a list`)
    return []
  }

  /** One item, or a list of them. */
  oneOrMore(tree: Tree): readonly Tree[] {
    return tree.is === "list" ? tree.items : [tree]
  }

  /** A text; numbers and words such as `true` are taken as written. */
  text(tree: Tree | undefined, what: string): string | undefined {
    if (tree === undefined) return undefined
    if (tree.is === "scalar" && tree.value !== null)
      return typeof tree.value === "string" ? tree.value : tree.source
    return this.wrong(tree, `${what} must be a string`)
  }

  /** A whole number of at least `least`. */
  whole(tree: Tree | undefined, what: string, least: number): number | undefined {
    if (tree === undefined) return undefined
    const value = tree.is === "scalar" ? Number(tree.value) : Number.NaN
    if (tree.is === "scalar" && tree.value !== null && Number.isSafeInteger(value) && value >= least)
      return value
    return this.wrong(tree, `${what} must be a whole number of at least ${least}`)
  }

  flag(tree: Tree | undefined, what: string): boolean | undefined {
    if (tree === undefined) return undefined
    if (tree.is === "scalar" && typeof tree.value === "boolean") return tree.value
    return this.wrong(tree, `${what} must be \`true\` or \`false\``)
  }

  /** A duration such as `90s`, `1h30m` or `-5m`, in milliseconds. */
  duration(tree: Tree | undefined, what: string): number | undefined {
    const text = this.text(tree, what)
    if (text === undefined || tree === undefined) return undefined
    const ms = durationMs(text)
    return ms ?? this.wrong(tree, `${what} must be a duration, for example \`500ms\`, \`90s\` or \`1h30m\``)
  }

  /** A time of RFC 3339, in milliseconds since the epoch. */
  time(tree: Tree | undefined, what: string): number | undefined {
    const text = this.text(tree, what)
    if (text === undefined || tree === undefined) return undefined
    const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(ms)
      ? this.wrong(tree, `${what} must be a time, for example \`2026-01-31T12:00:00Z\``)
      : ms
  }

  /** Reports a name that the plan or the file does not have. */
  unknown(span: Span, what: string, name: string, known: readonly string[]): undefined {
    const help =
      known.length === 0
        ? `Remove it: there is no ${what}.`
        : `Use one of these: ${known
            .slice(0, 10)
            .map((each) => `\`${each}\``)
            .join(", ")}.`
    this.report.add("SP6015", span, `there is no ${what} \`${shown(name)}\`${didYouMean(name, known)}`, {
      help,
    })
    return undefined
  }

  wrong(tree: Tree, detail: string): undefined {
    this.report.add("SP6002", tree.span, `${detail}, found ${foundText(tree)}`)
    return undefined
  }

  missing(span: Span, detail: string): undefined {
    this.report.add("SP6004", span, detail)
    return undefined
  }
}

/** The known entries of a map. */
export class TreeFields {
  readonly span: Span
  readonly #entries: ReadonlyMap<string, TreeEntry>

  constructor(entries: ReadonlyMap<string, TreeEntry>, span: Span) {
    this.#entries = entries
    this.span = span
  }

  get(name: string): Tree | undefined {
    return this.#entries.get(name)?.value
  }

  entry(name: string): TreeEntry | undefined {
    return this.#entries.get(name)
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }
}

/** The milliseconds of `90s`, `1h30m` or `-5m`; undefined when it is no duration. */
export function durationMs(text: string): number | undefined {
  const [, sign, parts] = durationPattern.exec(text) ?? []
  if (parts === undefined) return undefined
  let ms = 0
  for (const [, count, unit] of parts.matchAll(/(\d+)(ms|s|m|h|d)/g))
    ms += Number(count) * (units[unit ?? ""] ?? 0)
  return sign === "-" ? -ms : ms
}

function foundText(tree: Tree): string {
  if (tree.is !== "scalar") return `a ${tree.is}`
  return tree.value === null ? "nothing" : `\`${shown(JSON.stringify(jsonOf(tree)))}\``
}

import type { DiagnosticCode } from "../../compiler/core/catalogue.ts"
import type { Example } from "./projects.ts"

/**
 * One way to break a file at one place, and what must be reported. All of it follows from the change itself, never from what the compiler
 * says today. Offsets are UTF-16 units in the file before the change.
 */
export interface Slip {
  /** `put` replaces the text from `start` to `end`. */
  readonly start: number
  readonly end: number
  readonly put: string
  /** Where the first finding may begin, in the broken file (default: in `put`, or beside it). */
  readonly at?: readonly [from: number, to: number]
  /** Other places that are as right, by file: the wrong half of two that disagree cannot be known. */
  readonly orAt?: (file: string, line: string) => boolean
  /** Codes that name the cause (default: those of the kind). */
  readonly codes?: readonly DiagnosticCode[]
  /** What the finding or its remedy must say so that the change can be undone, e.g. the right word. */
  readonly says?: string | RegExp
  /** How many findings are right (default: 1): a wrong declaration is missed at each of its uses. */
  readonly findings?: number
}

/** A row of the table: a kind of mistake, in which files it happens, and the codes of which the first finding must have one. */
export interface Kind {
  readonly name: string
  readonly files: RegExp
  readonly codes: readonly DiagnosticCode[]
  /** What the remedy must say, unless the slip says it. */
  readonly says?: string | RegExp
  /** Why these codes or places are right, where it is a matter of judgement. */
  readonly why?: string
  /** All places of a file where this mistake can happen. `next` chooses among forms of the mistake. */
  slips(text: string, next: Numbers, example: Example): readonly Slip[]
}

/** A whole number from 0, below the given one. */
export type Numbers = (below: number) => number

/** One broken project. */
export interface Mistake extends Slip {
  readonly kind: Kind
  readonly example: Example
  readonly file: string
}

/** The same numbers for the same seed (mulberry32). */
export function numbersFrom(seed: number): Numbers {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below)
  }
}

/** One of several. */
export function oneOf<Item>(items: readonly Item[], next: Numbers): Item {
  return items[next(items.length)] as Item
}

/** At most `count` mistakes of a kind in one example, at places chosen by `next`. */
export function mistakesOf(kind: Kind, example: Example, count: number, next: Numbers): Mistake[] {
  const all = [...example.files]
    .filter(([file]) => kind.files.test(file))
    .flatMap(([file, text]) =>
      kind.slips(text, next, example).map((slip): Mistake => ({ ...slip, kind, example, file })),
    )
  const chosen: Mistake[] = []
  while (chosen.length < count && all.length > 0) chosen.push(...all.splice(next(all.length), 1))
  return chosen
}

/** The files with all of these mistakes, which must not overlap. */
export function broken(example: Example, mistakes: readonly Mistake[]): Map<string, string> {
  const files = new Map(example.files)
  for (const { file, start, end, put } of [...mistakes].sort((a, b) => b.start - a.start)) {
    const text = files.get(file) as string
    files.set(file, text.slice(0, start) + put + text.slice(end))
  }
  return files
}

/** A match of a pattern: its group `x`, or all of it. */
export interface Site {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly groups: Readonly<Record<string, string>>
  /** Start and end of a named group. */
  group(name: string): readonly [number, number]
  /** Start and end of the whole match. */
  readonly whole: readonly [number, number]
}

/** All matches outside of comments. The pattern needs no flags; its group `x` is the place. */
export function sites(text: string, pattern: RegExp, comments: RegExp = hash): Site[] {
  const code = text.replace(comments, (found) => found.replace(/[^\n]/g, " "))
  return [...code.matchAll(new RegExp(pattern, "dgm"))].map((match) => {
    const whole: readonly [number, number] = [match.index, match.index + match[0].length]
    const group = (name: string): readonly [number, number] => match.indices?.groups?.[name] ?? whole
    const [start, end] = group("x")
    return { start, end, text: text.slice(start, end), groups: { ...match.groups }, group, whole }
  })
}

/** Comments of gateway.conf, models and YAML. */
const hash = /(?:^|[ \t])#.*$/gm

/** Comments of XML. */
export const xmlComments = /<!--[\s\S]*?-->/g

/** A word with one slip of the fingers: two letters exchanged, one left out, or one typed twice; never one of `known`. */
export function misspelt(word: string, next: Numbers, known: ReadonlySet<string> = none): string {
  for (let tries = 0; tries < 50; tries++) {
    // Letters only: `team31` for `team13` is another name, not a misspelt one.
    const at = 1 + next(Math.max(1, word.replace(/\d+$/, "").length - 2))
    const [a, b] = [word.charAt(at), word.charAt(at + 1)]
    const forms = [
      word.slice(0, at) + b + a + word.slice(at + 2),
      word.slice(0, at) + word.slice(at + 1),
      word.slice(0, at) + a + a + word.slice(at + 1),
    ]
    const found = oneOf(forms, next)
    if (found !== word && !known.has(found) && /^\w/.test(found)) return found
  }
  return `${word}q`
}

const none: ReadonlySet<string> = new Set()

/** The whole line of an offset, as a range. */
export function lineAt(text: string, offset: number): readonly [number, number] {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  const end = text.indexOf("\n", offset)
  return [start, end === -1 ? text.length : end]
}

/** The offset of the bracket that `close` (the offset of a closing one) belongs to, outside of strings. */
export function openerOf(text: string, close: number, open = "{", shut = "}"): number {
  const code = withoutStrings(text)
  let depth = 0
  for (let at = close; at >= 0; at--) {
    if (code[at] === shut) depth++
    if (code[at] === open && --depth === 0) return at
  }
  return -1
}

/** The text with strings, heredocs and comments blanked, so that brackets in it are those of the language. */
export function withoutStrings(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ")
  return text
    .replace(hash, blank)
    .replace(/<<([A-Z]+)\n[\s\S]*?\n\s*\1$/gm, blank)
    .replace(/"(?:\$\{[^}]*\}|[^"\n\\]|\\.)*"/g, blank)
}

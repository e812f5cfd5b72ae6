import type { Dialect } from "./dialect.ts"

/** The characters that match at one place. */
export interface CharacterSet {
  has(code: number): boolean
  /** Contains no character beyond the first 256. */
  readonly isNarrow: boolean
}

/** One part of a set: a range (both ends included), or a predicate. */
export type SetItem = readonly [from: number, to: number] | ((code: number) => boolean)

const tableSize = 256

/** `without`: .NET's subtraction, `[a-z-[aeiou]]`. */
export function characterSet(
  items: readonly SetItem[],
  options: { negative: boolean; ignoreCase: boolean; without?: CharacterSet | undefined },
): CharacterSet {
  const { negative, ignoreCase, without } = options
  const listed = (code: number): boolean =>
    items.some((item) =>
      typeof item === "function" ? item(code) : code >= (item[0] as number) && code <= (item[1] as number),
    )
  const inItems = (code: number): boolean =>
    listed(code) || (ignoreCase && otherCases(code).some((each) => listed(each)))
  const decide = (code: number): boolean => inItems(code) !== negative && without?.has(code) !== true
  const table = Uint8Array.from({ length: tableSize }, (_, code) => (decide(code) ? 1 : 0))
  const isNarrow =
    !negative && !ignoreCase && items.every((item) => typeof item !== "function" && item[1] < tableSize)
  return { has: (code) => (code < tableSize ? table[code] === 1 : decide(code)), isNarrow }
}

/** The union of the sets. */
export function union(sets: readonly CharacterSet[]): CharacterSet {
  const [only] = sets
  if (sets.length === 1 && only !== undefined) return only
  const table = Uint8Array.from({ length: tableSize }, (_, code) =>
    sets.some((set) => set.has(code)) ? 1 : 0,
  )
  return {
    has: (code) => (code < tableSize ? table[code] === 1 : sets.some((set) => set.has(code))),
    isNarrow: sets.every((set) => set.isNarrow),
  }
}

/** Whether the sets have no common character. False if finding out takes too long. */
export function areDisjoint(one: CharacterSet, other: CharacterSet): boolean {
  if (!one.isNarrow && !other.isNarrow) return false
  for (let code = 0; code < tableSize; code++) if (one.has(code) && other.has(code)) return false
  return true
}

function otherCases(code: number): number[] {
  const text = String.fromCodePoint(code)
  return [text.toLowerCase(), text.toUpperCase()].filter((each) => [...each].length === 1).map(firstCode)
}

function firstCode(text: string): number {
  return text.codePointAt(0) as number
}

/** Returns the same number for letters that differ only in case. */
export function foldCase(code: number): number {
  if (code < 128) return code >= 97 && code <= 122 ? code - 32 : code
  const upper = String.fromCodePoint(code).toUpperCase()
  // The upper case of `ß` has two letters, that of `ſ` is an ASCII letter: both stay unchanged.
  return [...upper].length === 1 && firstCode(upper) >= 128 ? firstCode(upper) : code
}

/** Caches the result for each character of the Basic Multilingual Plane, because a text may consist of them. */
function inProperty(shape: RegExp): (code: number) => boolean {
  const unknown = 0
  let known: Uint8Array | undefined
  const look = (code: number): boolean => shape.test(String.fromCodePoint(code))
  return (code) => {
    if (code > 0xffff) return look(code)
    known ??= new Uint8Array(0x10000)
    if (known[code] === unknown) known[code] = look(code) ? 1 : 2
    return known[code] === 1
  }
}

const ranges = (...pairs: (readonly [number, number])[]): readonly SetItem[] => pairs

/** `\d`, `\w` and `\s`. .NET includes all scripts; ECMAScript's digits and letters are ASCII only. */
export const shorthands: Readonly<Record<Dialect, Readonly<Record<"d" | "w" | "s", readonly SetItem[]>>>> = {
  dotnet: {
    d: [inProperty(/\p{Nd}/u)],
    w: [inProperty(/[\p{L}\p{Mn}\p{Nd}\p{Pc}]/u)],
    s: [inProperty(/[\f\n\r\t\v\x85\p{Z}]/u)],
  },
  ecma: {
    d: ranges([48, 57]),
    w: ranges([48, 57], [65, 90], [95, 95], [97, 122]),
    s: [inProperty(/\s/u)],
  },
}

/** `\p{…}`; undefined if the property does not exist. */
export function propertyItem(name: string, dialect: Dialect): SetItem | undefined {
  // .NET knows general categories by their short names, and blocks, which JavaScript does not have.
  if (dialect === "dotnet" && !/^[A-Z][a-z]?$/.test(name)) return undefined
  try {
    return inProperty(new RegExp(`\\p{${name}}`, "u"))
  } catch {
    return undefined
  }
}

/** Line ends: the characters that a dot does not match. */
export const lineEnds: Readonly<Record<Dialect, readonly SetItem[]>> = {
  dotnet: ranges([10, 10]),
  ecma: ranges([10, 10], [13, 13], [0x2028, 0x2029]),
}

export function isLineEnd(code: number, dialect: Dialect): boolean {
  return code === 10 || (dialect === "ecma" && (code === 13 || code === 0x2028 || code === 0x2029))
}

const wordSets = {
  dotnet: characterSet(shorthands.dotnet.w, { negative: false, ignoreCase: false }),
  ecma: characterSet(shorthands.ecma.w, { negative: false, ignoreCase: false }),
}

/** Whether the character is a word character for `\b`. */
export function isWord(code: number, dialect: Dialect): boolean {
  return wordSets[dialect].has(code)
}

import { plainObject } from "../../expression/plain-object.ts"
import { percentEncode } from "./percent-encode.ts"

/**
 * The query of a request. It stays the text the client sent, byte for byte, until a policy changes a parameter; then only that parameter changes.
 * Names are compared decoded, so that `%6bey` is `key`. A `+` is a space (application/x-www-form-urlencoded, URL Standard §5.1).
 */
export class QueryString {
  #raw: string
  #pairs: Pair[] | undefined
  #edited = false
  /** Computed when an expression reads it; reset by the next change. */
  #values: Readonly<Record<string, string>> | undefined

  /** `raw`: without the question mark. */
  constructor(raw: string) {
    this.#raw = raw
  }

  /** The text to forward, without the question mark. */
  get text(): string {
    if (!this.#edited) return this.#raw
    this.#raw = this.#read()
      .map((pair) => pair.raw)
      .join("&")
    this.#edited = false
    return this.#raw
  }

  /** First value of a parameter, decoded. */
  get(name: string): string | undefined {
    if (this.#isEmpty) return undefined
    const found = this.#read().find((pair) => pair.name === name)
    return found === undefined ? undefined : rawValue(found.raw)
  }

  /** The number of occurrences of a parameter. */
  count(name: string): number {
    return this.#isEmpty ? 0 : this.#read().filter((pair) => pair.name === name).length
  }

  /** Every parameter in order, decoded. */
  *pairs(): Iterable<readonly [name: string, value: string]> {
    if (this.#isEmpty) return
    for (const { name, raw } of this.#read()) yield [name, rawValue(raw)]
  }

  /** The values of a parameter whose name matches in any letter case, decoded; undefined when it is absent. */
  valuesOf(name: string): string[] | undefined {
    if (this.#isEmpty) return undefined
    let found: string[] | undefined
    for (const pair of this.#read()) {
      if (pair.name !== name && !sameLetters(pair.name, name)) continue
      if (found === undefined) found = [rawValue(pair.raw)]
      else found.push(rawValue(pair.raw))
    }
    return found
  }

  set(name: string, value: string): void {
    const pair = { name, raw: `${percentEncode(name)}=${percentEncode(value)}` }
    const pairs = this.#read()
    const at = pairs.findIndex((other) => other.name === name)
    if (at === -1) pairs.push(pair)
    else this.#pairs = pairs.filter((other, index) => index <= at || other.name !== name).with(at, pair)
    this.#changed()
  }

  /** Adds a parameter. */
  append(name: string, value: string): void {
    this.#read().push({ name, raw: `${percentEncode(name)}=${percentEncode(value)}` })
    this.#changed()
  }

  /** Puts a query, without the question mark, before the present one. Present parameters with the same names are removed; without `keep`, all are. */
  lead(raw: string, keep: boolean): void {
    const first = pairsOf(raw)
    const names = new Set(first.map((pair) => pair.name))
    this.#pairs = keep ? [...first, ...this.#read().filter((pair) => !names.has(pair.name))] : first
    this.#changed()
  }

  remove(name: string): void {
    if (this.#isEmpty) return
    const pairs = this.#read()
    const kept = pairs.filter((pair) => pair.name !== name)
    if (kept.length === pairs.length) return
    this.#pairs = kept
    this.#changed()
  }

  /** The first value of each parameter, for expressions. Without a prototype, because expressions may read any name. */
  values(): Readonly<Record<string, string>> {
    if (this.#isEmpty) return noValues
    if (this.#values !== undefined) return this.#values
    const values = plainObject<string>()
    for (const { name, raw } of this.#read()) if (!(name in values)) values[name] = rawValue(raw)
    this.#values = values
    return values
  }

  #changed(): void {
    this.#edited = true
    this.#values = undefined
  }

  /** Most requests have no query: avoids parsing and allocation for them. */
  get #isEmpty(): boolean {
    return this.#raw === "" && !this.#edited
  }

  #read(): Pair[] {
    this.#pairs ??= pairsOf(this.#raw)
    return this.#pairs
  }
}

function sameLetters(a: string, b: string): boolean {
  return a.length === b.length && a.toUpperCase() === b.toUpperCase()
}

const noValues: Readonly<Record<string, string>> = Object.freeze(plainObject<string>())

interface Pair {
  readonly name: string
  readonly raw: string
}

function pairsOf(query: string): Pair[] {
  return query
    .split("&")
    .filter((raw) => raw !== "")
    .map((raw) => ({ name: decode(rawName(raw)), raw }))
}

function rawName(raw: string): string {
  const at = raw.indexOf("=")
  return at === -1 ? raw : raw.slice(0, at)
}

function rawValue(raw: string): string {
  const at = raw.indexOf("=")
  return at === -1 ? "" : decode(raw.slice(at + 1))
}

/** An invalid encoding is kept as it is: a query is data, it does not select a route. */
function decode(text: string): string {
  const blanks = text.includes("+") ? text.replaceAll("+", " ") : text
  if (!blanks.includes("%")) return blanks
  try {
    return decodeURIComponent(blanks)
  } catch {
    return blanks
  }
}

/** Joins two queries, without the question mark. */
export function joinQueries(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first}&${second}`
}

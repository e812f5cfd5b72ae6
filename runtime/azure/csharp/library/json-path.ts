import { CsException } from "../errors.ts"
import { JArray, JObject, type JToken, JValue } from "../json-tree.ts"
import { charge } from "../run.ts"
import { toText } from "../values.ts"

type Step = (tokens: readonly JToken[]) => JToken[]

const lengthMax = 1000

function refuse(path: string): CsException {
  return new CsException("JsonException", `The path '${path.slice(0, 100)}' cannot be followed here.`)
}

/** A token and all its descendants. */
function everyToken(token: JToken): JToken[] {
  const found: JToken[] = []
  const waiting: JToken[] = [token]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    charge(1)
    found.push(next)
    const children =
      next instanceof JObject
        ? [...next.properties.values()].map((property) => property.value)
        : next.children()
    for (let at = children.length - 1; at >= 0; at--) waiting.push(children[at] as JToken)
  }
  return found
}

function child(name: string): Step {
  return (tokens) => tokens.flatMap((token) => (token instanceof JObject ? (token.get(name) ?? []) : []))
}

function values(tokens: readonly JToken[]): JToken[] {
  return tokens.flatMap((token) =>
    token instanceof JObject
      ? [...token.properties.values()].map((property) => property.value)
      : token instanceof JArray
        ? token.items
        : [],
  )
}

/**
 * The tokens at a JSONPath: `a.b`, `['a']`, `[0]`, `[-1]`, `[0,2]`, `[1:3]`, `*`, `..a`, and filters `[?(@.a == 'b')]` with comparisons, `&&`, `||`,
 * existence. @throws JsonException for anything else
 */
export function selectTokens(root: JToken, path: string): JToken[] {
  if (path.length > lengthMax) throw refuse(path)
  let tokens: JToken[] = [root]
  let at = path.startsWith("$") ? 1 : 0
  while (at < path.length) {
    const deep = path.startsWith("..", at)
    if (deep) at += 2
    else if (path[at] === ".") at++
    const { step, end } = path[at] === "[" ? readBracket(path, at) : readName(path, at)
    const before = deep ? tokens.flatMap(everyToken) : tokens
    charge(before.length)
    tokens = step(before)
    at = end
  }
  return tokens
}

function readName(path: string, from: number): { step: Step; end: number } {
  const name = /^[^.[\]]+/.exec(path.slice(from))?.[0]
  if (name === undefined) throw refuse(path)
  return { step: name === "*" ? values : child(name), end: from + name.length }
}

/** One `[…]`: a quoted name, `*`, a filter, indexes or a slice. `end` is the offset after the bracket. */
function readBracket(path: string, from: number): { step: Step; end: number } {
  const end = bracketEnd(path, from)
  const inner = path.slice(from + 1, end).trim()
  const quoted = /^'((?:[^'\\]|\\.)*)'$|^"((?:[^"\\]|\\.)*)"$/.exec(inner)
  if (inner === "*") return { step: values, end: end + 1 }
  if (quoted !== null)
    return { step: child((quoted[1] ?? quoted[2] ?? "").replace(/\\(.)/g, "$1")), end: end + 1 }
  const filter = /^\?\((.*)\)$/s.exec(inner)
  if (filter !== null) {
    const test = filter[1] as string
    return { step: (tokens) => values(tokens).filter((token) => passes(token, test, path)), end: end + 1 }
  }
  const slice = /^(-?\d+)?:(-?\d+)?$/.exec(inner)
  const indexes = /^-?\d+(?:\s*,\s*-?\d+)*$/.test(inner) ? inner.split(",").map(Number) : undefined
  if (slice === null && indexes === undefined) throw refuse(path)
  const pick = (items: readonly JToken[]): readonly JToken[] =>
    indexes === undefined
      ? items.slice(
          slice?.[1] === undefined ? 0 : Number(slice[1]),
          slice?.[2] === undefined ? items.length : Number(slice[2]),
        )
      : indexes.flatMap((index) => items[index < 0 ? items.length + index : index] ?? [])
  return {
    step: (tokens) => tokens.flatMap((token) => (token instanceof JArray ? pick(token.items) : [])),
    end: end + 1,
  }
}

/** The bracket that closes the one at `from`; brackets in quotes do not count. */
function bracketEnd(path: string, from: number): number {
  let depth = 0
  let quote = ""
  for (let at = from; at < path.length; at++) {
    const c = path[at] as string
    if (quote !== "") quote = c === quote ? "" : quote
    else if (c === "'" || c === '"') quote = c
    else if (c === "[") depth++
    else if (c === "]" && --depth === 0) return at
  }
  throw refuse(path)
}

/**
 * A filter. Operators are found by splitting, so `||` and `&&` inside quoted text are not supported. Each test is charged, because a filter
 * runs for every child.
 */
function passes(token: JToken, test: string, path: string): boolean {
  charge(2)
  const either = test.split("||")
  if (either.length > 1) return either.some((part) => passes(token, part, path))
  const both = test.split("&&")
  if (both.length > 1) return both.every((part) => passes(token, part, path))
  const compared = /^\s*@(\S*?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*$/s.exec(test)
  if (compared === null) {
    const bare = /^\s*@(\S+)\s*$/.exec(test)
    if (bare === null) throw refuse(path)
    return selectTokens(token, bare[1] as string).length > 0
  }
  const [, below = "", op = "", written = ""] = compared
  return selectTokens(token, below).some(
    (found) => found instanceof JValue && compare(found, op, literal(written, path)),
  )
}

function literal(text: string, path: string): string | number | boolean | null {
  const quoted = /^'(.*)'$|^"(.*)"$/s.exec(text)
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? ""
  if (text === "null") return null
  if (text === "true" || text === "false") return text === "true"
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw refuse(path)
  return Number(text)
}

/** Values of different types are never equal and never ordered; only `!=` is true for them. */
function compare(token: JValue, op: string, wanted: string | number | boolean | null): boolean {
  const value =
    typeof token.value === "bigint"
      ? Number(token.value)
      : typeof token.value === "object" && token.value !== null
        ? toText(token.value)
        : token.value
  if (op === "==") return value === wanted
  if (op === "!=") return value !== wanted
  if (typeof value !== typeof wanted || value === null || wanted === null) return false
  const [a, b] = [value as number, wanted as number]
  return op === "<" ? a < b : op === "<=" ? a <= b : op === ">" ? a > b : a >= b
}

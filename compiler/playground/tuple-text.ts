import { isMap, isScalar, isSeq, parseDocument } from "yaml"
import type { TupleKey } from "../../runtime/check/ports.ts"

/** The text of a store file with one more tuple at the end of `tuples`. Everything else keeps its place, with comments. Undefined: the text is no map. */
export function withTuple(text: string, { user, relation, object }: TupleKey): string | undefined {
  const tuple = `{ user: ${quoted(user)}, relation: ${quoted(relation)}, object: ${quoted(object)} }`
  const document = parseDocument(text)
  if (document.errors.length > 0) return undefined
  if (document.contents === null) return `${ended(text)}tuples:\n  - ${tuple}\n`
  if (!isMap(document.contents)) return undefined
  const pair = document.contents.items.find(({ key }) => isScalar(key) && key.value === "tuples")
  if (pair === undefined) {
    // A map in braces has no lines of its own.
    return document.contents.flow === true ? undefined : `${ended(text)}tuples:\n  - ${tuple}\n`
  }
  const { value, key } = pair
  const keyEnd = isScalar(key) ? (key.range?.[1] ?? 0) : 0
  if (!isSeq(value)) return isEmpty(value) ? lineAfter(text, keyEnd, `  - ${tuple}`) : undefined
  const [start = 0, end = 0] = value.range ?? []
  const first = rangeOf(value.items[0])
  const last = rangeOf(value.items.at(-1))
  if (value.flow === true) {
    if (last === undefined) return `${text.slice(0, start).trimEnd()}\n  - ${tuple}${text.slice(end)}`
    return `${text.slice(0, last[1])}, ${tuple}${text.slice(last[1])}`
  }
  if (first === undefined || last === undefined) return lineAfter(text, keyEnd, `  - ${tuple}`)
  const lineStart = text.lastIndexOf("\n", first[0] - 1) + 1
  const dash = text.slice(lineStart, first[0]).match(/^\s*-\s*/)?.[0] ?? "  - "
  return lineAfter(text, last[1] - 1, dash + tuple)
}

function rangeOf(node: unknown): readonly [number, number] | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | undefined)?.range
  return range?.[0] === undefined || range[1] === undefined ? undefined : [range[0], range[1]]
}

function isEmpty(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null)
}

/** Inserts a line after the line of an offset. */
function lineAfter(text: string, offset: number, line: string): string {
  const end = text.indexOf("\n", offset)
  return end === -1 ? `${text}\n${line}\n` : `${text.slice(0, end)}\n${line}${text.slice(end)}`
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

/** Names with letters that mean something in YAML are quoted. */
function quoted(name: string): string {
  return /^[a-z][\w-]*$/i.test(name) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(name)
    ? name
    : JSON.stringify(name)
}

import { decodeText, type Pair } from "./pairs.ts"
import type { Shape } from "./shape.ts"
import { valueOfText, valuesOfTexts } from "./text-value.ts"

/** How a parameter is written; the words are OpenAPI's (3.1 §4.8.12.2), `json` is JSON in one value. */
export interface ParameterForm {
  readonly name: string
  readonly style:
    | "simple"
    | "form"
    | "spaceDelimited"
    | "pipeDelimited"
    | "deepObject"
    | "label"
    | "matrix"
    | "json"
  readonly explode: boolean
}

/** What a parameter says: nothing, a value, or what is wrong with the way it is written. */
export type ParameterValue = { readonly value: unknown } | { readonly problem: string } | undefined

/** Most items and properties of one parameter. */
const partsMax = 1000

/** The value of a parameter among the pairs of a query. */
export function queryValue(
  { name, style, explode }: ParameterForm,
  shape: Shape,
  pairs: readonly Pair[],
): ParameterValue {
  if (style === "deepObject") return deepObject(name, shape, pairs)
  if (explode && style === "form" && isObject(shape)) return spreadObject(shape, pairs)
  const own = pairs.filter((pair) => pair.name === name)
  const [first] = own
  if (first === undefined) return undefined
  if (own.length > partsMax) return { problem: `is given more than ${partsMax} times` }
  if (explode && style !== "json" && shape.types.has("array"))
    return {
      value: valuesOfTexts(
        own.map(({ raw }) => decodeText(raw)),
        shape,
      ),
    }
  if (own.length > 1) return { problem: "is given more than once" }
  if (style === "json") return jsonValue(decodeText(first.raw))
  return separated(first.raw, separators[style] ?? /,/, shape, decodeText)
}

/** The value of a parameter that is one text: of a path, a header or a cookie. */
export function textParameter({ style, explode }: ParameterForm, shape: Shape, text: string): ParameterValue {
  if (style === "json") return jsonValue(text)
  const plain = (part: string): string => part
  if (style === "label") {
    if (!text.startsWith(".")) return { problem: "must begin with a dot" }
    return separated(text.slice(1), explode ? /\./ : /,/, shape, plain, explode)
  }
  return separated(text, /,/, shape, plain, explode)
}

/** Names of a query that belong to a parameter. */
export function belongsTo({ name, style, explode }: ParameterForm, shape: Shape, pair: string): boolean {
  if (style === "deepObject") return pair.startsWith(`${name}[`)
  if (explode && style === "form" && isObject(shape))
    return shape.properties.has(pair) || shape.others !== undefined
  return pair === name
}

const separators: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|\+| /,
  pipeDelimited: /%7[Cc]|\|/,
}

function isObject({ types }: Shape): boolean {
  return types.has("object") && !types.has("string")
}

/** `a,b,c` for lists, `name,value,name,value` (or `name=value,…`) for objects. */
function separated(
  raw: string,
  separator: RegExp,
  shape: Shape,
  decode: (part: string) => string,
  assigned = false,
): ParameterValue {
  if (!shape.types.has("array") && !isObject(shape)) return { value: valueOfText(decode(raw), shape) }
  const parts = raw === "" ? [] : raw.split(separator, partsMax + 1)
  if (parts.length > partsMax) return { problem: `has more than ${partsMax} parts` }
  if (shape.types.has("array"))
    return { value: parts.map((part) => valueOfText(decode(part), shape.items ?? shape)) }
  const flat = assigned ? parts.flatMap(assignment) : parts
  if (flat.length % 2 === 1) return { problem: "has a name without a value" }
  const entries: [string, string][] = []
  for (let at = 0; at < flat.length; at += 2)
    entries.push([decode(flat[at] as string), decode(flat[at + 1] as string)])
  return { value: objectOf(entries, shape) }
}

function assignment(part: string): string[] {
  const at = part.indexOf("=")
  return at === -1 ? [part] : [part.slice(0, at), part.slice(at + 1)]
}

function jsonValue(text: string): ParameterValue {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: "must be JSON" }
  }
}

function deepObject(name: string, shape: Shape, pairs: readonly Pair[]): ParameterValue {
  const entries: [string, string][] = []
  for (const pair of pairs) {
    if (!pair.name.startsWith(`${name}[`)) continue
    const inside = /^\[([^[\]]+)\]$/.exec(pair.name.slice(name.length))
    if (inside === null) return { problem: `has no property \`${pair.name.slice(0, 100)}\`` }
    entries.push([inside[1] as string, decodeText(pair.raw)])
  }
  if (entries.length === 0) return undefined
  return entries.length > partsMax
    ? { problem: `has more than ${partsMax} parts` }
    : { value: objectOf(entries, shape) }
}

/** `form` with `explode`: each property of the object is a parameter of its own. */
function spreadObject(shape: Shape, pairs: readonly Pair[]): ParameterValue {
  const own = pairs.filter(({ name }) => shape.properties.has(name))
  if (own.length === 0) return undefined
  if (own.length > partsMax) return { problem: `has more than ${partsMax} parts` }
  return {
    value: objectOf(
      own.map(({ name, raw }) => [name, decodeText(raw)] as const),
      shape,
    ),
  }
}

/** Names and texts as an object; a name that is there several times is a list where the schema has a place for one. */
export function objectOf(
  entries: readonly (readonly [string, string])[],
  shape: Shape,
): Record<string, unknown> {
  const texts = new Map<string, string[]>()
  for (const [name, text] of entries) {
    const known = texts.get(name)
    if (known === undefined) texts.set(name, [text])
    else known.push(text)
  }
  return Object.fromEntries(
    [...texts].map(([name, all]) => {
      const own = shape.properties.get(name) ?? shape.others
      // Where one is expected, several are shown as the list they are, and judged as that.
      return [name, own === undefined ? (all.length === 1 ? all[0] : all) : (valuesOfTexts(all, own) ?? all)]
    }),
  )
}

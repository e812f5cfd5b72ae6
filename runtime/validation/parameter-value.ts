import { deepValue } from "./deep-object.ts"
import { jsonValue } from "./json-text.ts"
import { decodeText, type Pair, percentDecoded } from "./pairs.ts"
import { type SchemaShape, valueOfText, valuesOfTexts } from "./shape.ts"

/** How a parameter is serialized, in OpenAPI's terms (3.1 §4.8.12.2). `json`: JSON in one value. */
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

/** The value of a parameter, the problem of its serialization, or undefined if it is absent. */
export type ParameterValue = { readonly value: unknown } | { readonly problem: string } | undefined

/** Limit on the items and properties of one parameter. */
const partsMax = 1000

/** The value of a query parameter. */
export function queryValue(
  { name, style, explode }: ParameterForm,
  shape: SchemaShape,
  pairs: readonly Pair[],
): ParameterValue {
  if (style === "deepObject") return deepValue(name, shape, pairs)
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

/** The value of a parameter in a single text: of a path, a header, a cookie or a part of a form. */
export function textParameter(
  { style, explode }: ParameterForm,
  shape: SchemaShape,
  text: string,
): ParameterValue {
  if (style === "json") return jsonValue(text)
  if (style === "label") {
    if (!text.startsWith(".")) return { problem: "must begin with a dot" }
    return separated(text.slice(1), explode ? /\./ : /,/, shape, asIs, explode)
  }
  return separated(text, separators[style] ?? /,/, shape, asIs, explode)
}

/** The value of a header. Spaces around the commas of a list are allowed (RFC 9110 §5.6.1), and several lines are one list. */
export function headerValue(
  form: ParameterForm,
  shape: SchemaShape,
  lines: readonly string[],
): ParameterValue {
  const text = lines.join(",")
  if (form.style === "json") return jsonValue(text)
  return separated(text, /[ \t]*,[ \t]*/, shape, asIs, form.explode)
}

/** The value of a cookie, percent-decoded. A duplicate name is a problem: servers disagree on which value applies. */
export function cookieValue(
  form: ParameterForm,
  shape: SchemaShape,
  values: readonly string[],
): ParameterValue {
  const [first] = values
  if (first === undefined) return undefined
  if (values.length > 1 && !(form.explode && shape.types.has("array")))
    return { problem: "is given more than once" }
  if (form.style === "json") return jsonValue(percentDecoded(first))
  if (values.length > 1) return { value: valuesOfTexts(values.map(percentDecoded), shape) }
  return separated(first, /,|%2[Cc]/, shape, percentDecoded, form.explode)
}

function asIs(part: string): string {
  return part
}

/** Whether a query name belongs to a parameter. */
export function belongsTo(
  { name, style, explode }: ParameterForm,
  shape: SchemaShape,
  pair: string,
): boolean {
  if (style === "deepObject") return pair.startsWith(`${name}[`)
  if (explode && style === "form" && isObject(shape))
    return shape.properties.has(pair) || shape.others !== undefined
  return pair === name
}

const separators: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|\+| /,
  pipeDelimited: /%7[Cc]|\|/,
}

function isObject({ types }: SchemaShape): boolean {
  return types.has("object") && !types.has("string")
}

/** `a,b,c` for lists, `name,value,name,value` (or `name=value,…`) for objects. */
function separated(
  raw: string,
  separator: RegExp,
  shape: SchemaShape,
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

/** Whether the parameter is an object whose properties are separate parameters, and which accepts undeclared names. */
export function takesOthers({ style, explode }: ParameterForm, shape: SchemaShape): boolean {
  return style === "form" && explode && isObject(shape) && shape.others !== undefined
}

/** `form` with `explode`: each property of the object is a separate parameter. `pairs` contains none of another parameter. */
function spreadObject(shape: SchemaShape, pairs: readonly Pair[]): ParameterValue {
  const own = pairs.filter(({ name }) => shape.properties.has(name) || shape.others !== undefined)
  if (own.length === 0) return undefined
  if (own.length > partsMax) return { problem: `has more than ${partsMax} parts` }
  return {
    value: objectOf(
      own.map(({ name, raw }) => [name, decodeText(raw)] as const),
      shape,
    ),
  }
}

/** An object from names and texts. A repeated name becomes a list if the schema allows one. `read` converts one text to a value. */
export function objectOf(
  entries: readonly (readonly [string, string])[],
  shape: SchemaShape,
  read: (text: string, shape: SchemaShape) => unknown = valueOfText,
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
      // Several texts where the schema expects one remain a list, so that the schema rejects them.
      return [
        name,
        own === undefined ? (all.length === 1 ? all[0] : all) : (valuesOfTexts(all, own, read) ?? all),
      ]
    }),
  )
}

import { jsonValue } from "./json-text.ts"
import { fitOf, isJson, mediaTypeOf } from "./media-type.ts"
import { type FormPart, FormProblem, partsOf } from "./multipart.ts"
import { decodeText, type Pair, pairsOf } from "./pairs.ts"
import { belongsTo, objectOf, type ParameterForm, queryValue, textParameter } from "./parameter-value.ts"
import { type SchemaShape, textShape, valueOfText } from "./shape.ts"
import { atProperty, type Violation } from "./violation.ts"

const fieldsMax = 1000

/** How a form field is encoded. `media`: accepted media types of its parts; empty: any. */
export interface FieldForm extends ParameterForm {
  readonly media: readonly string[]
}

/** The fields of a form body as an object for the schema, with violations of their encoding; or the problem of the form. */
export type FormValue =
  | { readonly value: unknown; readonly violations: readonly Violation[] }
  | { readonly problem: string }

/** A form of `application/x-www-form-urlencoded`. Fields without an entry in `forms` are repeated if they are lists, and JSON if they are objects. */
export function formValue(text: string, shape: SchemaShape, forms: readonly FieldForm[] = []): FormValue {
  const pairs = pairsOf(text)
  if (pairs.length > fieldsMax) return { problem: `has more than ${fieldsMax} fields` }
  const violations: Violation[] = []
  const values: [string, unknown][] = []
  let others: readonly Pair[] = pairs
  for (const form of forms) {
    const own = propertyOf(shape, form.name)
    others = others.filter(({ name }) => !belongsTo(form, own, name))
    const read = queryValue(form, own, pairs)
    if (read === undefined) continue
    if ("problem" in read) violations.push(atProperty(form.name, read.problem))
    else values.push([form.name, read.value])
  }
  const texts = others.map(({ name, raw }) => [name, decodeText(raw)] as const)
  const value = objectOf(texts, shape, (each, own) => fieldText(each, own))
  return { value: { ...value, ...Object.fromEntries(values) }, violations }
}

/** A form of `multipart/form-data`. Files become texts with one character per byte; JSON parts are parsed. */
export function multipartValue(
  body: Buffer,
  contentType: string,
  shape: SchemaShape,
  forms: readonly FieldForm[] = [],
): FormValue {
  try {
    const violations: Violation[] = []
    const values = new Map<string, unknown[]>()
    for (const part of partsOf(body, contentType)) {
      const form = forms.find(({ name }) => name === part.name)
      if (form !== undefined && !fits(part, form))
        violations.push(atProperty(part.name, "has a Content-Type that is not expected"))
      const read = valuesOfPart(part, propertyOf(shape, part.name), form)
      if ("problem" in read) violations.push(atProperty(part.name, read.problem))
      else values.set(part.name, [...(values.get(part.name) ?? []), ...read.values])
    }
    const entries = [...values].map(([name, all]) => {
      const list = all.length !== 1 || propertyOf(shape, name).types.has("array")
      return [name, list ? all : all[0]] as const
    })
    return { value: Object.fromEntries(entries), violations }
  } catch (error) {
    if (error instanceof FormProblem) return { problem: error.message }
    throw error
  }
}

function propertyOf(shape: SchemaShape, name: string): SchemaShape {
  return shape.properties.get(name) ?? shape.others ?? textShape
}

function fits({ media }: FormPart, form: FieldForm): boolean {
  if (form.media.length === 0) return true
  const type = mediaTypeOf(media)
  return (
    type !== undefined &&
    form.media.some((each) => {
      const range = mediaTypeOf(each)
      return range !== undefined && fitOf(range, type) > 0
    })
  )
}

type PartValues = { readonly values: readonly unknown[] } | { readonly problem: string }

/** The items of a part: one, or several if one part contains a list. */
function valuesOfPart(
  { file, media, content }: FormPart,
  own: SchemaShape,
  form: FieldForm | undefined,
): PartValues {
  const item = own.types.has("array") ? (own.items ?? textShape) : own
  if (!file && isJson(media) && !item.types.has("string")) {
    const read = jsonValue(content.toString("utf8"))
    if ("problem" in read) return read
    return { values: own.types.has("array") && Array.isArray(read.value) ? read.value : [read.value] }
  }
  if (file || !(media.startsWith("text/") || isJson(media))) return { values: [content.toString("latin1")] }
  const text = content.toString("utf8")
  if (text.includes("\ufffd") && Buffer.compare(Buffer.from(text), content) !== 0)
    return { problem: "is not UTF-8" }
  if (form === undefined || form.explode || !own.types.has("array"))
    return { values: [fieldText(text, item)] }
  const read = textParameter(form, own, text)
  if (read === undefined || "problem" in read) return read ?? { values: [] }
  return { values: read.value as readonly unknown[] }
}

/** In a form, an object or a list in a list is JSON (OpenAPI 3.1 §4.8.15.1.1). */
function fieldText(text: string, shape: SchemaShape): unknown {
  const { types } = shape
  if (types.has("string") || !(types.has("object") || types.has("array"))) return valueOfText(text, shape)
  const read = jsonValue(text)
  return "value" in read ? read.value : text
}

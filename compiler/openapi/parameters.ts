import { isJson } from "../../runtime/validation/media-type.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Content, FormField, OperationBody, OperationParameter, Style } from "./api-document.ts"
import { checkMedia, examplesOf, type ReaderContext, readContents } from "./contents.ts"
import { isNull } from "./fields.ts"
import { type DocumentMap, type DocumentNode, plainOf } from "./node.ts"

/** Parameters of an operation, and its body when version 2.0 declares it as a parameter. */
export interface Inputs {
  readonly parameters: readonly OperationParameter[]
  readonly body: OperationBody | undefined
  /** Names of parameters that could not be read (reported). */
  readonly unread: ReadonlySet<string>
}

const places = ["path", "query", "header", "cookie"] as const
/** Headers that other parts of an operation describe. A parameter with such a name has no effect. */
const elsewhere = ["accept", "content-type", "authorization"]
const styles: Readonly<Record<OperationParameter["in"], readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
}

/** As many as a step of the plan takes. */
const parametersMax = 5_000

/** Reads the parameters of a path and of an operation. Those of the operation override those of the path with the same name and location. */
export function readInputs(
  lists: readonly (readonly DocumentNode[])[],
  operation: DocumentMap,
  consumes: readonly string[],
  reading: ReaderContext,
): Inputs {
  const { fields } = reading
  const byName = new Map<string, OperationParameter>()
  const forms: DocumentMap[] = []
  const unread = new Set<string>()
  let body: OperationBody | undefined
  for (const list of lists) {
    const seen = new Map<string, DocumentNode["span"]>()
    for (const item of list) {
      const map = fields.map(item, "a parameter")
      const where = map === undefined ? undefined : fields.text(map, "in")
      const name = map === undefined ? undefined : fields.text(map, "name")
      if (map === undefined) continue
      if (where === undefined || name === undefined) {
        fields.missing(where === undefined ? "in" : "name", "the parameter", map.span)
        if (name !== undefined) unread.add(name)
        continue
      }
      const first = seen.get(`${where} ${name}`)
      if (first !== undefined) reportTwice(name, item.span, first, reading)
      seen.set(`${where} ${name}`, item.span)
      if (reading.version === "2.0" && where === "body") body = oldBody(map, consumes, reading)
      else if (reading.version === "2.0" && where === "formData") forms.push(map)
      else {
        const parameter = readParameter(map, where, name, reading)
        if (parameter !== undefined) byName.set(`${where} ${name}`, parameter)
        else unread.add(name)
      }
    }
  }
  if (byName.size > parametersMax)
    fields.wrong(operation, `an operation may have at most ${parametersMax} parameters, found ${byName.size}`)
  if (forms.length > 0) body ??= formBody(forms, consumes, reading)
  const own = operation.entries.get("requestBody")?.value
  if (own !== undefined && reading.version !== "2.0") body = readBody(own, reading)
  return { parameters: [...byName.values()], body, unread }
}

/** The finding for a parameter that is given twice. */
function reportTwice(
  name: string,
  at: DocumentNode["span"],
  first: DocumentNode["span"],
  { fields }: ReaderContext,
): void {
  fields.report.add("SP8008", at, `the parameter \`${shown(name)}\` is given twice`, {
    related: [{ span: first, message: "the first" }],
  })
}

/**
 * One parameter. Some headers (Accept, Content-Type, Authorization) are described elsewhere and ignored here, as the specification says.
 */
function readParameter(
  map: DocumentMap,
  where: string,
  name: string,
  reading: ReaderContext,
): OperationParameter | undefined {
  const { fields } = reading
  const place = places.find((each) => each === where)
  if (where === "querystring") {
    fields.report.add("SP8015", map.span, "a query string that is a single value is not checked")
    return undefined
  }
  if (place === undefined)
    return fields.wrong(
      map.entries.get("in")?.value ?? map,
      `\`${shown(where)}\` is not a valid \`in\` of a parameter${didYouMean(where, places)}`,
    )
  if (place === "header" && elsewhere.includes(name.toLowerCase())) return undefined
  if (name === "" || name.length > 256)
    return fields.wrong(map, "the name of a parameter must have 1 to 256 characters")
  if (place === "header" && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name))
    return fields.wrong(
      map.entries.get("name")?.value ?? map,
      `\`${shown(name)}\` is not a valid header name`,
    )
  if (place === "header" && name.includes("_"))
    reportDropped(name, map.entries.get("name")?.value ?? map, reading.fields)
  const required = fields.flag(map, "required")
  if (place === "path" && !required)
    fields.wrong(
      map.entries.get("required")?.value ?? map,
      `the path parameter \`${shown(name)}\` must be \`required: true\``,
    )
  const form = reading.version === "2.0" ? oldStyle(map, place, reading) : newStyle(map, place, reading)
  if (form === undefined) return undefined
  return {
    in: place,
    name,
    description: fields.text(map, "description"),
    required: required || place === "path",
    deprecated: fields.flag(map, "deprecated"),
    allowEmpty: allowsEmpty(map, place, fields),
    examples: reading.version === "2.0" ? [] : examplesOf(map, fields),
    span: map.span,
    ...form,
  }
}

/** `allowEmptyValue` exists for query parameters only. */
function allowsEmpty(
  map: DocumentMap,
  place: OperationParameter["in"],
  fields: ReaderContext["fields"],
): boolean {
  const allowed = fields.flag(map, "allowEmptyValue")
  const key = map.entries.get("allowEmptyValue")?.key
  if (place === "query" || !allowed || key === undefined) return allowed
  fields.report.add("SP8014", key, `\`allowEmptyValue\` has no effect in a ${place} parameter`)
  return false
}

/** Many servers do not distinguish `X_User` from `X-User`, so the gateway drops names with `_`. */
export function reportDropped(name: string, at: DocumentNode, { report }: ReaderContext["fields"]): void {
  report.add("SP8015", at.span, `fields like \`${shown(name)}\` are dropped from requests`, {
    help: "Use `-` instead of `_` in the name.",
  })
}

type Form = Pick<OperationParameter, "style" | "explode" | "schema"> &
  Partial<Pick<OperationParameter, "examples">>

const parameterKeys = [
  ...["name", "in", "description", "required", "deprecated", "allowEmptyValue", "style", "explode"],
  ...["allowReserved", "schema", "content", "example", "examples"],
]

/** The form of a parameter since 3.0: `content`, or `style` and `explode`. */
function newStyle(
  map: DocumentMap,
  place: OperationParameter["in"],
  reading: ReaderContext,
): Form | undefined {
  const { fields, schemas } = reading
  fields.known(map, "a parameter", parameterKeys)
  const [content] = readContents(map, reading)
  if (content !== undefined) {
    if (isJson(content.media.split(";", 1)[0]?.trim() ?? ""))
      return { style: "json", explode: false, schema: content.schema, examples: content.examples }
    const plain = { style: styles[place][0] as Style, explode: false }
    if (/^text\/(?!xml)/.test(content.media))
      return { ...plain, schema: content.schema, examples: content.examples }
    fields.report.add("SP8015", content.span, `a parameter of \`${shown(content.media)}\` is not checked`)
    return { ...plain, schema: undefined }
  }
  const written = fields.text(map, "style")
  const style = styles[place].find((each) => each === (written ?? styles[place][0]))
  if (style === undefined)
    return fields.wrong(
      map.entries.get("style")?.value ?? map,
      `\`${shown(written ?? "")}\` is not a style of a ${place} parameter; the styles are ${styles[place].join(", ")}`,
    )
  const explode = map.entries.has("explode") ? fields.flag(map, "explode") : style === "form"
  if (style === "matrix") reportMatrix(map, reading)
  const schema = map.entries.get("schema")?.value
  if (schema === undefined) return fields.missing("schema", "the parameter", map.span)
  return { style, explode: explode || style === "deepObject", schema: schemas.use(schema) }
}

/** A path with `;` never reaches a route, because servers disagree about the part after it. */
function reportMatrix(map: DocumentMap, { fields }: ReaderContext): void {
  fields.report.add(
    "SP8015",
    map.entries.get("style")?.value.span ?? map.span,
    "the gateway refuses paths with `;`, so no request can have such a parameter",
    { help: "Use the style `simple`." },
  )
}

const oldFormats: Readonly<Record<string, Pick<FormField, "style" | "explode">>> = {
  csv: { style: "form", explode: false },
  ssv: { style: "spaceDelimited", explode: false },
  pipes: { style: "pipeDelimited", explode: false },
  multi: { style: "form", explode: true },
}

const besideSchema = ["name", "in", "description", "required", "collectionFormat", "allowEmptyValue"]

/** The form of a parameter in 2.0: `collectionFormat`. */
function oldStyle(
  map: DocumentMap,
  place: OperationParameter["in"],
  { fields, schemas }: ReaderContext,
): Form | undefined {
  const written = fields.text(map, "collectionFormat") ?? "csv"
  const format = oldFormats[written]
  if (format === undefined || (place !== "query" && written !== "csv"))
    return fields.wrong(
      map.entries.get("collectionFormat")?.value ?? map,
      `\`${shown(written)}\` is not supported in a ${place} parameter`,
    )
  const schema = schemas.make(map, besideSchema)
  return place === "query" ? { ...format, schema } : { style: "simple", explode: false, schema }
}

/** The body of 2.0: a parameter with a schema, for each media type that the operation consumes. */
function oldBody(
  map: DocumentMap,
  consumes: readonly string[],
  { fields, schemas }: ReaderContext,
): OperationBody {
  const schema = map.entries.get("schema")?.value
  if (schema === undefined) fields.missing("schema", "the body", map.span)
  const key = schema === undefined ? undefined : schemas.use(schema)
  const medias = consumes.length > 0 ? consumes : ["application/json"]
  const contents = medias.map(
    (media): Content => ({
      media: media.toLowerCase(),
      schema: key,
      fields: [],
      examples: [],
      span: map.span,
    }),
  )
  return {
    description: fields.text(map, "description"),
    required: fields.flag(map, "required"),
    contents,
    span: map.span,
  }
}

/** A list in a form of 2.0 (default: `csv`). */
function oldField(map: DocumentMap, fields: ReaderContext["fields"]): FormField[] {
  if (fields.text(map, "type") !== "array") return []
  const written = fields.text(map, "collectionFormat") ?? "csv"
  const format = oldFormats[written]
  if (format !== undefined) return [{ name: fields.text(map, "name") ?? "", ...format, media: [] }]
  fields.wrong(
    map.entries.get("collectionFormat")?.value ?? map,
    `\`${shown(written)}\` is not supported in a form`,
  )
  return []
}

/** The form of 2.0: one parameter for each field. */
function formBody(
  forms: readonly DocumentMap[],
  consumes: readonly string[],
  { fields, schemas }: ReaderContext,
): OperationBody {
  for (const map of forms) reportEmptyField(map, fields)
  const read = forms.map((map) => ({
    name: fields.text(map, "name") ?? "",
    required: fields.flag(map, "required"),
    schema: schemas.make(map, besideSchema),
    file: plainOf(map.entries.get("type")?.value ?? map) === "file",
  }))
  const span = (forms[0] as DocumentMap).span
  const schema = schemas.form(read, span)
  const written = forms.flatMap((map) => oldField(map, fields))
  const known = consumes.filter((media) =>
    /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(media),
  )
  const byDefault = read.some(({ file }) => file)
    ? "multipart/form-data"
    : "application/x-www-form-urlencoded"
  const contents = (known.length > 0 ? known : [byDefault]).map(
    (media): Content => ({
      media: media.toLowerCase(),
      schema,
      fields: written,
      examples: [],
      span,
    }),
  )
  return { description: undefined, required: read.some(({ required }) => required), contents, span }
}

function reportEmptyField(map: DocumentMap, fields: ReaderContext["fields"]): void {
  const key = map.entries.get("allowEmptyValue")?.key
  if (key === undefined || !fields.flag(map, "allowEmptyValue")) return
  fields.report.add("SP8015", key, "an empty field of a form is checked against its schema like any other", {
    help: "Allow an empty string in the schema.",
  })
}

/** A request body. Without contents nothing of it can be checked. */
function readBody(node: DocumentNode, reading: ReaderContext): OperationBody | undefined {
  const { fields } = reading
  if (isNull(node)) return fields.withoutValue(node, "the request body")
  const map = fields.map(node, "a request body")
  if (map === undefined) return undefined
  fields.known(map, "a request body", ["description", "content", "required"])
  const contents = readContents(map, reading)
  if (!map.entries.has("content")) fields.missing("content", "the request body", node.span)
  return {
    description: fields.text(map, "description"),
    required: fields.flag(map, "required"),
    contents,
    span: node.span,
  }
}

/** Media types in `consumes` and `produces`, of the operation or else of the document. */
export function mediasOf(
  key: "consumes" | "produces",
  maps: readonly DocumentMap[],
  { fields }: ReaderContext,
): string[] {
  const map = maps.find((each) => each.entries.has(key))
  if (map === undefined) return []
  return fields.list(map, key).flatMap((node) => {
    const media = plainOf(node)
    return typeof media === "string" && checkMedia(media, node.span, fields) ? [media] : []
  })
}

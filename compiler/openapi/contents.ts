import { mediaTypeOf } from "../../runtime/validation/media-type.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type { Content, Example, FormField, OperationResponse, ResponseHeader } from "./api-document.ts"
import type { DocumentFields } from "./fields.ts"
import { type DocumentEntry, type DocumentMap, type DocumentNode, plainOf } from "./node.ts"
import type { Schemas } from "./schema.ts"

/** Shared state of the document readers. */
export interface ReaderContext {
  readonly fields: DocumentFields
  readonly schemas: Schemas
  readonly version: "2.0" | "3.0" | "3.1"
  /** Operations to skip, as `GET /x`. */
  readonly skip: ReadonlySet<string>
}

/** Reads `content` of a request body or a response (3.x). */
export function readContents(map: DocumentMap, reading: ReaderContext): Content[] {
  const { fields } = reading
  return fields.entries(map, "content").flatMap(([media, { key, value }]) => {
    const content = fields.part(value, "a media type")
    if (content === undefined || isExampleAlone(media, key, content, fields)) return []
    if (!checkMedia(media, key, fields)) return []
    fields.known(content, "a media type", mediaKeys)
    reportStream(content, fields)
    const schema = content.entries.get("schema")?.value
    return [
      {
        media: media.toLowerCase(),
        schema: schema === undefined ? undefined : reading.schemas.use(schema),
        fields: isForm(media) ? readEncoding(content, media, fields) : [],
        examples: examplesOf(content, fields),
        span: key,
      },
    ]
  })
}

const streamKeys = ["itemSchema", "itemEncoding", "prefixEncoding"]
const mediaKeys = ["schema", "example", "examples", "encoding", ...streamKeys]

/** Since 3.2, a body may be a sequence of items (JSON lines, events, parts). */
function reportStream(content: DocumentMap, { report }: DocumentFields): void {
  const key = streamKeys.map((name) => content.entries.get(name)?.key).find((each) => each !== undefined)
  if (key !== undefined) report.add("SP8015", key, "the items of a stream are not checked one by one")
}

/** Whether a key of `content` is a media type or range (RFC 9110 §8.3.1, §12.5.1). */
export function checkMedia(media: string, at: Content["span"], fields: DocumentFields): boolean {
  if (isMedia(media)) return true
  fields.aside({ span: at }, `\`${shown(media)}\` is not a media type; its description is ignored`)
  return false
}

/** Converted documents have members of an example in place of media types. Without a schema, they do not describe a body. */
function isExampleAlone(
  media: string,
  at: Content["span"],
  content: DocumentMap,
  fields: DocumentFields,
): boolean {
  const has = (name: string) => content.entries.has(name)
  if (isMedia(media) || has("schema") || has("encoding") || !(has("example") || has("examples"))) return false
  reportExample(media, at, fields)
  return true
}

function reportExample(media: string, at: Content["span"], { report }: DocumentFields): void {
  report.add("SP8014", at, `\`${shown(media)}\` is not a media type; the example has no effect`, {
    help: "Write `application/json` around it.",
  })
}

function isMedia(media: string): boolean {
  return mediaTypeOf(media) !== undefined && media.length <= 256
}

/** `example` and `examples` of a body or a parameter exclude each other. When both exist, `example` is used. */
export function examplesOf(map: DocumentMap, fields: DocumentFields): Example[] {
  const one = map.entries.get("example")?.value
  if (one !== undefined) return [unnamed(one)]
  return fields.entries(map, "examples").flatMap(([name, { value }]) => {
    const example = fields.part(value, "an example")
    const inside = example?.entries.get("value")?.value
    if (example === undefined || inside === undefined) return []
    const words = {
      summary: fields.text(example, "summary"),
      description: fields.text(example, "description"),
    }
    return [{ name, ...words, value: plainOf(inside) }]
  })
}

function unnamed(node: DocumentNode): Example {
  return { name: undefined, summary: undefined, description: undefined, value: plainOf(node) }
}

const answerKeys = ["description", "headers", "content", "links", "summary"]
const oldAnswerKeys = ["description", "schema", "headers", "examples"]
const headerKeys = [
  ...["description", "required", "deprecated", "allowEmptyValue", "style", "explode", "allowReserved"],
  ...["schema", "content", "example", "examples"],
]

/** Whether a key of `responses` is a status, a class of statuses or `default`. */
export function isStatus(code: string): boolean {
  return /^(?:default|[1-5]xx|[1-5]\d\d)$/.test(code.toLowerCase())
}

/** Reads `responses` of an operation. `misspelt` is the place of a field that most likely is it, `produces` are the media types of 2.0. */
export function readResponses(
  operation: DocumentMap,
  { span, misspelt }: { readonly span: Span; readonly misspelt: Span | undefined },
  produces: readonly string[],
  reading: ReaderContext,
): OperationResponse[] {
  const { fields } = reading
  if (!operation.entries.has("responses") && reading.version !== "3.1") {
    fields.aside({ span }, "the operation has no `responses`", { cause: misspelt })
    return []
  }
  return fields.patterned(operation, "responses").flatMap(([code, { key, value }]) => {
    const map = fields.part(value, "a response")
    if (map === undefined) return []
    fields.known(map, "a response", reading.version === "2.0" ? oldAnswerKeys : answerKeys)
    const status = code.toLowerCase()
    if (!isStatus(code)) {
      fields.aside({ span: key }, `\`${shown(code)}\` is not a status; its description is ignored`)
      return []
    }
    const contents =
      reading.version === "2.0" ? oldContents(map, produces, reading) : readContents(map, reading)
    const description = fields.text(map, "description") ?? ""
    return [{ status, description, headers: readHeaders(map, reading), contents, span: key }]
  })
}

/** A response of 2.0: one schema for all media types, and examples by media type. */
function oldContents(
  map: DocumentMap,
  produces: readonly string[],
  { fields, schemas }: ReaderContext,
): Content[] {
  const schema = map.entries.get("schema")?.value
  const examples = oldExamples(map, fields)
  if (schema === undefined && examples.size === 0) return []
  const key = schema === undefined ? undefined : schemas.use(schema)
  const medias =
    produces.length > 0 ? produces : examples.size > 0 ? [...examples.keys()] : ["application/json"]
  return medias
    .filter((media) => schema !== undefined || examples.has(media))
    .filter((media) => checkMedia(media, map.span, fields))
    .map((media) => {
      const example = examples.get(media)
      return {
        media: media.toLowerCase(),
        schema: key,
        fields: [],
        examples: example === undefined ? [] : [unnamed(example.value)],
        span: schema?.span ?? example?.key ?? map.span,
      }
    })
}

/** Examples by media type. Many documents put the example directly there: its members are not media types, so they are reported and ignored. */
function oldExamples(map: DocumentMap, fields: DocumentFields): ReadonlyMap<string, DocumentEntry> {
  return new Map(
    fields.entries(map, "examples").filter(([media, { key }]) => {
      if (isMedia(media)) return true
      reportExample(media, key, fields)
      return false
    }),
  )
}

/** The headers of a response. In 2.0 a header is its own schema. */
function readHeaders(map: DocumentMap, { fields, schemas, version }: ReaderContext): ResponseHeader[] {
  return fields.entries(map, "headers").flatMap(([name, { key, value }]) => {
    const header = fields.part(value, "a header")
    if (header === undefined) return []
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)) {
      fields.aside({ span: key }, `\`${shown(name)}\` is not a header name, so no response has it`)
      return []
    }
    const old = version === "2.0"
    if (!old) fields.known(header, "a header", headerKeys)
    // `content` has one media type. A value that is not JSON is a text of unknown structure.
    const [[media, content] = []] = old ? [] : [...(fields.entries(header, "content") ?? [])]
    const written = content === undefined ? undefined : fields.part(content.value, "a media type")
    const schema = (written ?? header).entries.get("schema")?.value
    const isJson = media !== undefined && /^application\/(?:[\w.+-]+\+)?json/.test(media)
    const judged = old
      ? schemas.make(header, ["description", "collectionFormat"])
      : schema === undefined || (media !== undefined && !isJson)
        ? undefined
        : schemas.use(schema)
    return [
      {
        name,
        description: fields.text(header, "description"),
        required: !old && fields.flag(header, "required"),
        style: isJson ? "json" : "simple",
        explode: !old && fields.flag(header, "explode"),
        schema: judged,
        span: key,
      },
    ]
  })
}

const styles = ["form", "spaceDelimited", "pipeDelimited", "deepObject"] as const

/** Whether a body of this type has form fields. */
function isForm(media: string): boolean {
  return /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i.test(media)
}

/** Reads `encoding` of a form: the fields with a style or media type. A media type alone only matters for multipart. */
function readEncoding(content: DocumentMap, media: string, fields: DocumentFields): FormField[] {
  const hasParts = /^multipart/i.test(media)
  return fields.entries(content, "encoding").flatMap(([name, { value }]) => {
    const map = fields.part(value, "an encoding")
    if (map === undefined) return []
    fields.known(map, "an encoding", ["contentType", "headers", "style", "explode", "allowReserved"])
    const headers = map.entries.get("headers")
    if (headers !== undefined) fields.report.add("SP8015", headers.key, "headers of parts are not checked")
    const written = fields.text(map, "style")
    const style = styles.find((each) => each === (written ?? "form"))
    if (style === undefined) {
      const at = map.entries.get("style")?.value ?? map
      fields.wrong(
        at,
        `\`${shown(written ?? "")}\` is not a style of a field; the styles are ${styles.join(", ")}`,
      )
      return []
    }
    const said = map.entries.has("style") || map.entries.has("explode")
    const explode = map.entries.has("explode") ? fields.flag(map, "explode") : style === "form"
    const types = hasParts ? mediasOfPart(map, fields) : []
    return said || types.length > 0
      ? [{ name, style, explode: explode || style === "deepObject", media: types }]
      : []
  })
}

/** The media types of a form's part: a list separated by commas. */
function mediasOfPart(map: DocumentMap, fields: DocumentFields): string[] {
  const text = fields.text(map, "contentType")
  const at = map.entries.get("contentType")?.value
  if (text === undefined || at === undefined) return []
  const medias = text.split(",").map((each) => each.trim().toLowerCase())
  const bad = medias.find((each) => mediaTypeOf(each) === undefined || each.length > 256)
  if (bad === undefined) return medias.slice(0, 20)
  fields.wrong(at, `\`${shown(bad)}\` is not a media type`)
  return []
}

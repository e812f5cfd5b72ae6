import { isJson } from "../../runtime/validation/media-type.ts"
import type { Content } from "./api-document.ts"
import type { Direction, Schemas } from "./schema.ts"
import { annotations } from "./schema-keywords.ts"

/**
 * How a body of a media type or range is parsed for validation. `bytes`: its schema does not describe the content; `any`: no schema can check
 * it. `judges`: whether the schema is applied.
 */
export interface BodyReading {
  readonly range: string
  readonly as: "json" | "xml" | "form" | "multipart" | "text" | "bytes" | "any"
  readonly judges: boolean
}

/**
 * The ways to parse the bodies of a content. For a range, these are all media types in it, so that no request avoids the schema by declaring
 * an unexpected type.
 */
export function readingsOf(
  { media, schema }: Content,
  schemas: Schemas,
  direction: Direction,
): BodyReading[] {
  const essence = media.split(";", 1)[0]?.trim() ?? ""
  const bytes = schema === undefined || isBytes(schemas, schema)
  const reading = (range: string, as: BodyReading["as"]): BodyReading => ({
    range,
    as,
    judges: !bytes && as !== "any" && as !== "xml",
  })
  if (schema !== undefined && bytes) return [reading(media, "bytes")]
  if (schema === undefined || !/^(?:\*|application|text|multipart)\/\*$/.test(essence))
    return [reading(media, formOf(essence))]
  return [...inRange(essence, direction), [media, "text"] as const].map(([range, as]) => reading(range, as))
}

function formOf(essence: string): BodyReading["as"] {
  if (isJson(essence)) return "json"
  if (/^(?:(?:application|text)\/xml|[\w.+-]+\/[\w.+*-]+\+xml)$/.test(essence)) return "xml"
  if (essence === "application/x-www-form-urlencoded") return "form"
  if (essence === "multipart/form-data") return "multipart"
  return essence.startsWith("text/") ? "text" : "any"
}

const known: readonly (readonly [string, BodyReading["as"]])[] = [
  ["application/json", "json"],
  ["text/json", "json"],
  ["application/x-www-form-urlencoded", "form"],
  ["multipart/form-data", "multipart"],
]
/** Responses in XML are requested by the client. A schema describes JSON, so it is not applied to them. */
const knownAnswers: typeof known = [
  ["application/xml", "xml"],
  ["text/xml", "xml"],
]

function inRange(range: string, direction: Direction): typeof known {
  const top = range.slice(0, range.indexOf("/"))
  const all = direction === "response" ? [...known, ...knownAnswers] : known
  const json = top === "*" || top === "application" ? [[`${top}/*+json`, "json"] as const] : []
  return [...all.filter(([media]) => top === "*" || media.startsWith(`${top}/`)), ...json]
}

/** Whether a schema only declares binary content. */
function isBytes(schemas: Schemas, key: string): boolean {
  const seen = new Set<string>()
  let json = schemas.entries.get(key)?.json
  while (typeof json === "object" && typeof json["$ref"] === "string" && !seen.has(json["$ref"])) {
    seen.add(json["$ref"])
    json = schemas.entries.get(json["$ref"])?.json
  }
  if (typeof json !== "object" || json["format"] !== "binary") return false
  const judging = Object.keys(json).filter((name) => !annotations.has(name))
  return judging.every((name) => name === "format" || (name === "type" && json[name] === "string"))
}

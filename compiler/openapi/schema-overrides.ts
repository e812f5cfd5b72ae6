import type { ContentRule } from "../../runtime/plan/content-rules.ts"
import { foldedName } from "../../runtime/validation/any-case.ts"
import type { JsonSchema } from "./schema.ts"

/** Settings at a place that override its schemas. */
export interface SchemaOverrides {
  /** Whether objects may have undeclared properties, regardless of the schemas. */
  readonly additional?: boolean
  /** Names of properties are compared in any letter case. */
  readonly anyCase?: true
}

/** A key that differs for different overrides. */
export function overridesKey({ additional, anyCase }: SchemaOverrides): string {
  return `${additional ?? ""} ${anyCase ?? ""}`
}

type Keywords = Readonly<Record<string, unknown>>

/** Keywords whose schemas apply to the same object. */
const together = ["allOf", "anyOf", "oneOf", "$ref"]

/** Why a schema can't be overridden. Checks the schema and those inside it, not those it refers to. */
export function overrideObstacle(json: JsonSchema, overrides: SchemaOverrides): string | undefined {
  for (const each of schemasIn(json)) {
    const found = obstacleHere(each, overrides)
    if (found !== undefined) return found
  }
  return undefined
}

/** Why this schema cannot be overridden by itself; undefined if it can. */
function obstacleHere(json: Keywords, { additional, anyCase }: SchemaOverrides): string | undefined {
  if (additional !== undefined && ["not", "if"].some((word) => word in json))
    return "`not` and `if` would mean something else with other properties"
  const joins = together.filter((word) => word in json)
  const several = ((json["allOf"] as unknown[] | undefined) ?? []).length > 1
  if (
    additional === false &&
    (several || "dependentSchemas" in json || (joins.length > 0 && "properties" in json))
  )
    return "several schemas list the properties of an object, so that no single one can exclude additional properties"
  if (anyCase !== true) return undefined
  const word = ["patternProperties", "propertyNames"].find((each) => each in json)
  if (word !== undefined) return `\`${word}\` compares names case-sensitively`
  const names = Object.keys((json["properties"] as Keywords | undefined) ?? {}).map(foldedName)
  if (new Set(names).size < names.length) return "two of its properties differ only in upper and lower case"
  const values = [json["const"], ...((json["enum"] as unknown[] | undefined) ?? [])]
  if (values.some((value) => typeof value === "object" && value !== null))
    return "`const` or `enum` contains objects, whose property names are case-sensitive"
  return undefined
}

/** Overrides one schema. The schemas inside it were overridden before. */
export function overridden(json: Keywords, { additional, anyCase }: SchemaOverrides): JsonSchema {
  const made = anyCase === true ? inLowerCase(json) : { ...json }
  if (additional === undefined) return made
  delete made["additionalProperties"]
  delete made["unevaluatedProperties"]
  if (!additional && describesObject(json)) made["additionalProperties"] = false
  return made
}

/** Whether to close this schema: an object composed of others is closed by those. */
function describesObject(json: Keywords): boolean {
  if (["properties", "patternProperties", "additionalProperties"].some((word) => word in json)) return true
  const types = [json["type"]].flat()
  return types.includes("object") && !together.some((word) => word in json)
}

/** All property names in lower case; the runtime folds those of the value. */
function inLowerCase(json: Keywords): Record<string, unknown> {
  const made: Record<string, unknown> = { ...json }
  for (const word of ["properties", "dependentSchemas", "dependentRequired"]) {
    const map = json[word] as Keywords | undefined
    if (map === undefined) continue
    made[word] = Object.fromEntries(
      Object.entries(map).map(([name, value]) => [
        foldedName(name),
        word === "dependentRequired" ? (value as string[]).map(foldedName) : value,
      ]),
    )
  }
  if (json["required"] !== undefined) made["required"] = (json["required"] as string[]).map(foldedName)
  return made
}

/** The schema and all schemas inside it. */
function schemasIn(json: unknown): Keywords[] {
  if (typeof json !== "object" || json === null) return []
  if (Array.isArray(json)) return json.flatMap(schemasIn)
  const inside = Object.entries(json).flatMap(([word, value]) => {
    if (["enum", "const", "default", "example", "examples"].includes(word)) return []
    const isMap = ["properties", "patternProperties", "dependentSchemas", "$defs"].includes(word)
    return isMap ? Object.values(value as object).flatMap(schemasIn) : schemasIn(value)
  })
  return [json as Keywords, ...inside]
}

/** A media type without its parameters. */
function essenceOf(media: string): string {
  return (media.split(";", 1)[0] ?? "").trim()
}

/**
 * The rules for JSON of the media type of `own`, when the place names no schema: those of `known`, from the OpenAPI document, otherwise only
 * that it is JSON. When the document describes the type only with parameters (`application/json;v=1`), a request without them would avoid all
 * schemas, so its type is unexpected. A response may have an undescribed status.
 */
export function describedContents(
  known: readonly ContentRule[],
  own: ContentRule,
  message: "request" | "response",
): { readonly contents: readonly ContentRule[]; readonly isDescribed: boolean } {
  const described = known.filter(
    ({ as, schema, media }) =>
      as === "json" && schema !== undefined && essenceOf(media) === essenceOf(own.media),
  )
  const isDescribed = described.length > 0
  const contents = described.map((each) => ({ ...each, action: own.action }))
  return { contents: isDescribed && message === "request" ? contents : [...contents, own], isDescribed }
}

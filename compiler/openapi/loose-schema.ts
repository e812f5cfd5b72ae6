import type { JsonSchema, SchemaEntry } from "./schema.ts"
import { keywords, leftOut } from "./schema-keywords.ts"

type Keywords = Readonly<Record<string, unknown>>

/** The schemas of a document that accept more values than written, because they, or schemas they refer to, contain patterns that can't be matched. */
export class LooseSchemas {
  readonly #unmatchable: ReadonlySet<string>
  readonly #keys = new Set<string>()

  constructor(unmatchable: ReadonlySet<string>) {
    this.#unmatchable = unmatchable
  }

  /** Adds schemas that refer to each other. All other schemas they refer to must have been added before. */
  add(group: readonly SchemaEntry[]): void {
    const any = group.some(
      ({ loose, references }) => loose || [...references].some((key) => this.#keys.has(key)),
    )
    if (any) for (const { key } of group) this.#keys.add(key)
  }

  leavesOut(pattern: unknown): boolean {
    return typeof pattern === "string" && this.#unmatchable.has(pattern)
  }

  /** Whether a schema, or one inside it, accepts more values than written. */
  has(json: unknown): boolean {
    if (this.#keys.size === 0 || typeof json !== "object" || json === null) return false
    if (leftOut in json) return true
    return Object.entries(json).some(([keyword, value]) => {
      if (keyword === "$ref") return this.#keys.has(value as string)
      if (keyword === "pattern") return this.leavesOut(value)
      if (isEmpty(keyword, value)) return true
      const kind = keywords[keyword]
      if (kind === "schema") return this.has(value)
      if (kind === "schemas") return (value as JsonSchema[]).some((each) => this.has(each))
      if (kind !== "schema map") return false
      return Object.entries(value as Keywords).some(
        ([name, each]) => (keyword === "patternProperties" && this.leavesOut(name)) || this.has(each),
      )
    })
  }
}

/**
 * A schema without the patterns that can't be matched. It accepts every value that the original accepts. So keywords under which a looser part
 * would make the whole stricter (`not`, `oneOf`, `if`, `maxContains`) are loosened as well.
 */
export function loosened(json: Keywords, loose: LooseSchemas): Keywords {
  if (!loose.has(json)) return json
  const { pattern, patternProperties, not, oneOf, if: condition, then, else: otherwise, ...rest } = json
  const also: unknown[] = []
  const made = Object.fromEntries(
    Object.entries(rest).filter(
      ([word, value]) => !isEmpty(word, value) && (word !== "maxContains" || !loose.has(json["contains"])),
    ),
  )
  if (pattern !== undefined && !loose.leavesOut(pattern)) made["pattern"] = pattern
  if (patternProperties !== undefined)
    made["patternProperties"] = namesMatched(patternProperties as Keywords, loose)
  if (not !== undefined && !loose.has(not)) made["not"] = not
  if (oneOf !== undefined && !isEmpty("oneOf", oneOf)) {
    if (loose.has({ oneOf })) also.push({ anyOf: oneOf })
    else made["oneOf"] = oneOf
  }
  if (loose.has(condition)) also.push(eitherWay(condition, then, otherwise))
  else
    for (const [word, value] of Object.entries({ if: condition, then, else: otherwise }))
      if (value !== undefined) made[word] = value
  if (also.length > 0) made["allOf"] = [...((json["allOf"] as unknown[] | undefined) ?? []), ...also]
  return made
}

/** An empty list of choices, e.g. `enum: []`. */
function isEmpty(keyword: string, value: unknown): boolean {
  return choices.has(keyword) && Array.isArray(value) && value.length === 0
}

const choices: ReadonlySet<string> = new Set(["enum", "allOf", "anyOf", "oneOf"])

/** It is unknown which names match the removed pattern, so every property may: none counts as additional. */
function namesMatched(patterns: Keywords, loose: LooseSchemas): Keywords {
  const kept = Object.entries(patterns).filter(([name]) => !loose.leavesOut(name))
  return kept.length === Object.keys(patterns).length
    ? patterns
    : { ...Object.fromEntries(kept), "": patterns[""] ?? true }
}

/** A loosened condition accepts more values than written. Where it holds, the original may not hold, so `else` is accepted as well. */
function eitherWay(condition: unknown, then: unknown = true, otherwise: unknown = true): Keywords {
  return { anyOf: [{ allOf: [condition, then] }, otherwise] }
}

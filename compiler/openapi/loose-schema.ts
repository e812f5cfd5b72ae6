import type { JsonSchema, SchemaEntry } from "./schema.ts"
import { keywords, leftOut } from "./schema-keywords.ts"

type Keywords = Readonly<Record<string, unknown>>

/** The schemas of a document that judge by less than they say: patterns that can't be matched are left out, here or in what they refer to. */
export class LooseSchemas {
  readonly #unmatchable: ReadonlySet<string>
  readonly #keys = new Set<string>()

  constructor(unmatchable: ReadonlySet<string>) {
    this.#unmatchable = unmatchable
  }

  /** Schemas that refer to each other; what else they refer to has been added. */
  add(group: readonly SchemaEntry[]): void {
    const any = group.some(
      ({ loose, references }) => loose || [...references].some((key) => this.#keys.has(key)),
    )
    if (any) for (const { key } of group) this.#keys.add(key)
  }

  leavesOut(pattern: unknown): boolean {
    return typeof pattern === "string" && this.#unmatchable.has(pattern)
  }

  /** Whether a schema, or one inside of it, takes more values than it says. */
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
 * One schema without the patterns that can't be matched. It takes every value the whole one takes: where a part that takes more values would make it take fewer
 * (`not`, `oneOf`, `if`, `maxContains`), these words are weakened as well.
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

/** A list of choices without any: `enum: []`. */
function isEmpty(keyword: string, value: unknown): boolean {
  return choices.has(keyword) && Array.isArray(value) && value.length === 0
}

const choices: ReadonlySet<string> = new Set(["enum", "allOf", "anyOf", "oneOf"])

/** Nobody knows which properties have such a name, so each may: it is no additional one. */
function namesMatched(patterns: Keywords, loose: LooseSchemas): Keywords {
  const kept = Object.entries(patterns).filter(([name]) => !loose.leavesOut(name))
  return kept.length === Object.keys(patterns).length
    ? patterns
    : { ...Object.fromEntries(kept), "": patterns[""] ?? true }
}

/** A condition that may be met by more values than it says: where it seems to be met, `else` may be meant as well. */
function eitherWay(condition: unknown, then: unknown = true, otherwise: unknown = true): Keywords {
  return { anyOf: [{ allOf: [condition, then] }, otherwise] }
}

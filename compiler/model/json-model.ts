import type { ModelPath } from "../../runtime/model/finding.ts"
import { readModel } from "../../runtime/model/read.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { type JsonPlaces, readJson } from "../../runtime/plan/json-scan.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { reportFindings } from "./findings.ts"
import type { ModelMistakes } from "./mistakes.ts"
import type { PlaceOf } from "./places.ts"

/** A model that is given as JSON, and where its parts stand. */
export interface JsonModel {
  readonly model: AuthorizationModel
  readonly placeOf: PlaceOf
}

/** Reads a model's JSON as the HTTP API takes it. Undefined when it is no JSON or has another shape, which is reported. */
export function readJsonModel(mistakes: ModelMistakes): JsonModel | undefined {
  const { file } = mistakes
  const json = readJson(file.text.replace(/^\uFEFF/, " "))
  if ("problem" in json) {
    const at = Math.min(json.problem.at, file.text.length)
    mistakes.add("SP4060", file.span(at, Math.min(at + 1, file.text.length)), json.problem.message)
    return undefined
  }
  const placeOf = placesIn(file, json.placeOf)
  const read = readModel(json.value)
  if ("model" in read) return { model: read.model, placeOf }
  reportFindings(read.findings, placeOf, mistakes)
  return undefined
}

/**
 * The place of a path in canonical spelling, whichever spelling the file has. Parts with a name are marked by it, values by themselves; a
 * part that is missing, by what should hold it.
 */
function placesIn(file: SourceFile, placeOf: JsonPlaces): PlaceOf {
  return (path, range) => {
    let steps: ModelPath = []
    for (const step of path) {
      const next = spellings(step)
        .map((spelled) => [...steps, spelled])
        .find((candidate) => placeOf(candidate) !== undefined)
      if (next === undefined) break
      steps = next
    }
    return spanAt(file, placeOf, steps, range)
  }
}

function spanAt(
  file: SourceFile,
  placeOf: JsonPlaces,
  steps: ModelPath,
  range: { start: number; end: number } | undefined,
): Span {
  const place = placeOf(steps)
  if (place === undefined) return file.span(0, 0)
  const { start, end, key } = place
  const text = file.text.slice(start, end)
  if (/^[{[]/.test(text))
    return key === undefined ? file.span(start, start + 1) : file.span(key.start, key.end)
  // Offsets of a value are those of the text as long as nothing in it is escaped.
  if (range === undefined || text.includes("\\")) return file.span(start, end)
  return file.span(start + 1 + range.start, start + 1 + range.end)
}

/** `directly_related_user_types` may be written `directlyRelatedUserTypes`, and the other way. */
function spellings(step: string | number): (string | number)[] {
  if (typeof step === "number") return [step]
  const snake = step.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const camel = step.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [step, snake, camel]
}

/** Where types, relations and conditions are named. */
export function declaredIn({ model, placeOf }: JsonModel): {
  readonly types: ReadonlyMap<string, { readonly span: Span; readonly relations: ReadonlyMap<string, Span> }>
  readonly conditions: ReadonlyMap<string, Span>
} {
  const types = model.type_definitions.map(({ type, relations = {} }, at) => {
    const names = Object.keys(relations)
    const spans = names.map((name) => [name, placeOf(["type_definitions", at, "relations", name])] as const)
    return [type, { span: placeOf(["type_definitions", at, "type"]), relations: new Map(spans) }] as const
  })
  const conditions = Object.keys(model.conditions ?? {}).map(
    (name) => [name, placeOf(["conditions", name])] as const,
  )
  return { types: new Map(types), conditions: new Map(conditions) }
}

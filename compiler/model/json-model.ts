import type { ModelPath } from "../../runtime/model/finding.ts"
import { readModel } from "../../runtime/model/read.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { type JsonPlaces, readJson } from "../../runtime/plan/json-scan.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { reportFindings } from "./findings.ts"
import type { ModelMistakes } from "./mistakes.ts"
import type { PlaceOf } from "./places.ts"

/** A model given as JSON, and the places of its parts. */
export interface JsonModel {
  readonly model: AuthorizationModel
  readonly placeOf: PlaceOf
}

/** Reads a model's JSON in the form of the HTTP API. Returns undefined when it is not JSON or has another shape, which is reported. */
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
 * The place of a path in canonical spelling, for either spelling in the file. A named part is marked at its name, a value at itself, and a
 * missing part at the part that should contain it.
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

/** The place of a value. An object or list is shown by its key, because it may have thousands of lines. */
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
  // Offsets in a value equal offsets in the text only when the text has no escapes.
  if (range === undefined || text.includes("\\")) return file.span(start, end)
  return file.span(start + 1 + range.start, start + 1 + range.end)
}

/** Each key may be in snake case or camel case: `directly_related_user_types` or `directlyRelatedUserTypes`. */
function spellings(step: string | number): (string | number)[] {
  if (typeof step === "number") return [step]
  const snake = step.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const camel = step.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [step, snake, camel]
}

/** The places where the file names types, relations and conditions. */
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

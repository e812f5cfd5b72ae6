import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"

/** A model written in its language, ready for questions. The header is added. */
export function modelOf(text: string): LoadedModel {
  return wholeModelOf(`model\n  schema 1.1\n${text}`)
}

/** The same from a text that has a header. */
export function wholeModelOf(text: string): LoadedModel {
  const report = new Report()
  const compiled = compileModel(new SourceFile("model.fga", text), report)
  if (compiled === undefined) throw new Error(JSON.stringify(report.sorted()))
  return loadModel(lowerModel(compiled.model))
}

/** The same, compiled once: for tests that ask each model in many ways. */
export function keptModels(): (text: string) => LoadedModel {
  const kept = new Map<string, LoadedModel>()
  return (text) => {
    const model = kept.get(text) ?? wholeModelOf(text)
    kept.set(text, model)
    return model
  }
}

/** `doc:1 viewer user:ann`, with a condition `doc:1 viewer user:ann if small {"x":1}`. */
export function tupleOf(text: string): TupleKey {
  const [tuple = "", condition] = text.split(" if ")
  const [object = "", relation = "", user = ""] = tuple.split(" ")
  if (condition === undefined) return { object, relation, user }
  const [name = "", ...json] = condition.split(" ")
  const context = json.length === 0 ? undefined : JSON.parse(json.join(" "))
  return { object, relation, user, condition: { name, ...(context === undefined ? {} : { context }) } }
}

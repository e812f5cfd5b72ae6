import { lowerModel } from "../../runtime/model/lower.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Report } from "../core/diagnostic.ts"
import type { Project } from "../core/load.ts"
import type { SourceFile } from "../core/source.ts"
import { compileModel } from "../model/compile-model.ts"
import { statementOf } from "./bind/bound.ts"
import { modelInOrder } from "./lower/model-order.ts"
import { StoreModel, type StoreModels } from "./lower/store-model.ts"
import type { Program } from "./program.ts"

/** Compiles the models of all stores, each file once; equal models are one in the plan. */
export function compileModels(program: Program, project: Project, report: Report): StoreModels {
  const byFile = new Map<SourceFile, StoreModel | undefined>()
  const models = new Map<string, StoreModel | undefined>()
  for (const { name, bound } of program.all("store")) {
    const filled = statementOf(bound.block, "model")?.args.get("path")
    const file =
      filled === undefined ? undefined : project.readNamed(filled.value as string, filled.argument.span)
    if (file !== undefined && !byFile.has(file)) byFile.set(file, compileFile(file, project, report))
    models.set(name, file === undefined ? undefined : byFile.get(file))
  }
  return models
}

function compileFile(file: SourceFile, project: Project, report: Report): StoreModel | undefined {
  const compiled = compileModel(file, report, { read: (path, at) => project.readNamed(path, at) })
  if (compiled === undefined) return undefined
  const model = modelInOrder(compiled.model)
  return new StoreModel(digestOf(model), lowerModel(model), compiled)
}

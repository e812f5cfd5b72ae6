import { lowerModel } from "../../runtime/model/lower.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Report } from "../core/diagnostic.ts"
import type { Project } from "../core/load.ts"
import type { SourceFile } from "../core/source.ts"
import { compileModel } from "../model/compile-model.ts"
import { statementOf } from "./bind/bound.ts"
import { modelInOrder } from "./lower/model-order.ts"
import { StoreModel, type StoreModels } from "./lower/store-model.ts"
import type { Declaration, Program } from "./program.ts"

/** Compiles the models of all stores, each file once; equal models are one in the plan. */
export function compileModels(program: Program, project: Project, report: Report): StoreModels {
  const byFile = new Map<SourceFile, StoreModel | undefined>()
  const models = new Map<string, StoreModel | undefined>()
  for (const store of program.all("store")) {
    const file = readModelFile(store, project)
    if (file !== undefined && !byFile.has(file)) byFile.set(file, compileFile(file, project, report))
    models.set(store.name, file === undefined ? undefined : byFile.get(file))
  }
  return models
}

/** The files that stores name as their models, for those who do not compile them. What can't be read is reported where it is named. */
export function readModelFiles(program: Program, project: Project): readonly SourceFile[] {
  return program.all("store").flatMap((store) => readModelFile(store, project) ?? [])
}

function readModelFile({ bound }: Declaration, project: Project): SourceFile | undefined {
  const filled = statementOf(bound.block, "model")?.args.get("path")
  return filled === undefined ? undefined : project.readNamed(filled.value as string, filled.argument.span)
}

function compileFile(file: SourceFile, project: Project, report: Report): StoreModel | undefined {
  const compiled = compileModel(file, report, { read: (path, at) => project.readNamed(path, at) })
  if (compiled === undefined) return undefined
  const model = modelInOrder(compiled.model)
  return new StoreModel(digestOf(model), lowerModel(model), compiled)
}

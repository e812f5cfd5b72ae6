import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { type CompiledModel, compileModel } from "../../compiler/model/compile-model.ts"

/** Compiles the model whose list of modules, or only file, is `entry` among these files. */
export function compileFiles(
  files: Readonly<Record<string, string>>,
  entry = "fga.mod",
): { readonly compiled: CompiledModel | undefined; readonly report: Report } {
  const report = new Report()
  const project = new Project(new MemoryFiles(Object.entries(files)), report)
  const file = project.read(entry, undefined)
  return { compiled: file === undefined ? undefined : compileModel(file, report, { parts: project }), report }
}

/** A `fga.mod` that lists these files. */
export function modOf(paths: readonly string[]): string {
  return `schema: "1.2"\ncontents:\n${paths.map((path) => `  - ${path}\n`).join("")}`
}

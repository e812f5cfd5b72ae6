import { lowerModel } from "../../runtime/model/lower.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { isPattern } from "../core/glob.ts"
import type { Project } from "../core/load.ts"
import { SeenFiles } from "../core/seen-files.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { compileModel } from "../model/compile-model.ts"
import { type DeclaredNames, declaredNames } from "../model/declared-names.ts"
import { modelInOrder } from "../model/model-order.ts"
import { type DeclaredTests, readDeclaredTests } from "../model-test/declared-tests.ts"
import { statementsOf } from "./bind/bound.ts"
import { StoreModel, type StoreModels } from "./lower/store-model.ts"
import type { Declaration, Program } from "./program.ts"

/** The models of all stores, and the tests named by stores. */
export interface Stores {
  readonly models: StoreModels
  /** By store, what can be known of the models with mistakes. */
  readonly declaredNames: ReadonlyMap<string, DeclaredNames>
  readonly tests: readonly DeclaredTests[]
}

/** Compiles the models of all stores and reads their tests. Loaded by `import()`, only for a project with stores. */
export function readStores(program: Program, project: Project, report: Report): Stores {
  const { models, declaredNames } = compileModels(program, project, report)
  const tests = readDeclaredTests(testsOfStores(program, models, project), project, report)
  return { models, declaredNames, tests }
}

/** The part that `compile` needs for a project with stores. */
export type StoreReader = typeof readStores

/** Compiles each file once. Equal models share one entry in the plan. */
function compileModels(program: Program, project: Project, report: Report): Omit<Stores, "tests"> {
  const byFile = new Map<SourceFile, StoreModel | undefined>()
  const models = new Map<string, StoreModel | undefined>()
  const names = new Map<string, DeclaredNames>()
  for (const store of program.all("store")) {
    const file = readModelFile(store, project)
    if (file !== undefined && !byFile.has(file)) byFile.set(file, compileFile(file, project, report))
    const model = file === undefined ? undefined : byFile.get(file)
    models.set(store.name, model)
    const declared = file === undefined || model !== undefined ? undefined : namesOf(file)
    if (declared !== undefined) names.set(store.name, declared)
  }
  return { models, declaredNames: names }
}

/** The files that stores name as their models, for callers that do not compile them. Unreadable files are reported where they are named. */
export function readModelFiles(program: Program, project: Project): readonly SourceFile[] {
  return program.all("store").flatMap((store) => readModelFile(store, project) ?? [])
}

/** A statement with a mistake still names its file, if there is one of this name. */
function readModelFile({ bound }: Declaration, project: Project): SourceFile | undefined {
  const written = bound.block?.statements.find(({ row }) => row.keyword === "model")
  const filled = written?.args.get("path")
  if (written === undefined || filled === undefined) return undefined
  const [path, { span }] = [filled.value as string, filled.argument]
  return written.broken && !project.hasNamed(path, span) ? undefined : project.readNamed(path, span)
}

/** A test file named by a store. */
interface StoreTests {
  readonly store: string
  /** Undefined when the model has mistakes. */
  readonly model: StoreModel | undefined
  readonly file: SourceFile
  /** The path in the statement. */
  readonly at: Span
}

/** The files named by the stores' `tests`, each once per store, in textual order. */
function testsOfStores(program: Program, models: StoreModels, project: Project): StoreTests[] {
  return program.all("store").flatMap(({ name, bound }) => {
    const found = new Map<string, StoreTests>()
    for (const statement of statementsOf(bound.block, "tests")) {
      const filled = statement.args.get("path")
      if (filled === undefined) continue
      for (const file of filesOf(filled.value as string, filled.argument.span, project))
        if (!found.has(file.path))
          found.set(file.path, { store: name, model: models.get(name), file, at: filled.argument.span })
    }
    return [...found.values()]
  })
}

function filesOf(path: string, at: Span, project: Project): SourceFile[] {
  const files = isPattern(path)
    ? project.match(path, at).map((each) => project.read(each, at))
    : [project.readNamed(path, at)]
  return files.filter((file) => file !== undefined)
}

/** What a file compiled to, with its findings. */
interface CompiledFile {
  readonly model: StoreModel | undefined
  readonly findings: readonly Diagnostic[]
  /** The modules of a `fga.mod`. */
  readonly seen: SeenFiles
}

/** By file: an editor compiles a project at every keystroke, mostly with the same models. */
const compiledFiles = new WeakMap<SourceFile, CompiledFile>()

function compileFile(file: SourceFile, project: Project, report: Report): StoreModel | undefined {
  const known = compiledFiles.get(file)
  const made = known?.seen.areSame(project) === true ? known : compiledOf(file, project)
  compiledFiles.set(file, made)
  report.addAll(made.findings)
  return made.model
}

function compiledOf(file: SourceFile, project: Project): CompiledFile {
  const own = new Report()
  const seen = new SeenFiles(project)
  const compiled = compileModel(file, own, { parts: seen })
  const findings = own.sorted()
  if (compiled === undefined) return { model: undefined, findings, seen }
  const model = modelInOrder(compiled.model)
  return { model: new StoreModel(digestOf(model), lowerModel(model), compiled), findings, seen }
}

const namesByFile = new WeakMap<SourceFile, DeclaredNames | undefined>()

function namesOf(file: SourceFile): DeclaredNames | undefined {
  if (!namesByFile.has(file)) namesByFile.set(file, declaredNames(file))
  return namesByFile.get(file)
}

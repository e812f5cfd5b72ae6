import { Engine } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import type { Compiled } from "../compile.ts"
import { type Diagnostic, Report } from "../core/diagnostic.ts"
import { type Files, MemoryFiles } from "../core/files.ts"
import { Project } from "../core/load.ts"
import { compileModel } from "../model/compile-model.ts"
import { answerText, questionText, runSuite } from "../model-test/run.ts"
import { StoreFiles } from "../model-test/store-file.ts"
import type { TestSuite } from "../model-test/suite.ts"
import { jsonObject } from "./json-object.ts"
import type {
  Analysis,
  ProjectTexts,
  ShownFinding,
  ShownStore,
  ShownTest,
  StoreAnswer,
  StoreQuestion,
} from "./protocol.ts"

/** A store with an engine over its tuples. */
interface World {
  readonly engine: Engine
  readonly model: LoadedModel
}

/** A project with what it is about: its findings, and its gateway if there is one without errors. */
export interface OpenedProject {
  readonly analysis: Analysis
  readonly gateway:
    | {
        readonly plan: NonNullable<Compiled["plan"]>
        readonly models: Compiled["models"]
        /** Tuples of the store files, by digest of their model. */
        readonly tuples: ReadonlyMap<string, readonly TupleKey[]>
      }
    | undefined
}

/** Names in a list that are shown. */
const namesMax = 1_000

/** A project under work: what the compiler and the engine say about it. It knows texts only: no files, no page. */
export class Workbench {
  #worlds = new Map<string, World>()

  /** Reads a project, runs the tests of its models, and keeps its stores for questions. Mistakes of the texts are findings. */
  async open(texts: ProjectTexts): Promise<OpenedProject> {
    const files = new MemoryFiles(Object.entries(texts))
    const report = new Report()
    const project = new Project(files, report)
    const suites = readStores(texts, project, report)
    readLonelyModels(texts, project, report)
    const stores: ShownStore[] = []
    const worlds = new Map<string, World>()
    for (const [at, suite] of suites.entries()) {
      const id = `${suite.file.path}#${at}`
      worlds.set(id, worldOf(suite))
      stores.push(await shownStore(id, suite))
    }
    for (const { engine } of this.#worlds.values()) engine.close()
    this.#worlds = worlds
    const compiled = await compiledGateway(texts, files)
    const found = [...report.sorted(), ...(compiled?.diagnostics ?? [])]
    const plan = compiled?.plan
    const analysis = { findings: shownFindings(found), stores, hasGateway: plan !== undefined }
    if (compiled === undefined || plan === undefined) return { analysis, gateway: undefined }
    const tuples = new Map(suites.map((suite) => [suite.model.loaded.digest, suite.tuples]))
    return { analysis, gateway: { plan, models: compiled.models, tuples } }
  }

  /** Asks the engine. */
  async ask(question: StoreQuestion): Promise<StoreAnswer> {
    const world = this.#worlds.get(question.store)
    if (world === undefined) return { kind: "error", message: "the store has errors; see the findings" }
    const context = jsonObject(question.context, "the context is")
    if (typeof context === "string") return { kind: "error", message: context }
    try {
      return await answerOf(world, question, context)
    } catch (error) {
      if (error instanceof CheckError) return { kind: "error", message: error.message }
      throw error
    }
  }
}

type Context = Readonly<Record<string, unknown>>

async function answerOf(
  { engine, model }: World,
  question: StoreQuestion,
  context: Context,
): Promise<StoreAnswer> {
  const { relation, store } = question
  if (question.kind === "check") {
    const { user, object } = question
    const request = { user, relation, object, context, explain: true, ternary: true }
    const { explanation } = await engine.check(store, model, request)
    return explanation === undefined
      ? { kind: "error", message: "the engine did not explain its answer" }
      : { kind: "explained", explanation }
  }
  if (question.kind === "objects") {
    const { user, type } = question
    const work = listObjects(model, { user, relation, type, context }, engine.bounds)
    return { kind: "list", names: (await engine.ask(store, work)).objects.slice(0, namesMax) }
  }
  const { object, type } = question
  const [name = "", ofType] = type.split("#")
  const filter = { type: name, relation: ofType }
  const work = listUsers(model, { object, relation, filter, context }, engine.bounds)
  return { kind: "list", names: (await engine.ask(store, work)).users.slice(0, namesMax) }
}

function readStores(texts: ProjectTexts, project: Project, report: Report): TestSuite[] {
  const reader = new StoreFiles(project, report)
  return Object.keys(texts)
    .filter((path) => /\.fga\.ya?ml$/.test(path))
    .sort()
    .flatMap((path) => {
      const file = project.read(path, undefined)
      return file === undefined ? [] : reader.read(file)
    })
}

/** Findings of models that no store file names. Parts of a modular model are read with its `fga.mod`. */
function readLonelyModels(texts: ProjectTexts, project: Project, report: Report): void {
  const read = new Set(project.paths)
  const paths = Object.keys(texts).filter((path) => !read.has(path))
  const modular = paths.filter((path) => /(?:^|\/)fga\.mod$/.test(path))
  const models = modular.length > 0 ? modular : paths.filter((path) => path.endsWith(".fga"))
  for (const path of models) {
    const file = project.read(path, undefined)
    if (file !== undefined) compileModel(file, report, { parts: project })
  }
}

/** The compiler is loaded only for a project with a gateway. */
async function compiledGateway(texts: ProjectTexts, files: Files): Promise<Compiled | undefined> {
  if (texts["gateway.conf"] === undefined) return undefined
  const { compileAndTest } = await import("../compile.ts")
  return compileAndTest(files, "gateway.conf")
}

function worldOf({ model, tuples }: TestSuite): World {
  const source = new MemorySource()
  source.write(...tuples)
  return { engine: new Engine(source, { pollMs: 0 }), model: model.loaded }
}

async function shownStore(id: string, suite: TestSuite): Promise<ShownStore> {
  const { model, name, file, tuples } = suite
  const { tests } = await runSuite(suite)
  return {
    ...{ id, name, path: file.path, tuples },
    model: model.loaded.plan.model,
    tests: tests.map(
      ({ test, passed, results }): ShownTest => ({
        name: test.name,
        passed,
        questions: results.map(({ question, passed: right, answer }) => ({
          text: questionText(question),
          passed: right,
          expected: answerText({ got: question.expected }),
          got: answerText(answer),
          line: question.span.file.position(question.span.start).line,
        })),
      }),
    ),
  }
}

/** Each finding once: a model is read for its store file and for gateway.conf. */
function shownFindings(found: readonly Diagnostic[]): ShownFinding[] {
  const shown = new Map<string, ShownFinding>()
  for (const { code, severity, title, detail, help, span } of found) {
    const path = span?.file.path ?? "gateway.conf"
    const [start, end] = [span?.start ?? 0, span?.end ?? 0]
    const line = span?.file.position(span.start).line ?? 1
    shown.set(`${path} ${start} ${code} ${detail}`, {
      ...{ path, start, end, line },
      ...{ code, severity, title, detail, help },
    })
  }
  return [...shown.values()]
}

import type { Plan } from "../runtime/plan/plan.ts"
import { completePlan } from "../runtime/plan/read.ts"
import { type Diagnostic, Report } from "./core/diagnostic.ts"
import type { Files } from "./core/files.ts"
import { budgets, Project } from "./core/load.ts"
import type { Document } from "./gateway/ast.ts"
import { bind } from "./gateway/bind.ts"
import { checkCertificateFiles } from "./gateway/check/certificate-files.ts"
import { checkNames, checkUnused } from "./gateway/check/names.ts"
import { checkNetworks } from "./gateway/check/networks.ts"
import { type DescribedOperation, needsOpenapi, readDocuments } from "./gateway/described.ts"
import { loadDocuments } from "./gateway/include.ts"
import type { Insight } from "./gateway/insight.ts"
import type { KeptParts } from "./gateway/kept.ts"
import { type LoweredGateway, lower, type Wings } from "./gateway/lower.ts"
import type { StoreReader, Stores } from "./gateway/models.ts"
import { needsAzure, readPolicyFiles } from "./gateway/policy-files.ts"
import { readPortalFiles } from "./gateway/portal-files.ts"
import { Program } from "./gateway/program.ts"
import { readSchemaFiles } from "./gateway/schema-files.ts"
import type { CompiledModel } from "./model/compile-model.ts"
import type { DeclaredTests } from "./model-test/declared-tests.ts"

/** The outcome of a compilation: all findings, and the plan if none of them is an error. */
export interface Compiled {
  readonly plan: Plan | undefined
  /** Errors first, then by file and place. */
  readonly diagnostics: readonly Diagnostic[]
  /** Paths of all files that were read or missing: the files to watch for changes. */
  readonly sources: readonly string[]
  /** The models by store, undefined for a model with mistakes. */
  readonly models: ReadonlyMap<string, CompiledModel | undefined>
  /** Tests of the models, named by the stores; `tested` runs them. */
  readonly tests: readonly DeclaredTests[]
  /** By route key: what OpenAPI documents say about the route. */
  readonly described: ReadonlyMap<string, DescribedOperation>
  /** Keys of the routes that serve the document of their API. */
  readonly documentation: ReadonlySet<string>
  /** The files of gateway.conf, as parsed. */
  readonly documents: readonly Document[]
  /** What they declare. */
  readonly program: Program
  /** What an editor shows besides findings. */
  readonly insight: Insight
}

/**
 * Compiles a project: gateway.conf (`entry`, a path in `files`), the files it includes and the models it names. The same text yields the
 * same plan, byte for byte, on any machine and for any order of declarations.
 *
 * @param parts must have everything the project needs. Compiling is synchronous, because an editor compiles at every key press, but loading
 * parts is not. `compileAndTest` loads the needed parts.
 * @throws Error when a needed part is missing, or when the plan's reader refuses the result. Both are bugs, never mistakes in the text.
 */
export function compile(files: Files, entry: string, parts: CompilerParts): Compiled {
  return sealed(complete(open(files, entry), parts))
}

/** Loads the parts that a project needs, compiles it, and runs the tests of its models: see `compile` and `tested`. */
export async function compileAndTest(files: Files, entry: string): Promise<Compiled> {
  return tested(await compileWithParts(files, entry))
}

/** Loads the parts that a project needs, and compiles it. */
export async function compileWithParts(files: Files, entry: string): Promise<Compiled> {
  const opened = open(files, entry)
  return sealed(complete(opened, await neededParts(opened.program)))
}

/**
 * As `compileWithParts`, for an editor: without a plan, and with what `kept` has of earlier compilations of the project. The findings are the
 * same.
 */
export async function analyse(files: Files, entry: string, kept: KeptParts): Promise<Compiled> {
  const opened = open(files, entry, kept)
  const parts = await neededParts(opened.program)
  const { compiled } = complete(opened, parts, kept)
  if (!compiled.program.isOutOfHints) return compiled
  // Which mistakes got the last hints depends on the order of all of them: it must not be that of an earlier text.
  kept.forgetUnits()
  const again = complete(open(files, entry, kept), parts, kept)
  kept.forgetUnits()
  return again.compiled
}

/** Parts that many projects do not need. Loading them would take as long as loading everything else. */
export interface CompilerParts extends Wings {
  /** `readStores` of compiler/gateway/models.ts. */
  readonly readStores?: StoreReader | undefined
}

async function neededParts(program: Program): Promise<CompilerParts> {
  const { root } = program
  return {
    azure: needsAzure(root) ? (await import("./azure/wing.ts")).azure : undefined,
    openapi: needsOpenapi(root) ? (await import("./openapi/wing.ts")).openapi : undefined,
    readStores: hasStores(program) ? (await import("./gateway/models.ts")).readStores : undefined,
  }
}

function hasStores(program: Program): boolean {
  return program.all("store").length > 0
}

function storesOf({ project, program, report }: Opened, readStores: StoreReader | undefined): Stores {
  if (!hasStores(program)) return { models: new Map(), declaredNames: new Map(), tests: [] }
  if (readStores === undefined) throw new Error("the project has stores: load compiler/gateway/models first")
  return readStores(program, project, report)
}

/** The first half of a compilation: the text is read and bound. */
interface Opened {
  readonly files: Files
  readonly project: Project
  readonly documents: readonly Document[]
  readonly program: Program
  readonly report: Report
}

function open(files: Files, entry: string, kept?: KeptParts): Opened {
  const report = new Report()
  const project = new Project(files, report, budgets, kept?.fileOf)
  const documents = loadDocuments(project, entry, report, kept?.parse)
  const root = bind(documents, report, kept?.bindings)
  const program = new Program(root, project.complete, report, kept !== undefined)
  return { files, project, documents, program, report }
}

/** A compilation before its plan is sealed. `lowered` must only be used if there are no errors. */
interface Completed {
  readonly compiled: Compiled
  readonly lowered: LoweredGateway | undefined
}

function complete(opened: Opened, parts: CompilerParts, kept?: KeptParts): Completed {
  const { files, project, documents, program, report } = opened
  checkNames(program, report, kept?.namesIn(program, report))
  checkNetworks(program, report)
  checkCertificateFiles(program, files, report)
  const { tests, ...stores } = storesOf(opened, parts.readStores)
  const described = readDocuments(program, project, parts.openapi, report, kept?.reads)
  const policyFiles = readPolicyFiles(program, project, parts.azure, report)
  const schemaFiles = readSchemaFiles(program, project, parts.openapi, report)
  const portalFiles = readPortalFiles(program, project, report)
  const read = { policyFiles, schemaFiles, portalFiles, kept: kept?.lowered }
  const lowered = lower(program, stores, described, read, parts, report)
  checkUnused(program, report)
  const models = new Map([...stores.models].map(([store, each]) => [store, each?.source]))
  const { described: operations, documentation, insight } = lowered
  const compiled = {
    ...{ plan: undefined, diagnostics: report.sorted(), sources: project.paths, models, tests },
    ...{ described: operations, documentation, documents, program, insight },
  }
  return { compiled, lowered: report.blocked ? undefined : lowered }
}

/** The compilation with its plan, if there are no errors. */
function sealed({ compiled, lowered }: Completed): Compiled {
  return lowered === undefined ? compiled : { ...compiled, plan: seal(lowered) }
}

/**
 * Runs the tests of the models and adds their findings. A failed test is an error, so that there is no plan. Without a plan, no tests run.
 */
export async function tested(compiled: Compiled): Promise<Compiled> {
  if (compiled.plan === undefined || compiled.tests.length === 0) return compiled
  // Load the engine only if there are tests to run.
  const { runDeclaredTests } = await import("./model-test/run-declared-tests.ts")
  const report = new Report(compiled.diagnostics)
  await runDeclaredTests(compiled.tests, report)
  return { ...compiled, plan: report.blocked ? undefined : compiled.plan, diagnostics: report.sorted() }
}

/** Adds the digest, and reads the plan like a runtime does. */
function seal({ body, origins }: LoweredGateway): Plan {
  const read = completePlan({ plan: body, origins })
  if ("plan" in read) return read.plan
  const problems = read.problems.map(({ path, message }) => `${path}: ${message}`)
  throw new Error(`the compiler made a plan its reader refuses: ${problems.join("; ")}`)
}

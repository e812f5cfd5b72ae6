import { Report, type Reported } from "../core/diagnostic.ts"
import { type NamedFiles, SeenFiles } from "../core/seen-files.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { CompiledModel } from "../model/compile-model.ts"
import { StoreFiles } from "./store-file.ts"
import type { TestSuite } from "./suite.ts"

/** A store file that gateway.conf names as the tests of a model. */
interface NamedTests {
  readonly store: string
  /** The model of the store. `digest` is that of its JSON in the order of plans. Undefined when the model has mistakes. */
  readonly model: { readonly digest: string; readonly source: CompiledModel } | undefined
  readonly file: SourceFile
  readonly at: Span
}

/** The tests of one store file, and the place that names it. */
export interface DeclaredTests {
  readonly store: string
  readonly at: Span
  readonly suites: readonly TestSuite[]
}

/** Reads the store files that stores name. A file that tests a different model is an error: it would prove nothing about the store. */
export function readDeclaredTests(
  named: readonly NamedTests[],
  files: NamedFiles,
  report: Report,
): DeclaredTests[] {
  const known = named.flatMap(({ model }) => (model === undefined ? [] : [model.source]))
  const { findings, suitesOf } = read([...new Set(named.map(({ file }) => file))], known, files)
  report.addAll(findings)
  return named.map(({ store, model, file, at }) => {
    const suites = suitesOf.get(file) ?? []
    for (const suite of suites)
      if (model !== undefined && suite.model.loaded.digest !== model.digest)
        report.add("SP6014", suite.modelSpan, `this is not the model of the store \`${store}\``, {
          related: [{ span: at, message: `\`${store}\` uses these tests here` }],
        })
    return { store, at, suites }
  })
}

/** What store files were read to, with everything that it depends on. */
interface ReadTests {
  readonly stores: readonly SourceFile[]
  readonly models: readonly CompiledModel[]
  readonly seen: SeenFiles
  readonly suitesOf: ReadonlyMap<SourceFile, readonly TestSuite[]>
  readonly findings: readonly Reported[]
}

/** By the first store file: an editor compiles a project at every keystroke, mostly with the same tests. */
const readBefore = new WeakMap<SourceFile, ReadTests>()

/** Reads store files, or returns what was read from the same ones for the same models before. */
function read(
  stores: readonly SourceFile[],
  models: readonly CompiledModel[],
  files: NamedFiles,
): Pick<ReadTests, "suitesOf" | "findings"> {
  const [first] = stores
  if (first === undefined) return { suitesOf: new Map(), findings: [] }
  const known = readBefore.get(first)
  if (
    known !== undefined &&
    areSame(known.stores, stores) &&
    areSame(known.models, models) &&
    known.seen.areSame(files)
  )
    return known
  const [report, seen] = [new Report(), new SeenFiles(files)]
  const reader = new StoreFiles(seen, report, models)
  const suitesOf = new Map(stores.map((file) => [file, reader.read(file)]))
  readBefore.set(first, { stores, models, seen, suitesOf, findings: report.reported })
  return { suitesOf, findings: report.reported }
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, at) => each === b[at])
}

import type { Report } from "../core/diagnostic.ts"
import type { Project } from "../core/load.ts"
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
  project: Project,
  report: Report,
): DeclaredTests[] {
  const known = named.flatMap(({ model }) => (model === undefined ? [] : [model.source]))
  const files = new StoreFiles(project, report, known)
  return named.map(({ store, model, file, at }) => {
    const suites = files.read(file)
    for (const suite of suites)
      if (model !== undefined && suite.model.loaded.digest !== model.digest)
        report.add("SP6014", suite.modelSpan, `this is not the model of the store \`${store}\``, {
          related: [{ span: at, message: `\`${store}\` uses these tests here` }],
        })
    return { store, at, suites }
  })
}

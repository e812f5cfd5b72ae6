import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Report } from "../core/diagnostic.ts"
import type { NamedFiles } from "../core/seen-files.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { type CompiledModel, compileModel, type ModelCompileOptions } from "../model/compile-model.ts"
import { modelInOrder } from "../model/model-order.ts"
import { embeddedText, reportEmbedded } from "./embedded-text.ts"
import type { TestedModel } from "./suite.ts"
import type { YamlReader, YamlValue } from "./yaml-reader.ts"

/** Reads the models that store files name or contain. A file that several store files name is compiled once. */
export class TestedModels {
  readonly #files: NamedFiles
  readonly #report: Report
  readonly #byFile = new Map<SourceFile, TestedModel | undefined>()

  /** `known` are models that are already compiled. */
  constructor(files: NamedFiles, report: Report, known: readonly CompiledModel[]) {
    this.#files = files
    this.#report = report
    for (const model of known)
      this.#byFile.set(
        model.file,
        testedModel(model, (span) => span),
      )
  }

  /** The model in the file `path`: text, OpenFGA's JSON, or a `fga.mod`. `at` is the place that names the file. */
  fromFile(path: string, at: Span): TestedModel | undefined {
    const file = this.#files.readNamed(path, at)
    if (file === undefined) return undefined
    if (!this.#byFile.has(file)) {
      const options: ModelCompileOptions = { parts: this.#files }
      this.#byFile.set(
        file,
        testedModel(compileModel(file, this.#report, options), (span) => span),
      )
    }
    return this.#byFile.get(file)
  }

  /** The model that the store file contains. */
  fromText(reader: YamlReader, value: YamlValue): TestedModel | undefined {
    const text = reader.text(value, "`model`")
    const scalar = reader.scalar(value)
    if (text === undefined || scalar === undefined) return undefined
    const embedded = embeddedText(scalar, text, value.span)
    const own = new Report()
    const model = testedModel(compileModel(embedded.file, own), embedded.placeOf)
    reportEmbedded(own.sorted(), embedded, this.#report)
    return model
  }
}

/** A compiled model, ready for the engine, with places for findings. */
function testedModel(
  compiled: CompiledModel | undefined,
  placed: (span: Span) => Span,
): TestedModel | undefined {
  if (compiled === undefined) return undefined
  const { file, model, types, conditions } = compiled
  const at = (span: Span | undefined): Span | undefined => (span === undefined ? undefined : placed(span))
  return {
    loaded: loadModel(lowerModel(modelInOrder(model))),
    name: file.path,
    placeOf: (type, relation) => {
      const declared = types.get(type)
      return at(relation === undefined ? declared?.span : declared?.relations.get(relation))
    },
    placeOfCondition: (name) => at(conditions.get(name)),
  }
}

import type { Report } from "../core/diagnostic.ts"
import type { NamedFiles } from "../core/seen-files.ts"
import type { SourceFile } from "../core/source.ts"
import type { CompiledModel } from "../model/compile-model.ts"
import { FittingTuples, fittingQuestions } from "./fit.ts"
import { questionKeys, readQuestions } from "./questions.ts"
import type { ModelTest, PlacedTuple, TestedModel, TestSuite } from "./suite.ts"
import { TestedModels } from "./tested-model.ts"
import { readTupleFile, readTuples } from "./tuples.ts"
import { type YamlEntry, YamlReader, type YamlValue } from "./yaml-reader.ts"

const tupleKeys = ["tuples", "tuple_file", "tuple_files"]
const storeKeys = ["name", "model", "model_file", ...tupleKeys, "tests"]
const testKeys = ["name", "description", ...tupleKeys, ...questionKeys]

/** Reads store files (`*.fga.yaml`, the format of OpenFGA's `fga model test`) of one project. */
export class StoreFiles {
  readonly #files: NamedFiles
  readonly #report: Report
  readonly #models: TestedModels

  /** `known` are models that are already compiled. Others are compiled when a store file names them. */
  constructor(files: NamedFiles, report: Report, known: readonly CompiledModel[] = []) {
    this.#files = files
    this.#report = report
    this.#models = new TestedModels(files, report, known)
  }

  /**
   * The stores of a file (one per YAML document), with their models, tuples and tests. Every mistake is a finding at its place. A file with an
   * error has no stores: a half-read test would be trusted as if it were complete.
   */
  read(file: SourceFile): readonly TestSuite[] {
    const suites: TestSuite[] = []
    const reader = new YamlReader(file, this.#report)
    const errors = this.#report.errors
    let documents = 0
    reader.eachDocument((value) => {
      documents++
      const suite = new StoreDocument(reader, this.#files, this.#models, this.#report).read(value, file)
      if (suite !== undefined) suites.push(suite)
    })
    if (this.#report.errors > errors) return []
    if (documents === 0) this.#report.add("SP6012", file.span(0, 0), "this file is empty")
    return suites
  }
}

/** Reads one document. */
class StoreDocument {
  readonly #reader: YamlReader
  readonly #files: NamedFiles
  readonly #models: TestedModels
  readonly #report: Report

  constructor(reader: YamlReader, files: NamedFiles, models: TestedModels, report: Report) {
    this.#reader = reader
    this.#files = files
    this.#models = models
    this.#report = report
  }

  /** One document of a file. Mistakes are collected, and the parts that were understood are run. */
  read(value: YamlValue, file: SourceFile): TestSuite | undefined {
    if (this.#reader.isEmpty(value)) {
      this.#report.add("SP6012", value.span, "this document is empty")
      return undefined
    }
    const entries = this.#reader.entries(value, "a store file", storeKeys)
    if (entries === undefined) return undefined
    const named = entries.find(({ name }) => name === "model" || name === "model_file")
    const model = this.#modelOf(entries)
    if (named === undefined && !this.#misspellsOne(value, ["model", "model_file"]))
      this.#report.add(
        "SP6004",
        file.span(value.span.start, value.span.end),
        "there is neither `model` nor `model_file`",
      )
    const placed = this.#placedTuples(entries)
    const shared = model && new FittingTuples(model.loaded, this.#report).add(placed)
    const misspelt = entry(entries, "tests") === undefined && this.#misspellsOne(value, ["tests"])
    const tests = misspelt ? [] : this.#testsOf(entries, shared, model)
    if (model === undefined || shared === undefined || named === undefined) return undefined
    const name = this.#reader.text(entry(entries, "name")?.value, "`name`")
    return { file, name: name ?? file.path, modelSpan: named.key, model, tuples: shared.keys, tests }
  }

  #misspellsOne(value: YamlValue, keys: readonly string[]): boolean {
    return keys.some((key) => this.#reader.misspells(value, key))
  }

  /** The model: in the file or named by it. A model in the file comes first. */
  #modelOf(entries: readonly YamlEntry[]): TestedModel | undefined {
    const text = entry(entries, "model")
    const named = entry(entries, "model_file")
    const inline = text === undefined || this.#reader.isEmpty(text.value) ? undefined : text
    if (inline !== undefined && named !== undefined)
      this.#report.add(
        "SP6006",
        named.key,
        "`model_file` has no effect, because this file also has `model`",
        {
          related: [{ span: inline.key, message: "this model is tested" }],
        },
      )
    if (inline !== undefined) return this.#models.fromText(this.#reader, inline.value)
    const path = this.#reader.text(named?.value, "`model_file`")
    return path === undefined || named === undefined
      ? undefined
      : this.#models.fromFile(path, named.value.span)
  }

  /** The tuples of `tuples`, `tuple_file` and `tuple_files` together. */
  #placedTuples(entries: readonly YamlEntry[]): PlacedTuple[] {
    const files = [
      ...(entry(entries, "tuple_file") === undefined ? [] : [entry(entries, "tuple_file")?.value]),
      ...this.#reader.list(entry(entries, "tuple_files")?.value, "`tuple_files`"),
    ].flatMap((value) => {
      const path = this.#reader.text(value, "the path of a tuple file")
      if (path === undefined || value === undefined) return []
      const file = this.#files.readNamed(path, value.span)
      return file === undefined ? [] : readTupleFile(file, value.span, this.#report)
    })
    return [...readTuples(this.#reader, entry(entries, "tuples")?.value, this.#report), ...files]
  }

  /** The tests. A file without any is a finding, because it would pass. */
  #testsOf(
    entries: readonly YamlEntry[],
    shared: FittingTuples | undefined,
    model: TestedModel | undefined,
  ): ModelTest[] {
    const list = entry(entries, "tests")
    const items = this.#reader.list(list?.value, "`tests`")
    const first = entries[0]
    if (items.length === 0 && first !== undefined && (list === undefined || this.#reader.isEmpty(list.value)))
      this.#report.add("SP6012", (list ?? first).key, "this store has no tests")
    return items.flatMap((value, index) => this.#testOf(value, index, shared, model) ?? [])
  }

  /** One test: its own tuples are added to those of the file. */
  #testOf(
    value: YamlValue,
    index: number,
    shared: FittingTuples | undefined,
    model: TestedModel | undefined,
  ): ModelTest | undefined {
    const entries = this.#reader.entries(value, "a test", testKeys)
    if (entries === undefined) return undefined
    const name = this.#reader.text(entry(entries, "name")?.value, "`name`")
    const description = this.#reader.text(entry(entries, "description")?.value, "`description`")
    const own = this.#placedTuples(entries)
    const asked = readQuestions(this.#reader, entries, this.#report)
    const asks = entries.some((each) => questionKeys.includes(each.name) && !this.#reader.isEmpty(each.value))
    if (!asks && !this.#misspellsOne(value, questionKeys))
      this.#report.add("SP6012", value.span, "this test has no questions")
    const tuples = model && new FittingTuples(model.loaded, this.#report, shared).add(own)
    return {
      name: name ?? `test ${index + 1}`,
      description,
      span: value.span,
      tuples: tuples?.keys ?? [],
      questions: model === undefined ? asked : fittingQuestions(model.loaded, asked, this.#report),
    }
  }
}

function entry(entries: readonly YamlEntry[], name: string): YamlEntry | undefined {
  return entries.find((each) => each.name === name)
}

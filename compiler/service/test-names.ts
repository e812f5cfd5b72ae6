import { Report } from "../core/diagnostic.ts"
import type { Files } from "../core/files.ts"
import { resolvePath } from "../core/load.ts"
import { type SourceFile, type Span, textOf } from "../core/source.ts"
import { readCsv } from "../model-test/csv.ts"
import { embeddedText } from "../model-test/embedded-text.ts"
import type { columnNames } from "../model-test/tuples.ts"
import { type YamlEntry, YamlReader, type YamlValue } from "../model-test/yaml-reader.ts"
import type { NameUse } from "./name-use.ts"

/** The names of models in a file of tests or tuples. */
export interface TestNames {
  readonly uses: readonly NameUse[]
  /** Types, relations and conditions whose place in the file cannot be told, e.g. because the text has escapes. */
  readonly unplaced: readonly string[]
  /** A mistake hides the rest of the file, which can have any name. */
  readonly isCut: boolean
  /** A model in the file itself, with the places of its parts. */
  readonly model: { readonly file: SourceFile; readonly placeOf: (span: Span) => Span } | undefined
  /** Paths of the files of tuples, from the project's root. */
  readonly tupleFiles: readonly string[]
  /** The paths that `model_file` and `config` name. */
  readonly modelFile: string | undefined
  readonly config: string | undefined
}

const known = new WeakMap<SourceFile, TestNames>()

/** The names in a file of tests or tuples, read once for each text. Mistakes are reported elsewhere: what is understood has names. */
export function testNamesOf(file: SourceFile): TestNames {
  let found = known.get(file)
  if (found === undefined) {
    found = new TestFile(file).names()
    known.set(file, found)
  }
  return found
}

/** The paths of all files of tests that belong to the project: those whose models or gateway.conf are the project's. */
export function isOfProject(
  { modelFile, config, model }: TestNames,
  file: SourceFile,
  {
    entry,
    sources,
    files,
  }: { readonly entry: string; readonly sources: readonly string[]; readonly files: Files },
): boolean {
  if (sources.includes(file.path)) return true
  if (!file.path.endsWith(".gw.yaml")) return modelFile !== undefined && sources.includes(modelFile)
  if (config !== undefined) return config === entry
  return model === undefined && nearestEntry(file.path, files) === entry
}

/** The gateway.conf of the folder of a file, or of the nearest folder around it. */
export function nearestEntry(path: string, files: Files): string | undefined {
  const folders = path.split("/").slice(0, -1)
  for (let depth = folders.length; depth >= 0; depth--) {
    const candidate = [...folders.slice(0, depth), "gateway.conf"].join("/")
    if (files.glob(candidate).paths.includes(candidate)) return candidate
  }
  return undefined
}

class TestFile {
  readonly #file: SourceFile
  /** Reads the file, or a line of it. */
  #reader: YamlReader
  readonly #uses: NameUse[] = []
  readonly #unplaced = new Set<string>()
  readonly #tupleFiles: string[] = []
  #model: TestNames["model"]
  #modelFile: string | undefined
  #config: string | undefined
  #isCut = false
  readonly #report = new Report()

  constructor(file: SourceFile) {
    this.#file = file
    this.#reader = new YamlReader(file, this.#report)
  }

  names(): TestNames {
    const { path } = this.#file
    if (/\.csv$/i.test(path)) this.#table()
    else if (/\.jsonl$/i.test(path)) this.#lines()
    else this.#reader.eachDocument((value) => this.#value(value))
    return {
      // Documents with a mistake of YAML are left out by the reader.
      isCut: this.#isCut || this.#report.sorted().some(({ code }) => code === "SP6001"),
      ...{ uses: this.#uses, unplaced: [...this.#unplaced], tupleFiles: this.#tupleFiles },
      ...{ model: this.#model, modelFile: this.#modelFile, config: this.#config },
    }
  }

  /** One tuple in each line. */
  #lines(): void {
    let start = 0
    for (const line of this.#file.text.split("\n")) {
      this.#reader = new YamlReader(this.#file, this.#report, this.#file.span(start, start + line.length))
      this.#reader.eachDocument((value) => this.#value(value))
      start += line.length + 1
    }
  }

  /** A table of tuples: types and relations have columns of their own. */
  #table(): void {
    const { records, mistake } = readCsv(this.#file)
    this.#isCut = mistake !== undefined
    const [head = [], ...rows] = records
    const at = new Map(head.map(({ text }, index) => [text.trim(), index]))
    for (const row of rows) {
      const field = (name: (typeof columnNames)[number]) => row[at.get(name) ?? -1]
      const put = (kind: string, name: (typeof columnNames)[number]): void => {
        const found = field(name)
        if (found !== undefined && found.text !== "")
          this.#add(`${kind}${found.text}`, found.text, found.span)
      }
      put("type ", "user_type")
      put("type ", "object_type")
      put(`relation ${field("user_type")?.text}#`, "user_relation")
      put(`relation ${field("object_type")?.text}#`, "relation")
      put("condition ", "condition_name")
    }
  }

  /** Looks for tuples and questions, wherever they are: their keys tell what they are. */
  #value(value: YamlValue): void {
    if (this.#reader.isList(value)) {
      for (const item of this.#reader.list(value, "")) this.#value(item)
      return
    }
    const entries = this.#reader.entries(value, "") ?? []
    const named = (name: string) => entries.find((each) => each.name === name)?.value
    const object = named("object") ?? this.#firstOf(named("objects"))
    const type =
      this.#typeIn(object) ?? (object === undefined ? this.#reader.text(named("type"), "") : undefined)
    if (named("object") !== undefined || named("assertions") !== undefined) this.#question(entries, type)
    for (const { name, value: each } of entries) {
      this.#path(name, each)
      if (name === "user_filter") this.#filters(each)
      else if (name === "contextual_tuples" || !questionKeys.has(name)) this.#value(each)
    }
  }

  /** A tuple, or an entry of `check`, `list_objects` or `list_users`. */
  #question(entries: readonly YamlEntry[], type: string | undefined): void {
    for (const { name, value } of entries) {
      if (name === "object" || name === "user") this.#subject(value)
      if (name === "objects" || name === "users")
        for (const each of this.#reader.list(value, "")) this.#subject(each)
      if (name === "type") this.#whole("type", value)
      if (name === "relation") this.#relation(type, value)
      if (name === "condition") this.#whole("condition", this.#entry(value, "name"))
      if (name === "assertions") this.#assertions(value, type)
    }
  }

  /** Relations with what is expected of them: true, a list of objects, or users. */
  #assertions(value: YamlValue, type: string | undefined): void {
    for (const { key, name, value: expected } of this.#reader.entries(value, "") ?? []) {
      if (type !== undefined) this.#add(`relation ${type}#${name}`, name, key)
      const users = this.#reader.isList(expected) ? expected : this.#entry(expected, "users")
      if (users !== undefined) for (const each of this.#reader.list(users, "")) this.#subject(each)
    }
  }

  #filters(value: YamlValue): void {
    const all = this.#reader.isList(value) ? this.#reader.list(value, "") : [value]
    for (const each of all) {
      const type = this.#reader.text(this.#entry(each, "type"), "")
      this.#whole("type", this.#entry(each, "type"))
      this.#relation(type, this.#entry(each, "relation"))
    }
  }

  #path(name: string, value: YamlValue): void {
    const path = (each: YamlValue | undefined): string | undefined => {
      const text = this.#reader.text(each, "")
      return text === undefined ? undefined : resolvePath(this.#file.path, text)
    }
    if (name === "model_file") this.#modelFile = path(value)
    if (name === "config") this.#config = path(value)
    if (name === "tuple_file") this.#tupleFiles.push(...[path(value) ?? []].flat())
    if (name === "tuple_files")
      this.#tupleFiles.push(...this.#reader.list(value, "").flatMap((each) => path(each) ?? []))
    const scalar = name === "model" ? this.#reader.scalar(value) : undefined
    const text = this.#reader.text(value, "")
    if (scalar !== undefined && text !== undefined) {
      const { file, placeOf } = embeddedText(scalar, text, value.span)
      this.#model = { file, placeOf }
    }
  }

  #entry(value: YamlValue, name: string): YamlValue | undefined {
    if (this.#reader.isList(value)) return undefined
    return this.#reader.entries(value, "")?.find((each) => each.name === name)?.value
  }

  #firstOf(value: YamlValue | undefined): YamlValue | undefined {
    return value === undefined ? undefined : this.#reader.list(value, "")[0]
  }

  #typeIn(value: YamlValue | undefined): string | undefined {
    return /^([^:#\s]+):/.exec(this.#reader.text(value, "") ?? "")?.[1]
  }

  /** `doc:1` or `group:eng#member`. */
  #subject(value: YamlValue): void {
    const text = this.#reader.text(value, "")
    const [, type, relation] = /^([^:#\s]+)(?::[^#]*)?(?:#(\S+))?$/.exec(text ?? "") ?? []
    if (text === undefined || type === undefined || !text.includes(":")) return
    this.#add(`type ${type}`, type, value.span, text)
    if (relation !== undefined) this.#add(`relation ${type}#${relation}`, relation, value.span, text, true)
  }

  #relation(type: string | undefined, value: YamlValue | undefined): void {
    const text = this.#reader.text(value, "")
    if (type !== undefined && text !== undefined && value !== undefined)
      this.#add(`relation ${type}#${text}`, text, value.span)
  }

  #whole(kind: "type" | "condition", value: YamlValue | undefined): void {
    const text = this.#reader.text(value, "")
    if (text !== undefined && value !== undefined) this.#add(`${kind} ${text}`, text, value.span)
  }

  /** A name inside of a scalar: at the start of its text, or at its end. */
  #add(name: string, part: string, scalar: Span, text = part, atEnd = false): void {
    const raw = textOf(scalar)
    // An alias: the names are where its anchor is.
    if (raw.startsWith("*")) return
    const quote = /^["']/.test(raw) ? 1 : 0
    if (raw.slice(quote, raw.length - quote) !== text) this.#unplaced.add(name)
    else {
      const start = atEnd ? scalar.end - quote - part.length : scalar.start + quote
      this.#uses.push({ name, span: scalar.file.span(start, start + part.length), declares: false })
    }
  }
}

/** What `#question` reads itself. */
const questionKeys: ReadonlySet<string> = new Set([
  ...["user", "users", "object", "objects", "type", "relation", "condition", "assertions", "context"],
])

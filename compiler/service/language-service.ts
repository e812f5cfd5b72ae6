import { analyse, type Compiled } from "../compile.ts"
import { type Diagnostic, Report, type TextEdit } from "../core/diagnostic.ts"
import type { Files } from "../core/files.ts"
import { SourceFile, type Span } from "../core/source.ts"
import type { Document } from "../gateway/ast.ts"
import { formatPresent } from "../gateway/format-present.ts"
import type { Insight } from "../gateway/insight.ts"
import { KeptParts } from "../gateway/kept.ts"
import type { Program } from "../gateway/program.ts"
import { type ParsedFile, parseFile } from "../gateway/reparse.ts"
import { compileModel } from "../model/compile-model.ts"
import { formatModelFile } from "../model/format.ts"
import { completeGateway, completeModel } from "./completion.ts"
import type { Completion } from "./completion-item.ts"
import { hoverGateway, hoverName } from "./hover.ts"
import { type InlayHint, inheritedHints } from "./inlay-hints.ts"
import { type CodeLens, callerLenses } from "./lenses.ts"
import type { Hover } from "./markdown.ts"
import { type NameUse, ProjectNames } from "./names.ts"
import { OpenFiles } from "./open-files.ts"
import { foldsOfGateway, type OutlineItem, outlineOfGateway, outlineOfModel } from "./outline.ts"
import { ParsedModels } from "./parsed-models.ts"
import { ProjectWords } from "./project-words.ts"
import { type SemanticToken, tokensOfGateway, tokensOfModel } from "./semantic-tokens.ts"

/** A remedy of a finding, as edits. */
export interface CodeAction {
  readonly title: string
  readonly finding: Diagnostic
  readonly edits: readonly TextEdit[]
}

/** New text for every place of a name, or why it is not renamed. */
export type Renaming = { readonly edits: readonly TextEdit[] } | { readonly problem: string }

/** What an analysis of a project knows. */
class Analysis {
  readonly compiled: Compiled
  readonly models: ParsedModels
  #names: ProjectNames | undefined
  #words: ProjectWords | undefined

  constructor(compiled: Compiled, models: ParsedModels) {
    this.compiled = compiled
    this.models = models
  }

  get program(): Program {
    return this.compiled.program
  }

  /** Collected at the first question: findings do not need them. */
  get names(): ProjectNames {
    this.#names ??= new ProjectNames(this.compiled.program, this.models)
    return this.#names
  }

  get insight(): Insight {
    return this.compiled.insight
  }

  get words(): ProjectWords {
    this.#words ??= new ProjectWords(this.compiled)
    return this.#words
  }
}

/**
 * Everything an editor asks about a project, over texts in memory: findings, completion, documentation, names, outline, format. It reads
 * files only through `Files`, and has no state besides the open documents, so an answer never depends on earlier texts. Paths are relative to
 * the project's root; offsets are UTF-16 units. Nothing throws for any text.
 */
export class LanguageService {
  readonly #files: OpenFiles
  readonly #entry: string
  readonly #kept = new KeptParts()
  #analysis: Promise<Analysis> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** `entry`: the first file of the project, normally `gateway.conf`. */
  constructor(files: Files, entry: string) {
    this.#files = new OpenFiles(files)
    this.#entry = entry
  }

  /** Opens a document, or changes its text. */
  set(path: string, text: string): void {
    if (this.#files.set(path, text)) this.#analysis = undefined
  }

  /** Closes a document: what is stored counts again. */
  close(path: string): void {
    this.#files.delete(path)
    this.#analysis = undefined
  }

  /** A stored file has changed. */
  changed(): void {
    this.#analysis = undefined
  }

  /** The text of a file as the service sees it. */
  file(path: string): SourceFile | undefined {
    return this.#read(path)
  }

  /** The findings by path: of all files of the project, and of open models that do not belong to it. A file without findings has an empty list. */
  async findings(): Promise<ReadonlyMap<string, readonly Diagnostic[]>> {
    const { compiled } = await this.#analysed()
    const found = new Map<string, Diagnostic[]>(compiled.sources.map((path) => [path, []]))
    for (const finding of compiled.diagnostics) {
      const path = finding.span?.file.path ?? this.#entry
      const known = found.get(path)
      if (known === undefined) found.set(path, [finding])
      else known.push(finding)
    }
    for (const path of this.#files.paths)
      if (!found.has(path)) found.set(path, isModel(path) ? this.#findingsOfModel(path) : [])
    return found
  }

  /** What can be written at an offset. */
  async completion(path: string, offset: number): Promise<readonly Completion[]> {
    const analysis = await this.#analysed()
    const file = this.#fileOf(path, analysis.compiled)
    if (file === undefined) return []
    if (isModel(path)) return completeModel(file, offset, analysis.names)
    const document = documentOf(analysis.compiled, path)
    return document === undefined ? [] : completeGateway(document, offset, analysis)
  }

  /** What is known of the text at an offset. */
  async hover(path: string, offset: number): Promise<Hover | undefined> {
    const analysis = await this.#analysed()
    const document = documentOf(analysis.compiled, path)
    return document === undefined
      ? hoverName(path, offset, analysis.names)
      : hoverGateway(document, offset, analysis)
  }

  /** Where the name at an offset is declared. */
  async definition(path: string, offset: number): Promise<readonly Span[]> {
    return (await this.#usesAt(path, offset)).filter(({ declares }) => declares).map(({ span }) => span)
  }

  /** Where the name at an offset is used, with its declaration. */
  async references(path: string, offset: number): Promise<readonly Span[]> {
    return (await this.#usesAt(path, offset)).map(({ span }) => span)
  }

  /** Renames the name at an offset everywhere in gateway.conf and in the models. */
  async rename(path: string, offset: number, to: string): Promise<Renaming> {
    const { names, compiled } = await this.#analysed()
    const found = names.at(path, offset)
    const [first] = found
    if (first === undefined) return { problem: "there is no declared name here" }
    if (found.length > 1)
      return { problem: `it names relations of several types: ${found.map(({ name }) => name).join(", ")}` }
    const [kind = ""] = first.name.split(" ")
    if (["type", "relation", "condition"].includes(kind) && compiled.tests.length > 0)
      return { problem: "tests of models have the name, too, and are not renamed" }
    if (!/^[A-Za-z_][\w-]{0,49}$/.test(to)) return { problem: `\`${to}\` is not a valid name` }
    const renamed = kind === "relation" ? first.name.replace(/#.*/, `#${to}`) : `${kind} ${to}`
    if (names.of(renamed).length > 0) return { problem: `${renamed} exists already` }
    return { edits: names.of(first.name).map(({ span }) => ({ span, text: to })) }
  }

  /** The remedies of findings that meet a part of a file. */
  async actions(path: string, start: number, end: number): Promise<readonly CodeAction[]> {
    const findings = (await this.findings()).get(path) ?? []
    return findings.flatMap((finding) => {
      const { span, fix = [], help } = finding
      if (span === undefined || fix.length === 0 || span.start > end || span.end < start) return []
      return [{ title: help ?? finding.title, finding, edits: fix }]
    })
  }

  /** The outline of a file. */
  async outline(path: string): Promise<readonly OutlineItem[]> {
    const { models } = await this.#analysed()
    if (isModel(path)) {
      const model = models.documents.find(({ file }) => file.path === path)
      return model === undefined ? [] : outlineOfModel(model.document)
    }
    const parsed = this.#parsed(path)
    return parsed === undefined ? [] : outlineOfGateway(parsed.document)
  }

  /** The parts of a file that can be folded. */
  async folds(path: string): Promise<readonly Span[]> {
    await this.#analysed()
    const parsed = this.#parsed(path)
    return parsed === undefined ? [] : foldsOfGateway(parsed.document)
  }

  /** The statements that operations inherit, behind their paths, in a part of a file. */
  async hints(path: string, start: number, end: number): Promise<readonly InlayHint[]> {
    const { insight } = await this.#analysed()
    return inheritedHints(path, start, end, insight)
  }

  /** Who can call each operation of a file. */
  async lenses(path: string): Promise<readonly CodeLens[]> {
    const { insight } = await this.#analysed()
    return callerLenses(path, insight)
  }

  /** The meaning of the words of a file, in the order of the text. */
  async tokens(path: string): Promise<readonly SemanticToken[]> {
    const { models } = await this.#analysed()
    const model = models.documents.find(({ file }) => file.path === path)
    if (model !== undefined) return tokensOfModel(model.file, model.document)
    const parsed = this.#parsed(path)
    return parsed === undefined ? [] : tokensOfGateway(parsed.document)
  }

  /** The edit that formats a file as `sallyport fmt` does; none when it is formatted, or has a mistake of syntax. */
  async format(path: string): Promise<readonly TextEdit[]> {
    await this.#analysed()
    const text = this.#formatted(path)
    const file = this.#read(path)
    if (file === undefined || text === undefined || text === file.text) return []
    return [{ span: file.span(0, file.text.length), text }]
  }

  #formatted(path: string): string | undefined {
    const report = new Report()
    if (/\.(?:fga|mod)$/.test(path)) {
      const file = this.#read(path)
      const text = file === undefined ? undefined : formatModelFile(file, report)
      return report.blocked ? undefined : text
    }
    const parsed = this.#parsed(path)
    if (parsed === undefined) return undefined
    report.addAll(parsed.findings)
    return report.blocked ? undefined : formatPresent(parsed.document)
  }

  /** A file of gateway.conf as the newest analysis parsed it; parsed now if it does not belong to the project. */
  #parsed(path: string): ParsedFile | undefined {
    if (!path.endsWith(".conf")) return undefined
    const known = this.#kept.parsedFile(path)
    const file = this.#read(path)
    return file === undefined || known?.document.file.text === file.text ? known : parseFile(file)
  }

  /** All uses of the names at an offset. */
  async #usesAt(path: string, offset: number): Promise<readonly NameUse[]> {
    const { names } = await this.#analysed()
    return names.at(path, offset).flatMap(({ name }) => names.of(name))
  }

  /** One analysis after the other, because they share the trees of unchanged text. */
  #analysed(): Promise<Analysis> {
    if (this.#analysis === undefined) {
      const begun = this.#last.then(() => this.#analyse())
      this.#analysis = begun
      this.#last = begun.catch(() => undefined)
    }
    return this.#analysis
  }

  async #analyse(): Promise<Analysis> {
    const compiled = await analyse(this.#files, this.#entry, this.#kept)
    const paths = [...compiled.sources, ...this.#files.paths].filter(isModel)
    // A model that is read again is the same file while its text is the same.
    const files = [...new Set(paths)].flatMap((path) => {
      const file = this.#read(path)
      return file === undefined ? [] : this.#kept.fileOf(path, file.text)
    })
    return new Analysis(compiled, new ParsedModels(files))
  }

  #findingsOfModel(path: string): Diagnostic[] {
    const file = this.#read(path)
    if (file === undefined) return []
    const report = new Report()
    compileModel(file, report)
    return report.sorted()
  }

  #fileOf(path: string, compiled: Compiled): SourceFile | undefined {
    return documentOf(compiled, path)?.file ?? this.#read(path)
  }

  #read(path: string): SourceFile | undefined {
    const open = this.#files.text(path)
    if (open !== undefined) return new SourceFile(path, open)
    const read = this.#files.read(path, Number.POSITIVE_INFINITY)
    return read.kind === "bytes" ? new SourceFile(path, new TextDecoder().decode(read.bytes)) : undefined
  }
}

const isModel = (path: string): boolean => path.endsWith(".fga")

function documentOf({ documents }: Compiled, path: string): Document | undefined {
  return documents.find(({ file }) => file.path === path)
}

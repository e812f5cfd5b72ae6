import { analyse, type Compiled } from "../compile.ts"
import { type Diagnostic, Report, type TextEdit } from "../core/diagnostic.ts"
import type { Files } from "../core/files.ts"
import { Project, resolvePath } from "../core/load.ts"
import { SourceFile, type Span, textOf } from "../core/source.ts"
import type { Document } from "../gateway/ast.ts"
import { formatPresent } from "../gateway/format-present.ts"
import type { Insight } from "../gateway/insight.ts"
import { KeptParts } from "../gateway/kept.ts"
import type { Program } from "../gateway/program.ts"
import { type ParsedFile, parseFile } from "../gateway/reparse.ts"
import { compileModel } from "../model/compile-model.ts"
import { formatModelFile } from "../model/format.ts"
import { StoreFiles } from "../model-test/store-file.ts"
import { completeGateway } from "./completion.ts"
import type { Completion } from "./completion-item.ts"
import { type AskedAt, questionsOfOperations, questionsOfTests } from "./engine-questions.ts"
import { hoverGateway, hoverName } from "./hover.ts"
import { type InlayHint, inheritedHints } from "./inlay-hints.ts"
import { type CodeLens, callerLenses } from "./lenses.ts"
import type { Hover } from "./markdown.ts"
import { completeModel } from "./model-completion.ts"
import { ModelRelations } from "./model-relations.ts"
import type { NameUse } from "./name-use.ts"
import { type OtherFiles, ProjectNames } from "./names.ts"
import { OpenFiles } from "./open-files.ts"
import {
  foldsOfGateway,
  foldsOfModel,
  type OutlineItem,
  outlineOfGateway,
  outlineOfModel,
} from "./outline.ts"
import { ParsedModels } from "./parsed-models.ts"
import { completePolicy, hoverPolicy, isPolicyDocument } from "./policy-help.ts"
import { ProjectWords } from "./project-words.ts"
import { type ProposedRequest, requestsAt } from "./requests-at.ts"
import { placeText } from "./routes-at.ts"
import { type SemanticToken, tokensOfGateway, tokensOfModel } from "./semantic-tokens.ts"
import { type GatewayTestReader, isGatewayTests, TestFindings } from "./test-findings.ts"
import { isOfProject, testNamesOf } from "./test-names.ts"
import { completeYaml, hoverYaml, isKnownYaml, type YamlTerms } from "./yaml-help.ts"

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
  #allNames: ProjectNames | undefined
  #others: OtherFiles | undefined
  #relations: ModelRelations | undefined
  #words: ProjectWords | undefined
  #sources: ReadonlySet<string> | undefined
  readonly #readOthers: () => OtherFiles

  /** `readOthers`: the files of the project that have names besides gateway.conf and models. */
  constructor(compiled: Compiled, models: ParsedModels, readOthers: () => OtherFiles) {
    this.#readOthers = readOthers
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

  /** Also those in tests, tuples and policy documents: following and renaming a name need them all. */
  get allNames(): ProjectNames {
    this.#allNames ??= new ProjectNames(this.compiled.program, this.models, this.others)
    return this.#allNames
  }

  get others(): OtherFiles {
    this.#others ??= this.#readOthers()
    return this.#others
  }

  get relations(): ModelRelations {
    this.#relations ??= new ModelRelations(this.models)
    return this.#relations
  }

  get insight(): Insight {
    return this.compiled.insight
  }

  get sources(): ReadonlySet<string> {
    this.#sources ??= new Set(this.compiled.sources)
    return this.#sources
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
  readonly #tests: TestFindings | undefined
  #analysis: Promise<Analysis> | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** `entry`: the first file of the project, normally `gateway.conf`. `readTests`: reads gateway tests; without it they have no findings. */
  constructor(files: Files, entry: string, readTests?: GatewayTestReader) {
    this.#files = new OpenFiles(files)
    this.#entry = entry
    this.#tests = readTests && new TestFindings(this.#files, readTests)
  }

  /** Opens a document, or changes its text. */
  set(path: string, text: string): void {
    if (this.#files.set(path, text)) this.#outdate(path)
  }

  /** Closes a document: what is stored counts again. */
  close(path: string): void {
    this.#files.delete(path)
    this.#outdate(path)
  }

  /** A stored file has changed. */
  changed(): void {
    this.#outdate()
  }

  /** `path`: the only document that has changed. */
  #outdate(path?: string): void {
    this.#analysis = undefined
    // A plan does not depend on tests of the gateway.
    if (path === undefined || !isGatewayTests(path)) this.#tests?.forget()
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
    for (const path of this.#files.paths) if (!found.has(path)) found.set(path, this.#findingsAlone(path))
    return found
  }

  /**
   * The findings of the open gateway tests by path, with empty lists. Apart from `findings`, because names in tests are those of a plan: after a change of the
   * project it has to be compiled as a whole.
   */
  async testFindings(): Promise<ReadonlyMap<string, readonly Diagnostic[]>> {
    const found = new Map<string, readonly Diagnostic[]>()
    for (const path of this.#files.paths.filter(isGatewayTests)) {
      const file = this.#read(path)
      if (file !== undefined && this.#tests !== undefined) found.set(path, await this.#tests.of(file))
    }
    return found
  }

  /** The paths of all files of the project that were read or are missing, e.g. those that gateway.conf includes. */
  async sources(): Promise<ReadonlySet<string>> {
    return (await this.#analysed()).sources
  }

  /** What can be written at an offset. */
  async completion(path: string, offset: number): Promise<readonly Completion[]> {
    const analysis = await this.#analysed()
    const file = this.#fileOf(path, analysis.compiled)
    if (file === undefined) return []
    if (isModel(path)) return completeModel(file, offset, analysis)
    if (isPolicyDocument(file)) return completePolicy(file, offset, analysis.program)
    if (isKnownYaml(path)) return completeYaml(file, offset, this.#yamlTerms(path, analysis))
    const document = this.#documentOf(analysis.compiled, path)
    return document === undefined ? [] : completeGateway(document, offset, analysis)
  }

  /** What is known of the text at an offset. */
  async hover(path: string, offset: number): Promise<Hover | undefined> {
    const analysis = await this.#analysed()
    const file = this.#read(path)
    if (file !== undefined && isPolicyDocument(file))
      return hoverName(path, offset, analysis.allNames) ?? hoverPolicy(file, offset)
    if (isKnownYaml(path)) {
      const named = hoverName(path, offset, analysis.allNames)
      return named ?? (file === undefined ? undefined : hoverYaml(file, offset))
    }
    const document = this.#documentOf(analysis.compiled, path)
    return document === undefined
      ? hoverName(path, offset, analysis.names)
      : hoverGateway(document, offset, analysis)
  }

  /** Where the name at an offset is declared, or the files whose path is there. */
  async definition(path: string, offset: number): Promise<readonly Span[]> {
    const uses = await this.#usesAt(path, offset)
    if (uses.length === 0) return this.#filesNamedAt(path, offset)
    return uses.filter(({ declares }) => declares).map(({ span }) => span)
  }

  #filesNamedAt(path: string, offset: number): Span[] {
    const text = this.#read(path)?.text ?? ""
    const start =
      offset - (/[\w./*@-]*$/.exec(text.slice(Math.max(0, offset - 200), offset))?.[0].length ?? 0)
    const written = /^[\w./*@-]+\.\w+/.exec(text.slice(start, start + 400))?.[0]
    const resolved = written === undefined ? undefined : resolvePath(path, written)
    if (resolved === undefined) return []
    return this.#files.glob(resolved).paths.flatMap((each) => this.#read(each)?.span(0, 0) ?? [])
  }

  /** Where the name at an offset is used, with its declaration or without. */
  async references(path: string, offset: number, withDeclaration = true): Promise<readonly Span[]> {
    const uses = await this.#usesAt(path, offset)
    return uses.filter(({ declares }) => withDeclaration || !declares).map(({ span }) => span)
  }

  /** The name at an offset, which can be renamed. */
  async nameAt(path: string, offset: number): Promise<Span | undefined> {
    return (await this.#analysed()).allNames.at(path, offset)[0]?.span
  }

  /**
   * Renames the name at an offset everywhere: in gateway.conf, in the models, in tests and tuples, and in policy documents. Refused if a place cannot be
   * renamed, or if the project would have a mistake afterwards that it does not have now.
   */
  async rename(path: string, offset: number, to: string): Promise<Renaming> {
    const { allNames: names, compiled, others } = await this.#analysed()
    const found = names.at(path, offset)
    const [first] = found
    if (first === undefined) return { problem: "there is no declared name here" }
    if (found.length > 1)
      return { problem: `it names relations of several types: ${found.map(({ name }) => name).join(", ")}` }
    if (!/^[A-Za-z_][\w-]{0,49}$/.test(to)) return { problem: `\`${to}\` is not a valid name` }
    const [kind = ""] = first.name.split(" ")
    const renamed = kind === "relation" ? first.name.replace(/#.*/, `#${to}`) : `${kind} ${to}`
    if (names.of(renamed).length > 0) return { problem: `${renamed} exists already` }
    const [unplaced] = names.unplaced(first.name)
    if (unplaced !== undefined)
      return {
        problem: `${unplaced} has a mistake that hides its names, or has the name in a form that cannot be renamed, e.g. with escapes`,
      }
    const edits = names.of(first.name).map(({ span }) => ({ span, text: to }))
    const files = this.#filesAfter(edits)
    const mistake =
      (await this.#mistakeAfter(files, compiled)) ?? (await this.#testMistakeAfter(files, others.tests))
    return mistake === undefined
      ? { edits }
      : { problem: `the project would have a mistake afterwards: ${mistake}` }
  }

  #filesAfter(edits: readonly TextEdit[]): OpenFiles {
    const files = new OpenFiles(this.#files)
    for (const path of new Set(edits.map(({ span }) => span.file.path))) {
      const file = this.#read(path)
      const own = edits.filter(({ span }) => span.file.path === path)
      if (file !== undefined) files.set(path, edited(file.text, own))
    }
    return files
  }

  /** The first error that the project would have with these files, if it would have more than now. */
  async #mistakeAfter(files: OpenFiles, before: Compiled): Promise<string | undefined> {
    const { diagnostics } = await analyse(files, this.#entry, new KeptParts())
    const errors = (all: readonly Diagnostic[]) => all.filter(({ severity }) => severity === "error")
    const [now, then] = [errors(before.diagnostics), errors(diagnostics)]
    return then.length <= now.length ? undefined : addedMistake(now, then)
  }

  /** The same for tests of the gateway, which can have a name where no key says what it is, e.g. in a row of `each`. */
  async #testMistakeAfter(files: OpenFiles, tests: readonly SourceFile[]): Promise<string | undefined> {
    const after = this.#tests?.over(files)
    for (const { path, text } of tests.filter((file) => isGatewayTests(file.path))) {
      const now = await this.#tests?.of(new SourceFile(path, text))
      const then = await after?.of(new SourceFile(path, files.text(path) ?? text))
      const added = addedMistake(now ?? [], then ?? [])
      if (added !== undefined) return added
    }
    return undefined
  }

  /** The remedies of findings that meet a part of a file. */
  async actions(path: string, start: number, end: number): Promise<readonly CodeAction[]> {
    const findings = (await this.findings()).get(path) ?? []
    return findings.flatMap((finding) => {
      const { span, fix = [], help } = finding
      if (span === undefined || fix.length === 0 || span.start > end || span.end < start) return []
      return [{ title: remedyOf(fix) ?? help ?? finding.title, finding, edits: fix }]
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

  /** The parts of a file that can be folded; undefined for YAML and XML, which editors fold themselves. */
  async folds(path: string): Promise<readonly Span[] | undefined> {
    const { models } = await this.#analysed()
    const model = models.documents.find(({ file }) => file.path === path)
    if (model !== undefined) return foldsOfModel(model.document)
    const parsed = this.#parsed(path)
    return parsed === undefined ? undefined : foldsOfGateway(parsed.document)
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

  /** The requests that a place in gateway.conf is about, as `requestsAt` proposes them. */
  async requests(path: string, offset: number): Promise<readonly ProposedRequest[]> {
    const { insight } = await this.#analysed()
    return requestsAt(path, offset, insight)
  }

  /** What of a file a running engine can be asked: assertions of tests, and who passes `require` statements with a known object. */
  async engineQuestions(path: string): Promise<readonly AskedAt[]> {
    const { insight } = await this.#analysed()
    const file = /\.fga\.ya?ml$/.test(path) ? this.#read(path) : undefined
    return file === undefined ? questionsOfOperations(path, insight) : questionsOfTests(file)
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
    const { allNames: names } = await this.#analysed()
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
    return new Analysis(compiled, new ParsedModels(files), () => this.#othersOf(compiled))
  }

  /** Files of tests that belong to the project, the files of tuples that they name, and policy documents. */
  #othersOf({ sources }: Compiled): OtherFiles {
    const read = (path: string): SourceFile[] => {
      const file = this.#read(path)
      return file === undefined ? [] : [this.#kept.fileOf(path, file.text)]
    }
    const paths = testPatterns.flatMap((pattern) => this.#files.glob(pattern).paths)
    const project = { entry: this.#entry, sources, files: this.#files }
    const tests = paths.flatMap(read).filter((file) => isOfProject(testNamesOf(file), file, project))
    const tuples = new Set(tests.flatMap((file) => testNamesOf(file).tupleFiles))
    const data = [...tuples].filter((path) => /\.(?:ya?ml|jsonl?|csv)$/i.test(path))
    return {
      tests: [...tests, ...data.flatMap(read)],
      policies: sources.filter((path) => path.endsWith(".xml")).flatMap(read),
    }
  }

  /** The findings of an open document that does not belong to the project: a model, or tests of models. */
  #findingsAlone(path: string): Diagnostic[] {
    const file = this.#read(path)
    const report = new Report()
    if (file !== undefined && isModel(path)) compileModel(file, report)
    if (file !== undefined && path.endsWith(".fga.yaml"))
      new StoreFiles(new Project(this.#files, report), report).read(file)
    return report.sorted().filter(({ span }) => span?.file.path === path)
  }

  #yamlTerms(path: string, { program, names, insight }: Analysis): YamlTerms {
    const folder = path.slice(0, path.lastIndexOf("/") + 1)
    const files = (pattern: string) =>
      this.#files.glob(pattern).paths.flatMap((each) => (each === path ? [] : relativePath(folder, each)))
    return { program, names, routes: () => [...insight.routes.keys()].map(({ key }) => key), files }
  }

  /** A file of gateway.conf, also one that no other includes yet. */
  #documentOf(compiled: Compiled, path: string): Document | undefined {
    return documentOf(compiled, path) ?? this.#parsed(path)?.document
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

/** A path of the project from a folder of it, which ends with `/` or is empty. */
function relativePath(folder: string, path: string): string {
  const [from, to] = [folder.split("/").slice(0, -1), path.split("/")]
  let same = 0
  while (same < from.length && from[same] === to[same]) same++
  return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/")
}

/** Files of tests: of models, and of the gateway. */
const testPatterns = ["**/*.fga.yaml", "**/*.gw.yaml"]

const isModel = (path: string): boolean => path.endsWith(".fga")

function documentOf({ documents }: Compiled, path: string): Document | undefined {
  return documents.find(({ file }) => file.path === path)
}

/** What one edit does, for a menu. Undefined if it is not short: the finding's help says it better then. */
function remedyOf([first, second]: readonly TextEdit[]): string | undefined {
  if (first === undefined || second !== undefined) return undefined
  const old = textOf(first.span)
  // Visible characters of one line: a finding names an invisible one by its number.
  const isShort = (text: string): boolean => /^[!-~](?:[ -~]{0,38}[!-~])?$/.test(text)
  if (!isShort(old)) return undefined
  if (first.text === "") return `Remove \`${old}\``
  return isShort(first.text) ? `Replace \`${old}\` with \`${first.text}\`` : undefined
}

/** The first finding that there was not before, with its place. */
function addedMistake(before: readonly Diagnostic[], after: readonly Diagnostic[]): string | undefined {
  const known = new Set(before.map(({ code, detail }) => `${code} ${detail}`))
  const added = after.find(({ code, detail }) => !known.has(`${code} ${detail}`))
  if (added === undefined) return undefined
  return `${added.detail}${added.span === undefined ? "" : ` (${placeText(added.span)})`}`
}

/** A text after edits that do not overlap. */
function edited(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((a, b) => b.span.start - a.span.start)
    .reduce((all, { span, text: by }) => `${all.slice(0, span.start)}${by}${all.slice(span.end)}`, text)
}

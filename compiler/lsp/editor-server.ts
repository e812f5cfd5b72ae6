import {
  type ClientCapabilities,
  CodeActionKind,
  type Connection,
  type Diagnostic as LspDiagnostic,
  MarkupKind,
  MessageType,
  type Position,
  ResponseError,
  ShowMessageNotification,
} from "vscode-languageserver"
import type { SourceFile } from "../core/source.ts"
import type { AskableQuestion } from "../service/engine-questions.ts"
import type { ProposedRequest } from "../service/requests-at.ts"
import {
  askingLensOf,
  codeLensOf,
  completionItemOf,
  diagnosticOf,
  editsOf,
  encodedTokens,
  inlayHintOf,
  locationsOf,
  offsetOf,
  rangeOf,
  symbolOf,
  workspaceEditOf,
} from "./convert.ts"
import type { EngineAnswers } from "./engine-answers.ts"
import type { EditorProject, LspFindings } from "./project.ts"
import type { EditorProjects } from "./projects.ts"

/** What `sallyport/requests` answers. */
interface RequestsAnswer {
  /** The address of the first file of the project. */
  readonly config: string
  readonly requests: readonly ProposedRequest[]
}

/** How long nothing is typed before gateway tests are read again. */
const idleMs = 300

/** One editor: its requests, answered by its projects. */
export class EditorServer {
  readonly #connection: Connection
  readonly #projects: EditorProjects
  readonly #answers: EngineAnswers
  /** Addresses whose findings the editor shows. */
  #shown: ReadonlySet<string> = new Set()
  #shownTests: ReadonlySet<string> = new Set()
  /** Begins to read gateway tests again. */
  #idle: NodeJS.Timeout | undefined
  /** What the editor asks again at a request of the server. */
  readonly #refreshes: { readonly hints: boolean; readonly lenses: boolean }
  #isTelling = false
  #isStale = false

  constructor(
    connection: Connection,
    projects: EditorProjects,
    answers: EngineAnswers,
    { workspace }: ClientCapabilities,
  ) {
    this.#connection = connection
    this.#projects = projects
    this.#answers = answers
    this.#refreshes = {
      hints: workspace?.inlayHint?.refreshSupport === true,
      lenses: workspace?.codeLens?.refreshSupport === true,
    }
    this.tell()
  }

  async completion(uri: string, position: Position) {
    const found = await this.#at(uri, position, ({ service }, path, offset) =>
      service.completion(path, offset),
    )
    return (found ?? []).map(completionItemOf)
  }

  async hover(uri: string, position: Position) {
    const found = await this.#at(uri, position, ({ service }, path, offset) => service.hover(path, offset))
    if (found === undefined) return null
    return { contents: { kind: MarkupKind.Markdown, value: found.markdown }, range: rangeOf(found.span) }
  }

  async definition(uri: string, position: Position) {
    const found = await this.#at(uri, position, async ({ service, uriOf }, path, offset) =>
      locationsOf(await service.definition(path, offset), uriOf),
    )
    return found ?? []
  }

  async references(uri: string, position: Position, withDeclaration: boolean) {
    const found = await this.#at(uri, position, async ({ service, uriOf }, path, offset) =>
      locationsOf(await service.references(path, offset, withDeclaration), uriOf),
    )
    return found ?? []
  }

  /** What `rename` would rename. */
  async name(uri: string, position: Position) {
    const found = await this.#at(uri, position, ({ service }, path, offset) => service.nameAt(path, offset))
    return found === undefined ? null : rangeOf(found)
  }

  async rename(uri: string, position: Position, name: string) {
    const found = await this.#at(uri, position, async ({ service, uriOf }, path, offset) => {
      const renaming = await service.rename(path, offset, name)
      return "problem" in renaming ? renaming.problem : workspaceEditOf(renaming.edits, uriOf)
    })
    // RequestFailed: the editor shows the message.
    if (typeof found === "string") throw new ResponseError(-32803, found)
    return found ?? null
  }

  async outline(uri: string) {
    const found = await this.#in(uri, ({ service }, path) => service.outline(path))
    return (found ?? []).map(symbolOf)
  }

  async folds(uri: string) {
    const found = await this.#in(uri, ({ service }, path) => service.folds(path))
    // With null, editors fold by indentation.
    if (found === undefined) return null
    return found.map((span) => {
      const { start, end } = rangeOf(span)
      return { startLine: start.line, endLine: Math.max(start.line, end.line - 1) }
    })
  }

  async format(uri: string) {
    return editsOf((await this.#in(uri, ({ service }, path) => service.format(path))) ?? [])
  }

  async hints(uri: string, start: Position, end: Position) {
    const found = await this.#inFile(uri, async ({ service, uriOf }, path, file) => {
      const hints = await service.hints(path, offsetOf(file, start), offsetOf(file, end))
      return hints.map((hint) => inlayHintOf(hint, uriOf))
    })
    return found ?? []
  }

  /** `command`: asks a running engine the question that it gets. */
  async lenses(uri: string, command: string) {
    const found = await this.#in(uri, async ({ service }, path) => {
      const asked = await service.engineQuestions(path)
      return [
        ...(await service.lenses(path)).map(codeLensOf),
        ...asked.map((each) => askingLensOf(this.#answers.lensOf(each), command, each.question)),
      ]
    })
    return found ?? []
  }

  /** Asks a running engine. The answer stands in the lens; an editor that does not ask for lenses again gets it as a message. */
  async ask(question: AskableQuestion) {
    const answer = await this.#answers.ask(question)
    if (this.#refreshes.lenses) this.#refreshLenses()
    else
      await this.#connection.sendNotification(ShowMessageNotification.type, {
        type: MessageType.Info,
        message: `Running engine: ${answer}`,
      })
    return answer
  }

  /** The answer to `sallyport/requests`; null for a document that belongs to no project. */
  async requests(uri: string, position: Position): Promise<RequestsAnswer | null> {
    const found = await this.#at(uri, position, async ({ service, entry, uriOf }, path, offset) => {
      // A file that no other includes, e.g. `gateway.staging.conf`, is the first file of its own project.
      const isIncluded = (await service.sources()).has(path)
      return { config: isIncluded ? uriOf(entry) : uri, requests: await service.requests(path, offset) }
    })
    return found ?? null
  }

  async tokens(uri: string) {
    return encodedTokens((await this.#in(uri, ({ service }, path) => service.tokens(path))) ?? [])
  }

  async actions(uri: string, start: Position, end: Position) {
    const found = await this.#inFile(uri, async ({ service, uriOf }, path, file) => {
      const actions = await service.actions(path, offsetOf(file, start), offsetOf(file, end))
      return actions.map(({ title, finding, edits }) => ({
        ...{ title, kind: CodeActionKind.QuickFix, isPreferred: true },
        diagnostics: [diagnosticOf(finding, uriOf)],
        edit: workspaceEditOf(edits, uriOf),
      }))
    })
    return found ?? []
  }

  /** Sends the findings of the newest texts. Texts that arrive meanwhile are compiled together afterwards. */
  tell(): void {
    this.#isStale = true
    clearTimeout(this.#idle)
    if (this.#isTelling) return
    this.#isTelling = true
    // After the messages that have arrived already.
    setImmediate(() => {
      this.#tellAll()
        .catch((error: unknown) => this.#connection.console.error(String(error)))
        .finally(() => {
          this.#isTelling = false
        })
    })
  }

  async #tellAll(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      for (const project of this.#projects.all) await project.refresh()
      if (this.#isStale) continue
      this.#shown = await this.#send(this.#projects.findings, this.#shown)
      clearTimeout(this.#idle)
      this.#idle = setTimeout(() => this.#tellTests(), idleMs)
      // They can depend on other files than the one that was changed.
      if (this.#refreshes.hints) this.#connection.languages.inlayHint.refresh().catch(() => undefined)
      if (this.#refreshes.lenses) this.#refreshLenses()
    }
  }

  #refreshLenses(): void {
    this.#connection.sendRequest("workspace/codeLens/refresh").catch(() => undefined)
  }

  /** Findings of gateway tests follow when nothing is being typed: they need a plan. */
  #tellTests(): void {
    const refreshed = async () => {
      for (const project of this.#projects.all) await project.refreshTests()
      if (!this.#isStale) this.#shownTests = await this.#send(this.#projects.testFindings, this.#shownTests)
    }
    refreshed().catch((error: unknown) => this.#connection.console.error(String(error)))
  }

  /** Sends findings, and empty lists for files that have no more; returns which files have some. */
  async #send(findings: LspFindings, shown: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const send = (uri: string, diagnostics: LspDiagnostic[]) =>
      this.#connection.sendDiagnostics({ uri, diagnostics })
    for (const uri of shown) if (!findings.has(uri)) await send(uri, [])
    for (const [uri, each] of findings) await send(uri, [...each])
    return new Set(findings.keys())
  }

  /** Asks the project that answers for a document. */
  async #in<Found>(
    uri: string,
    ask: (project: EditorProject, path: string) => Promise<Found>,
  ): Promise<Found | undefined> {
    const place = await this.#projects.placeOf(uri)
    return place === undefined ? undefined : ask(place.project, place.path)
  }

  /** The same, if the document has a text. */
  #inFile<Found>(
    uri: string,
    ask: (project: EditorProject, path: string, file: SourceFile) => Promise<Found>,
  ): Promise<Found | undefined> {
    return this.#in(uri, async (project, path) => {
      const file = project.service.file(path)
      return file === undefined ? undefined : ask(project, path, file)
    })
  }

  #at<Found>(
    uri: string,
    position: Position,
    ask: (project: EditorProject, path: string, offset: number) => Promise<Found>,
  ): Promise<Found | undefined> {
    return this.#inFile(uri, (project, path, file) => ask(project, path, offsetOf(file, position)))
  }
}

import { isAbsolute, join, relative, sep } from "node:path"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath, pathToFileURL } from "node:url"
import {
  type ClientCapabilities,
  CodeActionKind,
  type Connection,
  type InitializeParams,
  type InitializeResult,
  MarkupKind,
  type Position,
  ResponseError,
  TextDocumentSyncKind,
} from "vscode-languageserver"
import { createConnection } from "vscode-languageserver/node"
import type { Diagnostic } from "../core/diagnostic.ts"
import { DiskFiles } from "../core/disk-files.ts"
import type { SourceFile } from "../core/source.ts"
import { LanguageService } from "../service/language-service.ts"
import {
  codeLensOf,
  completionItemOf,
  diagnosticOf,
  editsOf,
  encodedTokens,
  inlayHintOf,
  offsetOf,
  rangeOf,
  symbolOf,
  tokensLegend,
  type UriOf,
  workspaceEditOf,
} from "./convert.ts"

/** What the server offers. Texts are sent whole: a file of gateway.conf is small, and the service compiles the project for each text anyway. */
const capabilities: InitializeResult["capabilities"] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Full, save: true },
  completionProvider: { triggerCharacters: ["{", ".", "#", "[", " "] },
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: true,
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  documentFormattingProvider: true,
  inlayHintProvider: true,
  codeLensProvider: {},
  semanticTokensProvider: { legend: tokensLegend, full: true },
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
}

/** How the server is started. */
export interface LspTerms {
  /** The folder of the project if the editor opens none. */
  readonly folder: string
  /** The first file of the project. */
  readonly entry: string
  readonly version: string
}

/** Answers an editor by the Language Server Protocol (3.17) until it ends the connection. Resolves then. */
export function serveEditor(input: Readable, output: Writable, terms: LspTerms): Promise<void> {
  const connection = createConnection(input, output)
  const ended = new Promise<void>((resolve) => connection.onExit(resolve))
  let server: EditorServer | undefined
  connection.onInitialize((params) => {
    server = new EditorServer(connection, rootOf(params) ?? terms.folder, terms.entry, params.capabilities)
    return { capabilities, serverInfo: { name: "sallyport", version: terms.version } }
  })
  const opened = (): EditorServer => server as EditorServer
  connection.onDidOpenTextDocument(({ textDocument: { uri, text } }) => opened().set(uri, text))
  connection.onDidChangeTextDocument(({ textDocument: { uri }, contentChanges }) => {
    const last = contentChanges.at(-1)
    if (last !== undefined) opened().set(uri, last.text)
  })
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => opened().close(uri))
  connection.onDidChangeWatchedFiles(() => opened().changed())
  connection.onDidSaveTextDocument(() => opened().changed())
  connection.onCompletion(({ textDocument, position }) => opened().completion(textDocument.uri, position))
  connection.onHover(({ textDocument, position }) => opened().hover(textDocument.uri, position))
  connection.onDefinition(({ textDocument, position }) =>
    opened().places("definition", textDocument.uri, position),
  )
  connection.onReferences(({ textDocument, position }) =>
    opened().places("references", textDocument.uri, position),
  )
  connection.onRenameRequest(({ textDocument, position, newName }) =>
    opened().rename(textDocument.uri, position, newName),
  )
  connection.onDocumentSymbol(({ textDocument: { uri } }) => opened().outline(uri))
  connection.onFoldingRanges(({ textDocument: { uri } }) => opened().folds(uri))
  connection.onDocumentFormatting(({ textDocument: { uri } }) => opened().format(uri))
  connection.onCodeAction(({ textDocument: { uri }, range }) => opened().actions(uri, range.start, range.end))
  connection.onCodeLens(({ textDocument: { uri } }) => opened().lenses(uri))
  connection.languages.inlayHint.on(({ textDocument: { uri }, range }) =>
    opened().hints(uri, range.start, range.end),
  )
  connection.languages.semanticTokens.on(({ textDocument: { uri } }) => opened().tokens(uri))
  connection.listen()
  return ended
}

function rootOf({ workspaceFolders, rootUri }: InitializeParams): string | undefined {
  const uri = workspaceFolders?.[0]?.uri ?? rootUri ?? undefined
  return uri?.startsWith("file:") === true ? fileURLToPath(uri) : undefined
}

/** One editor and its project. */
class EditorServer {
  readonly #connection: Connection
  readonly #root: string
  readonly #service: LanguageService
  /** Paths whose findings the editor shows. */
  readonly #shown = new Set<string>()
  /** What the editor asks again at a request of the server. */
  readonly #refreshes: { readonly hints: boolean; readonly lenses: boolean }
  #isTelling = false
  #isStale = false

  constructor(connection: Connection, root: string, entry: string, { workspace }: ClientCapabilities) {
    this.#connection = connection
    this.#refreshes = {
      hints: workspace?.inlayHint?.refreshSupport === true,
      lenses: workspace?.codeLens?.refreshSupport === true,
    }
    this.#root = root
    this.#service = new LanguageService(new DiskFiles(root), entry)
    this.#tell()
  }

  set(uri: string, text: string): void {
    const path = this.#pathOf(uri)
    if (path === undefined) return
    this.#service.set(path, text)
    this.#tell()
  }

  close(uri: string): void {
    const path = this.#pathOf(uri)
    if (path === undefined) return
    this.#service.close(path)
    this.#tell()
  }

  changed(): void {
    this.#service.changed()
    this.#tell()
  }

  async completion(uri: string, position: Position) {
    const found = await this.#at(uri, position, (path, offset) => this.#service.completion(path, offset))
    return (found ?? []).map(completionItemOf)
  }

  async hover(uri: string, position: Position) {
    const found = await this.#at(uri, position, (path, offset) => this.#service.hover(path, offset))
    if (found === undefined) return null
    return { contents: { kind: MarkupKind.Markdown, value: found.markdown }, range: rangeOf(found.span) }
  }

  async places(what: "definition" | "references", uri: string, position: Position) {
    const found = await this.#at(uri, position, (path, offset) => this.#service[what](path, offset))
    return (found ?? []).map((span) => ({ uri: this.#uriOf(span.file.path), range: rangeOf(span) }))
  }

  async rename(uri: string, position: Position, name: string) {
    const found = await this.#at(uri, position, (path, offset) => this.#service.rename(path, offset, name))
    if (found === undefined) return null
    // RequestFailed: the editor shows the message.
    if ("problem" in found) throw new ResponseError(-32803, found.problem)
    return workspaceEditOf(found.edits, this.#uriOf)
  }

  async outline(uri: string) {
    const path = this.#pathOf(uri)
    return path === undefined ? [] : (await this.#service.outline(path)).map(symbolOf)
  }

  async folds(uri: string) {
    const path = this.#pathOf(uri)
    return (path === undefined ? [] : await this.#service.folds(path)).map((span) => {
      const { start, end } = rangeOf(span)
      return { startLine: start.line, endLine: Math.max(start.line, end.line - 1) }
    })
  }

  async format(uri: string) {
    const path = this.#pathOf(uri)
    return path === undefined ? [] : editsOf(await this.#service.format(path))
  }

  async hints(uri: string, start: Position, end: Position) {
    const path = this.#pathOf(uri)
    const file = path === undefined ? undefined : this.#service.file(path)
    if (path === undefined || file === undefined) return []
    const found = await this.#service.hints(path, offsetOf(file, start), offsetOf(file, end))
    return found.map((hint) => inlayHintOf(hint, this.#uriOf))
  }

  async lenses(uri: string) {
    const path = this.#pathOf(uri)
    return path === undefined ? [] : (await this.#service.lenses(path)).map(codeLensOf)
  }

  async tokens(uri: string) {
    const path = this.#pathOf(uri)
    return encodedTokens(path === undefined ? [] : await this.#service.tokens(path))
  }

  async actions(uri: string, start: Position, end: Position) {
    const path = this.#pathOf(uri)
    const file = path === undefined ? undefined : this.#service.file(path)
    if (path === undefined || file === undefined) return []
    const found = await this.#service.actions(path, offsetOf(file, start), offsetOf(file, end))
    return found.map(({ title, finding, edits }) => ({
      ...{ title, kind: CodeActionKind.QuickFix, isPreferred: true },
      diagnostics: [diagnosticOf(finding, this.#uriOf)],
      edit: workspaceEditOf(edits, this.#uriOf),
    }))
  }

  /** Sends the findings of the newest texts. Texts that arrive meanwhile are compiled together afterwards. */
  #tell(): void {
    this.#isStale = true
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
      const found = await this.#service.findings()
      if (this.#isStale) continue
      for (const path of this.#shown) if (!found.has(path)) await this.#show(path, [])
      for (const [path, findings] of found) await this.#show(path, findings)
      // They can depend on other files than the one that was changed.
      if (this.#refreshes.hints) this.#connection.languages.inlayHint.refresh().catch(() => undefined)
      if (this.#refreshes.lenses)
        this.#connection.sendRequest("workspace/codeLens/refresh").catch(() => undefined)
    }
  }

  async #show(path: string, findings: readonly Diagnostic[]): Promise<void> {
    if (findings.length === 0 && !this.#shown.delete(path)) return
    if (findings.length > 0) this.#shown.add(path)
    const diagnostics = findings.map((finding) => diagnosticOf(finding, this.#uriOf))
    await this.#connection.sendDiagnostics({ uri: this.#uriOf(path), diagnostics })
  }

  readonly #uriOf: UriOf = (path) => pathToFileURL(join(this.#root, path)).href

  /** A path relative to the root; undefined for a document outside of the project. */
  #pathOf(uri: string): string | undefined {
    if (!uri.startsWith("file:")) return undefined
    const path = relative(this.#root, fileURLToPath(uri))
    return path.startsWith("..") || isAbsolute(path) ? undefined : path.split(sep).join("/")
  }

  async #at<Found>(
    uri: string,
    position: Position,
    ask: (path: string, offset: number) => Promise<Found>,
  ): Promise<Found | undefined> {
    const path = this.#pathOf(uri)
    const file: SourceFile | undefined = path === undefined ? undefined : this.#service.file(path)
    if (path === undefined || file === undefined) return undefined
    return ask(path, offsetOf(file, position))
  }
}

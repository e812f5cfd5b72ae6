import { resolve, sep } from "node:path"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import {
  CodeActionKind,
  type Connection,
  DocumentFormattingRequest,
  type InitializeParams,
  type InitializeResult,
  type TextDocumentPositionParams,
  TextDocumentSyncKind,
} from "vscode-languageserver"
import { createConnection } from "vscode-languageserver/node"
import { tokensLegend } from "./convert.ts"
import { EditorServer } from "./editor-server.ts"
import { EngineAnswers, type EngineAsker } from "./engine-answers.ts"
import { EditorProjects } from "./projects.ts"

/** Editors register the commands of all servers that they start, so each server needs a name of its own. */
const askCommand = `sallyport.ask.${process.pid}`

/** What the server offers. Texts are sent whole: a file of gateway.conf is small, and the service compiles the project for each text anyway. */
const capabilities: InitializeResult["capabilities"] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Full, save: true },
  completionProvider: { triggerCharacters: ["{", ".", "#", "[", " ", '"', "<"] },
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  inlayHintProvider: true,
  codeLensProvider: {},
  executeCommandProvider: { commands: [askCommand] },
  semanticTokensProvider: { legend: tokensLegend, full: true },
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
  experimental: { requests: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
}

/** How the server is started. */
export interface LspTerms {
  /** The folder of the project if the editor opens none. */
  readonly folder: string
  /** The first file of the project. */
  readonly entry: string
  readonly version: string
  /** Asks a running engine, when a person clicks a question. */
  readonly ask: EngineAsker
}

/** Answers an editor by the Language Server Protocol (3.17) until it ends the connection. Resolves then. */
export function serveEditor(input: Readable, output: Writable, terms: LspTerms): Promise<void> {
  const connection = createConnection(input, output)
  const ended = new Promise<void>((resolve) => connection.onExit(resolve))
  let opened: Opened | undefined
  let follows = false
  let registers = false
  connection.onInitialize((params) => {
    const folders = foldersOf(params)
    const projects = new EditorProjects(folders.length === 0 ? [resolve(terms.folder)] : folders, terms.entry)
    opened = {
      projects,
      server: new EditorServer(connection, projects, new EngineAnswers(terms.ask), params.capabilities),
    }
    follows = params.capabilities.workspace?.workspaceFolders === true
    registers = params.capabilities.textDocument?.formatting?.dynamicRegistration === true
    // The protocol allows options only for editors that know them.
    const prepares = params.capabilities.textDocument?.rename?.prepareSupport === true
    const renameProvider = prepares ? { prepareProvider: true } : true
    return {
      capabilities: { ...capabilities, renameProvider, documentFormattingProvider: !registers },
      serverInfo: { name: "sallyport", version: terms.version },
    }
  })
  // Not earlier: the library would ask the editor for these messages before it answers `initialize`.
  connection.onInitialized(() => {
    if (opened === undefined) return
    if (follows) followFolders(connection, opened)
    if (registers) offerFormatting(connection, opened.projects.folders)
  })
  // The protocol has no message before `initialize`.
  const now = (): Opened => opened as Opened
  followTexts(connection, now)
  answer(connection, () => now().server)
  connection.listen()
  return ended
}

/** What there is once the editor has said what it opens. */
interface Opened {
  readonly projects: EditorProjects
  readonly server: EditorServer
}

function followTexts(connection: Connection, opened: () => Opened): void {
  const then = (change: (projects: EditorProjects) => void): void => {
    const { projects, server } = opened()
    change(projects)
    server.tell()
  }
  connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, text } }) =>
    then((projects) => projects.open(uri, languageId, text)),
  )
  connection.onDidChangeTextDocument(({ textDocument: { uri }, contentChanges }) => {
    const last = contentChanges.at(-1)
    if (last !== undefined) then((projects) => projects.change(uri, last.text))
  })
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => then((projects) => projects.close(uri)))
  connection.onDidChangeWatchedFiles(() => then((projects) => projects.changed()))
  connection.onDidSaveTextDocument(() => then((projects) => projects.changed()))
}

function followFolders({ workspace }: Connection, { projects, server }: Opened): void {
  workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
    projects.changeFolders(pathsOf(added), pathsOf(removed))
    server.tell()
  })
}

/** Formats its own languages only: an editor with a formatter of YAML or XML would ask which of both to use. */
function offerFormatting({ client }: Connection, folders: readonly string[]): void {
  const selectors = folders.flatMap((folder) => {
    const inside = folder
      .replaceAll(/[[\]{}*?]/g, "[$&]")
      .split(sep)
      .join("/")
    return [
      { language: "sallyport", scheme: "file", pattern: `${inside}/**/*` },
      ...["*.conf", "*.fga", "fga.mod"].map((name) => ({ scheme: "file", pattern: `${inside}/**/${name}` })),
    ]
  })
  client.register(DocumentFormattingRequest.type, { documentSelector: selectors }).catch(() => undefined)
}

function answer(connection: Connection, server: () => EditorServer): void {
  connection.onCompletion(({ textDocument, position }) => server().completion(textDocument.uri, position))
  connection.onHover(({ textDocument, position }) => server().hover(textDocument.uri, position))
  connection.onDefinition(({ textDocument, position }) => server().definition(textDocument.uri, position))
  connection.onReferences(({ textDocument, position, context }) =>
    server().references(textDocument.uri, position, context?.includeDeclaration !== false),
  )
  connection.onPrepareRename(({ textDocument, position }) => server().name(textDocument.uri, position))
  connection.onRenameRequest(({ textDocument, position, newName }) =>
    server().rename(textDocument.uri, position, newName),
  )
  connection.onDocumentSymbol(({ textDocument: { uri } }) => server().outline(uri))
  connection.onFoldingRanges(({ textDocument: { uri } }) => server().folds(uri))
  connection.onDocumentFormatting(({ textDocument: { uri } }) => server().format(uri))
  connection.onCodeAction(({ textDocument: { uri }, range }) => server().actions(uri, range.start, range.end))
  connection.onCodeLens(({ textDocument: { uri } }) => server().lenses(uri, askCommand))
  connection.onExecuteCommand(({ command, arguments: [question] = [] }) =>
    command === askCommand && question !== undefined ? server().ask(question) : undefined,
  )
  connection.languages.inlayHint.on(({ textDocument: { uri }, range }) =>
    server().hints(uri, range.start, range.end),
  )
  connection.onRequest("sallyport/requests", ({ textDocument, position }: TextDocumentPositionParams) =>
    server().requests(textDocument.uri, position),
  )
  connection.languages.semanticTokens.on(({ textDocument: { uri } }) => server().tokens(uri))
}

function foldersOf({ workspaceFolders, rootUri }: InitializeParams): string[] {
  if (workspaceFolders != null && workspaceFolders.length > 0) return pathsOf(workspaceFolders)
  return rootUri == null ? [] : pathsOf([{ uri: rootUri }])
}

/** The folders on the disk. A path may not end with `/`: it is compared with those of files. */
function pathsOf(folders: readonly { readonly uri: string }[]): string[] {
  return folders.flatMap(({ uri }) => (uri.startsWith("file:") ? [resolve(fileURLToPath(uri))] : []))
}

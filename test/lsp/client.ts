import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import {
  type CodeLens,
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node"

const bin = fileURLToPath(new URL("../../compiler/cli/sallyport.mjs", import.meta.url))

/** An editor that talks to `sallyport lsp` by its input and output. */
export class LspClient {
  readonly initialized: InitializeResult
  /** The parameters of requests that the server has registered. */
  readonly registered: unknown[] = []
  /** The newest findings by path. */
  readonly findings = new Map<string, readonly Diagnostic[]>()
  readonly #connection: ReturnType<typeof createProtocolConnection>
  readonly #child: ReturnType<typeof spawn>
  readonly #root: string

  private constructor(parts: {
    initialized: InitializeResult
    connection: ReturnType<typeof createProtocolConnection>
    child: ReturnType<typeof spawn>
    root: string
  }) {
    this.initialized = parts.initialized
    this.#connection = parts.connection
    this.#child = parts.child
    this.#root = parts.root
  }

  /** `env`: variables besides those of this process. `more`: what the editor can do with documents. */
  static async start(
    root: string,
    env: Readonly<Record<string, string>> = {},
    more: object = {},
  ): Promise<LspClient> {
    const child = spawn(process.execPath, [bin, "lsp", "--stdio"], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    })
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    )
    connection.listen()
    const initialized = (await connection.sendRequest("initialize", {
      processId: process.pid,
      workspaceFolders: [{ name: "root", uri: pathToFileURL(root).href }],
      capabilities: {
        workspace: { workspaceFolders: true },
        textDocument: { rename: { prepareSupport: true }, ...more },
      },
    })) as InitializeResult
    const client = new LspClient({ initialized, connection, child, root })
    connection.onNotification(
      "textDocument/publishDiagnostics",
      ({ uri, diagnostics }: { uri: string; diagnostics: Diagnostic[] }) => {
        client.findings.set(client.#pathOf(uri), diagnostics)
      },
    )
    connection.onRequest("client/registerCapability", (params: unknown) => {
      client.registered.push(params)
    })
    await connection.sendNotification("initialized", {})
    return client
  }

  uri(path: string): string {
    return pathToFileURL(join(this.#root, path)).href
  }

  async open(path: string, text: string, languageId = "sallyport"): Promise<void> {
    const textDocument = { uri: this.uri(path), languageId, version: 1, text }
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument })
  }

  async change(path: string, text: string): Promise<void> {
    const textDocument = { uri: this.uri(path), version: 2 }
    await this.#connection.sendNotification("textDocument/didChange", {
      textDocument,
      contentChanges: [{ text }],
    })
  }

  async close(path: string): Promise<void> {
    await this.#connection.sendNotification("textDocument/didClose", {
      textDocument: { uri: this.uri(path) },
    })
  }

  /** Says that a stored file has come, changed or gone. */
  async stored(path: string): Promise<void> {
    await this.#connection.sendNotification("workspace/didChangeWatchedFiles", {
      changes: [{ uri: this.uri(path), type: 2 }],
    })
  }

  /** Opens or closes a further folder, given from the first one. */
  async folder(what: "added" | "removed", path: string): Promise<void> {
    const event = { added: [], removed: [], [what]: [{ name: path, uri: this.uri(path) }] }
    await this.#connection.sendNotification("workspace/didChangeWorkspaceFolders", { event })
  }

  /** Clicks a lens; resolves to the answer of its command. */
  async click({ command }: CodeLens): Promise<unknown> {
    return this.#connection.sendRequest("workspace/executeCommand", {
      command: command?.command,
      arguments: command?.arguments,
    })
  }

  /** A request about a document. */
  async ask<Answer>(method: string, path: string, more: object = {}): Promise<Answer> {
    return (await this.#connection.sendRequest(`textDocument/${method}`, {
      textDocument: { uri: this.uri(path) },
      ...more,
    })) as Answer
  }

  /** The request of the server's own about a place. */
  async requests(path: string, place: object): Promise<unknown> {
    return this.#connection.sendRequest("sallyport/requests", {
      textDocument: { uri: this.uri(path) },
      ...place,
    })
  }

  /** Ends the server in order; resolves to its exit code. */
  async end(): Promise<number> {
    const ended = once(this.#child, "exit")
    await this.#connection.sendRequest("shutdown")
    await this.#connection.sendNotification("exit")
    const [code] = (await ended) as [number]
    return code
  }

  #pathOf(uri: string): string {
    return relative(this.#root, fileURLToPath(uri))
  }
}

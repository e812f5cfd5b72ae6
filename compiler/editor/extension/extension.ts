import * as vscode from "vscode"
import { LanguageClient } from "vscode-languageclient/node"
import { explainWords, programOf, requestText } from "./program.ts"
import { addTests } from "./tests.ts"

const clients = new Map<string, LanguageClient>()

function programFor({ uri }: vscode.WorkspaceFolder): string {
  const setting = vscode.workspace.getConfiguration("sallyport", uri).get<string>("path", "")
  return programOf(setting, uri.fsPath)
}

/** VS Code calls it when a project is opened, in restricted mode too: a folder that is not trusted could name any program, so nothing is offered before. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const startAll = async () => {
    await deactivate()
    await Promise.all((vscode.workspace.workspaceFolders ?? []).map(start))
  }
  const begin = () => {
    context.subscriptions.push(
      vscode.commands.registerCommand("sallyport.explainRoute", explainRoute),
      vscode.commands.registerCommand("sallyport.restart", startAll),
      vscode.workspace.onDidChangeWorkspaceFolders(startAll),
      vscode.workspace.onDidChangeConfiguration((change) =>
        change.affectsConfiguration("sallyport.path") ? startAll() : undefined,
      ),
      addTests(programFor),
    )
    return startAll()
  }
  if (vscode.workspace.isTrusted) await begin()
  else context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(begin))
}

/** Ends all language servers. */
export async function deactivate(): Promise<void> {
  const ending = [...clients.values()]
  clients.clear()
  await Promise.all(ending.map((client) => client.stop().catch(() => undefined)))
}

/** Its errors go to its output: a failed start has one message, that of `start`. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false)
  }
}

async function start(folder: vscode.WorkspaceFolder): Promise<void> {
  if (folder.uri.scheme !== "file") return
  const command = programFor(folder)
  const cwd = folder.uri.fsPath
  const client = new QuietClient(
    "sallyport",
    "Sallyport",
    { command, args: ["lsp", "--stdio"], options: { cwd } },
    {
      workspaceFolder: folder,
      documentSelector: [
        ...["sallyport", "fga"].map((language) => ({ language, scheme: "file", pattern: `${cwd}/**/*` })),
        // The server knows which of the files `*.conf` a project includes, and leaves the others alone.
        ...["*.conf", "*.fga.yaml", "*.gw.yaml", "fga.mod", "*.xml"].map((name) => ({
          scheme: "file",
          pattern: `${cwd}/**/${name}`,
        })),
      ],
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher(
          "**/*.{conf,csv,fga,json,jsonl,mod,xml,yaml,yml}",
        ),
      },
    },
  )
  clients.set(folder.uri.toString(), client)
  try {
    await client.start()
  } catch (error) {
    clients.delete(folder.uri.toString())
    const choice = await vscode.window.showErrorMessage(
      `\`${command} lsp\` cannot be started: ${error instanceof Error ? error.message : String(error)}. Install Sallyport in the project (npm install --save-dev sallyport), or set \`sallyport.path\`.`,
      "Open settings",
    )
    if (choice !== undefined)
      await vscode.commands.executeCommand("workbench.action.openSettings", "sallyport.path")
  }
}

/** What the server answers about a place; `config` is the address of the first file of the project. */
interface RequestsAtPlace {
  readonly config: string
  readonly requests: readonly { readonly method: string; readonly path: string; readonly host?: string }[]
}

/** Asks what would happen to a request of the operation at the cursor, and shows the answer in a terminal. */
async function explainRoute(): Promise<void> {
  const editor = vscode.window.activeTextEditor
  const folder = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri)
  if (editor === undefined || folder === undefined) return
  const { document, selection } = editor
  const found = await clients
    .get(folder.uri.toString())
    ?.sendRequest<RequestsAtPlace | null>("sallyport/requests", {
      textDocument: { uri: document.uri.toString() },
      position: { line: selection.active.line, character: selection.active.character },
    })
  const proposed = (found?.requests ?? []).map(requestText)
  const title = "Explain a request"
  const first = proposed.length > 1 ? await vscode.window.showQuickPick(proposed, { title }) : proposed[0]
  if (first === undefined && proposed.length > 1) return
  const typed = await vscode.window.showInputBox({
    title,
    prompt: "Method, path with values instead of {parameters}, and options such as --as ann",
    value: first ?? "GET /",
  })
  if (typed === undefined) return
  await document.save()
  const config = found == null ? document.uri : vscode.Uri.parse(found.config)
  const words = [...explainWords(typed), "--config", vscode.workspace.asRelativePath(config, false)]
  const task = new vscode.Task(
    { type: "sallyport" },
    folder,
    "explain",
    "Sallyport",
    new vscode.ProcessExecution(programFor(folder), words, { cwd: folder.uri.fsPath }),
  )
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true, showReuseMessage: false }
  await vscode.tasks.executeTask(task)
}

import { spawn } from "node:child_process"
import * as vscode from "vscode"
import { outcomesOf, testsIn } from "./test-results.ts"

const pattern = "**/*.{fga,gw}.yaml"
/** Characters of an expected and a found value together, from which on they are shown side by side. */
const comparedFrom = 80

/** Tests of models and of the gateway in the gutter and in the view of tests. `programFor`: the program of a folder. */
export function addTests(programFor: (folder: vscode.WorkspaceFolder) => string): vscode.Disposable {
  const controller = vscode.tests.createTestController("sallyport", "Sallyport")
  const read = async (uri: vscode.Uri) => {
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri))
    const file = controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri)
    for (const { name, line } of testsIn(text)) {
      const item = controller.createTestItem(`${uri.toString()}#${line}`, name, uri)
      item.range = new vscode.Range(line, 0, line, 0)
      file.children.add(item)
    }
    controller.items.add(file)
  }
  controller.resolveHandler = async (item) => {
    const found = item?.uri === undefined ? await vscode.workspace.findFiles(pattern) : [item.uri]
    await Promise.all(found.map(read))
  }
  const watcher = vscode.workspace.createFileSystemWatcher(pattern)
  watcher.onDidCreate(read)
  watcher.onDidChange(read)
  watcher.onDidDelete((uri) => controller.items.delete(uri.toString()))
  // The view of tests asks only when it is shown: an open file has its marks before.
  const readOpened = ({ uri }: vscode.TextDocument) =>
    uri.scheme === "file" && /\.(?:fga|gw)\.yaml$/.test(uri.path) ? read(uri) : undefined
  const opened = vscode.workspace.onDidOpenTextDocument(readOpened)
  for (const document of vscode.workspace.textDocuments) void readOpened(document)
  controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) =>
    runTests(controller, request, token, programFor),
  )
  return vscode.Disposable.from(controller, watcher, opened)
}

/** The tests that are asked for, by their file. */
function asked(
  controller: vscode.TestController,
  { include, exclude = [] }: vscode.TestRunRequest,
): Map<vscode.TestItem, vscode.TestItem[]> {
  const wanted = include ?? [...controller.items].map(([, item]) => item)
  const byFile = new Map<vscode.TestItem, vscode.TestItem[]>()
  for (const item of wanted) {
    const file = item.parent ?? item
    const tests = item.parent === undefined ? [...item.children].map(([, child]) => child) : [item]
    const left = tests.filter((test) => !exclude.includes(test) && !exclude.includes(file))
    byFile.set(file, [...(byFile.get(file) ?? []), ...left])
  }
  return byFile
}

async function runTests(
  controller: vscode.TestController,
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
  programFor: (folder: vscode.WorkspaceFolder) => string,
): Promise<void> {
  const run = controller.createTestRun(request)
  for (const [file, tests] of asked(controller, request)) {
    if (token.isCancellationRequested) break
    for (const test of tests) run.started(test)
    try {
      const folder = file.uri && vscode.workspace.getWorkspaceFolder(file.uri)
      if (file.uri === undefined || folder === undefined)
        throw new Error("the file is in no folder of this window")
      const words = ["test", file.uri.fsPath, "--format", "json"]
      report(run, tests, outcomesOf(await output(programFor(folder), words, folder.uri.fsPath, token)))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      print(run, reason)
      for (const test of tests) run.errored(test, new vscode.TestMessage(reason))
    }
  }
  run.end()
}

/** Adds to the output of a run. VS Code shows the output first, so a run without any looks as if nothing had failed. Its lines end with CR LF. */
function print(run: vscode.TestRun, text: string): void {
  run.appendOutput(`${text.replaceAll(/\r?\n/g, "\r\n")}\r\n`)
}

function report(
  run: vscode.TestRun,
  tests: readonly vscode.TestItem[],
  outcomes: ReturnType<typeof outcomesOf>,
) {
  for (const test of tests) {
    // A test with `each` has an outcome for each row, all at its line.
    const own = outcomes.filter(({ line }) => line === test.range?.start.line)
    const failures = own.flatMap((outcome) => outcome.failures)
    const lines = [test.label, ...failures.flatMap(({ message }) => message.split("\n"))]
    if (own.length > 0) print(run, `${failures.length === 0 ? "✓" : "✗"} ${lines.join("\n    ")}`)
    if (own.length === 0) run.skipped(test)
    else if (failures.length === 0) run.passed(test)
    else
      run.failed(
        test,
        failures.map(({ message, line, expected, got }) => {
          const shown = new vscode.TestMessage(message)
          // VS Code shows short values as `true != false` instead of the message, which names the relation.
          if (expected !== undefined && got !== undefined && expected.length + got.length > comparedFrom) {
            shown.expectedOutput = expected
            shown.actualOutput = got
          }
          if (test.uri !== undefined)
            shown.location = new vscode.Location(test.uri, new vscode.Position(line, 0))
          return shown
        }),
      )
  }
}

/** What a program prints to its standard output. A program that fails without output rejects with its errors. */
function output(
  program: string,
  words: readonly string[],
  cwd: string,
  token: vscode.CancellationToken,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd })
    const printed: Record<"out" | "err", string> = { out: "", err: "" }
    child.stdout.on("data", (data: Buffer) => {
      printed.out += data.toString("utf8")
    })
    child.stderr.on("data", (data: Buffer) => {
      printed.err += data.toString("utf8")
    })
    child.once("error", (error) => reject(new Error(`\`${program}\` cannot be started: ${error.message}`)))
    child.once("close", () =>
      printed.out === "" && printed.err !== "" ? reject(new Error(printed.err.trim())) : resolve(printed.out),
    )
    token.onCancellationRequested(() => child.kill())
  })
}

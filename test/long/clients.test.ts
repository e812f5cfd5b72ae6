import { type ExecFileException, execFile, execFileSync } from "node:child_process"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { documentModel, type Served, serve } from "../authz/harness.ts"
import { openTestDatabase } from "../store/databases.ts"

const goSdk = "github.com/openfga/go-sdk/client@v0.6.3"
const pythonSdk = "openfga_sdk==0.10.5"
const program = (name: string) => fileURLToPath(new URL(`clients/${name}`, import.meta.url))

/** The command, or undefined when it is not installed. */
function installed(...commands: string[]): string | undefined {
  return commands.find((command) => {
    try {
      execFileSync(command, [command.endsWith("go") ? "version" : "--version"], { stdio: "ignore" })
      return true
    } catch {
      return false
    }
  })
}

const go = installed("go", "/usr/local/go/bin/go")
const python = installed("python3")

/** Asynchronous: the server that is asked is in this process. */
function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, timeout: 280_000 }, (error: ExecFileException | null, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command}: ${error.message}\n${stderr}`))
    })
  })
}

const expected = {
  latest: true,
  models: 1,
  allowed: true,
  denied: false,
  contextual: true,
  batch: { "1": true, "2": false },
  objects: ["document:1"],
  relations: ["owner", "viewer"],
  users: ["ann"],
  expanded: 3,
  read: ["user:ann"],
  changes: ["TUPLE_OPERATION_WRITE"],
  assertions: [true],
  refused: "400 validation_error",
  conflict: "400 write_failed_due_to_invalid_input",
  deleted: false,
  gone: "404 store_id_not_found",
}

describe("OpenFGA's clients, unchanged", { timeout: 600_000 }, () => {
  let database: Database
  let served: Served & { listeners: { close(): Promise<void> } }
  let folder: string
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database)
    folder = mkdtempSync(join(tmpdir(), "sallyport-clients-"))
  })
  afterAll(async () => {
    await served.listeners.close()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.skipIf(go === undefined)(go === undefined ? "Go (skipped: Go is not installed)" : "Go", async () => {
    copyFileSync(program("client.go"), join(folder, "main.go"))
    await run(go as string, ["mod", "init", "clients"], folder)
    await run(go as string, ["get", goSdk], folder)
    const output = await run(go as string, ["run", ".", served.base, JSON.stringify(documentModel)], folder)
    expect(JSON.parse(output)).toEqual({ ...expected, store: "golang" })
  })

  test.skipIf(python === undefined)(
    python === undefined ? "Python (skipped: Python is not installed)" : "Python",
    async () => {
      await run(python as string, ["-m", "venv", "venv"], folder)
      const own = join(folder, "venv/bin/python")
      await run(own, ["-m", "pip", "install", "--quiet", pythonSdk], folder)
      const output = await run(
        own,
        [program("client.py"), served.base, JSON.stringify(documentModel)],
        folder,
      )
      expect(JSON.parse(output)).toEqual({ ...expected, store: "python", streamed: ["document:1"] })
    },
  )
})

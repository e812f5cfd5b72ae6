import { execFile } from "node:child_process"
import { rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Client } from "pg"
import { type SharedDatabase, sharedVariable } from "./ask-shared.ts"
import { migrateByCommand } from "./migrate-by-command.ts"
import { initializedFolder, startThrowAwayPostgres, type ThrowAwayPostgres } from "./throw-away-postgres.ts"

const program = fileURLToPath(new URL("../../compiler/cli/sallyport.mjs", import.meta.url))

/**
 * What is expensive to make is made once per run, when the first file asks for it. Test files run in other processes, so they
 * ask through a socket: they send the name, and the response is one JSON line, `{value}` or `{error}`.
 */
export async function setup(): Promise<() => Promise<void>> {
  let postgres: Promise<ThrowAwayPostgres> | undefined
  let migrated: Promise<string> | undefined
  let embedded: Promise<string> | undefined
  let data: Promise<string> | undefined
  let migratedServer: Promise<ThrowAwayPostgres> | undefined
  let migratedData: Promise<string> | undefined
  const make: Record<SharedDatabase, () => Promise<string>> = {
    async postgres() {
      postgres ??= startThrowAwayPostgres()
      return (await postgres).url("postgres")
    },
    async migrated() {
      const server = await make.postgres()
      migrated ??= migratedTemplate(server)
      return migrated
    },
    embedded() {
      embedded ??= migratedFolder()
      return embedded
    },
    data() {
      data ??= initializedFolder()
      return data
    },
    migratedData() {
      migratedServer ??= startThrowAwayPostgres()
      migratedData ??= migratedServer.then(async (server) => {
        await migrateByCommand(server.url("postgres"))
        return server.shutDown()
      })
      return migratedData
    },
  }
  const path = join(tmpdir(), `sallyport-test-${process.pid}.sock`)
  // Half open: the client has sent all it has to say when it waits for the response.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let name = ""
    socket.on("error", () => {})
    socket.setEncoding("utf8").on("data", (part) => {
      name += String(part)
    })
    socket.on("end", async () => {
      const response = await make[name as SharedDatabase]().then(
        (value) => ({ value }),
        (error: unknown) => ({ error: String(error) }),
      )
      socket.end(JSON.stringify(response))
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  server.unref()
  process.env[sharedVariable] = path
  return async () => {
    server.close()
    for (const server of [postgres, migratedServer]) await (await server?.catch(() => undefined))?.stop()
  }
}

/**
 * Migrates a new database on the server with this connection string. A copy of it takes a tenth of the CPU time of another empty database and its
 * migration: 30 ms instead of 275 ms. Nobody may stay connected to it.
 */
export async function migratedTemplate(server: string): Promise<string> {
  const name = "migrated"
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  await migrateByCommand(server.replace(/\/postgres$/, `/${name}`))
  return name
}

/**
 * A folder with a migrated embedded database. Making one takes ten seconds of CPU time and half a gigabyte, so a process of its own does it:
 * the memory is given back. Removed when this process ends.
 */
export async function migratedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-prepared-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const env = { ...process.env, SALLYPORT_DATABASE_URL: "" }
  await promisify(execFile)(process.execPath, ["--liftoff-only", program, "migrate"], { cwd: folder, env })
  return join(folder, ".sallyport")
}

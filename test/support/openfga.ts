import { type ChildProcess, execFile, spawn } from "node:child_process"
import { promisify } from "node:util"
import { freePort } from "./free-port.ts"
import { programPath } from "./program.ts"

/** What to do when there is none. */
export const openfgaMissing =
  "no OpenFGA: `go install github.com/openfga/openfga/cmd/openfga@v1.18.1`, or OPENFGA_BIN=/path/to/openfga"

/** The peer's server: `OPENFGA_BIN`, else where `go install` puts it; undefined when there is none. */
export function openfgaBinary(): string | undefined {
  return process.env["OPENFGA_BIN"] || programPath("openfga")
}

/** A running OpenFGA on a free loopback port. */
export interface OpenfgaServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Every cache the server has, on, and allowed to be a minute old. */
export const allCaches = [
  "--check-query-cache-enabled",
  "--check-query-cache-ttl=60s",
  "--check-iterator-cache-enabled",
  "--check-iterator-cache-ttl=60s",
  "--list-objects-iterator-cache-enabled",
  "--list-objects-iterator-cache-ttl=60s",
  "--cache-controller-enabled",
  "--cache-controller-ttl=60s",
  "--shared-iterator-enabled",
] as const

/** Creates its tables in a PostgreSQL database. */
export async function migrateOpenfga(binary: string, databaseUrl: string): Promise<void> {
  await promisify(execFile)(binary, [
    "migrate",
    "--datastore-engine",
    "postgres",
    "--datastore-uri",
    databaseUrl,
  ])
}

/** Starts a server with these flags besides the addresses; in memory unless they name a datastore. Ready when its health says so. */
export async function startOpenfga(binary: string, flags: readonly string[]): Promise<OpenfgaServer> {
  const [http, grpc] = await freePorts()
  const url = `http://127.0.0.1:${http}`
  const child = spawn(
    binary,
    [
      "run",
      `--http-addr=127.0.0.1:${http}`,
      `--grpc-addr=127.0.0.1:${grpc}`,
      "--metrics-enabled=false",
      "--playground-enabled=false",
      "--log-level=none",
      ...flags,
    ],
    { stdio: "ignore" },
  )
  // Not outlived by it, however this process ends.
  const end = () => child.kill("SIGKILL")
  process.once("exit", end)
  await healthy(url, child)
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      process.off("exit", end)
      if (child.exitCode !== null) return
      const closed = new Promise((resolve) => child.once("close", resolve))
      child.kill("SIGKILL")
      await closed
    },
  }
}

async function healthy(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (child.exitCode !== null) throw new Error(`OpenFGA ended with code ${child.exitCode}`)
    const answer = await fetch(`${url}/healthz`).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill("SIGKILL")
  throw new Error("OpenFGA did not become healthy within 30 s")
}

async function freePorts(): Promise<[number, number]> {
  return [await freePort(), await freePort()]
}

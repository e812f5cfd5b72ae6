import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import type { StatusAnswer } from "../../runtime/control/api.ts"
import { run } from "../cli/run.ts"
import { eventually, freePorts, type SallyportProcess, start } from "../e2e/sallyport-process.ts"
import { createMigratedDatabase, type TestDatabase } from "../postgres.ts"

const token = "a-token-for-the-tests-of-workers"

/** The folder, ports and database of one `serve --workers`. */
export interface Machine {
  readonly folder: string
  /** Gateway, engine, control, backend. */
  readonly ports: readonly [number, number, number, number]
  readonly env: Readonly<Record<string, string>>
  /** Starts `serve` with these words. It is killed after the tests of the file. */
  serve(...words: string[]): SallyportProcess
  /** Writes gateway.conf. */
  write(text: string): void
  writeFile(name: string, text: string): void
  sallyport(...words: string[]): ReturnType<typeof run>
  gateway(path: string, init?: RequestInit): Promise<Response>
  ready(): Promise<unknown>
  status(): Promise<StatusAnswer>
  /** The value of a series of the metrics page; undefined: it has none. */
  metric(series: string): Promise<number | undefined>
}

/** One for all tests of a file. Call it at its top level; use it in tests. `open`: another database than one of the shared server. */
export function machine(
  open: () => Promise<Pick<TestDatabase, "url" | "drop">> = createMigratedDatabase,
): Machine {
  let [folder, database] = ["", undefined as Pick<TestDatabase, "url" | "drop"> | undefined]
  let ports: readonly number[] = []
  const started: SallyportProcess[] = []
  const control = (path: string) =>
    fetch(`http://127.0.0.1:${ports[2]}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const env = () => ({
    SALLYPORT_DATABASE_URL: database?.url ?? "",
    SALLYPORT_CONTROL_TOKEN: token,
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${ports[2]}`,
    SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports[2]}`,
    SALLYPORT_WHO: "tester",
    SALLYPORT_SPOOL: join(folder, "spool"),
    ANN_KEY: "key-of-ann",
  })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-workers-"))
    database = await open()
    ports = await freePorts(4)
  })
  afterAll(async () => {
    for (const each of started) await each.stop("SIGKILL")
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    get folder() {
      return folder
    },
    get ports() {
      return ports as unknown as Machine["ports"]
    },
    get env() {
      return env()
    },
    serve(...words) {
      const process = start(folder, env(), "serve", ...words)
      started.push(process)
      return process
    },
    write: (text) => writeFileSync(join(folder, "gateway.conf"), text),
    writeFile: (name, text) => writeFileSync(join(folder, name), text),
    sallyport: (...words) => run({ cwd: folder, env: env() }, ...words),
    gateway: (path, init) => fetch(`http://127.0.0.1:${ports[0]}${path}`, init),
    ready: () => eventually(async () => ((await control("/readyz")).ok ? true : undefined)),
    status: async () => (await (await control("/v1/status")).json()) as StatusAnswer,
    async metric(series) {
      const page = await (await control("/metrics")).text()
      const line = page.split("\n").find((each) => each.startsWith(`${series} `))
      return line === undefined ? undefined : Number(line.slice(series.length + 1))
    },
  }
}

/** Process ids of the workers, once that many report. */
export function workersOf(here: Machine, count: number): Promise<readonly number[]> {
  return eventually(async () => {
    const { processes } = await here.status()
    const found = processes.filter(({ roles, state }) => roles.includes("gateway") && state !== "draining")
    return found.length === count ? found.map(({ pid }) => pid) : undefined
  })
}

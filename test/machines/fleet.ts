import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { type SallyportProcess, start } from "../e2e/sallyport-process.ts"
import { projectRoot } from "../structure/tree.ts"
import { freePort } from "../support/free-port.ts"
import { type Pgbouncer, startPgbouncer } from "../support/pgbouncer.ts"
import { type PostgresPair, startPostgresPair } from "../support/postgres-pair.ts"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import type { Client } from "./client.ts"

/** The control token of every machine. */
export const token = "a-token-for-a-fleet-of-machines"

/** Calls that `/limited` and `/paid` let pass, for each caller. */
export const callsMax = 12

/** What a fleet is started with. */
export interface FleetOptions {
  /** Further settings of both database servers, as `name=value`. */
  readonly postgres?: readonly string[]
  /** Longest time a request waits for Redis, in milliseconds. */
  readonly redisWaitMs: number
}

interface Ports {
  readonly gateway: number
  readonly authz: number
  readonly control: number
}

/** One `serve` on an address of its own, with a folder of its own that survives its end. */
export class Machine {
  readonly name: string
  /** How often it was started. */
  starts = 0
  readonly #address: string
  readonly #folder: string
  readonly #ports: Ports
  readonly #env: Readonly<Record<string, string>>
  #process: SallyportProcess | undefined

  constructor(number: number, folder: string, ports: Ports, env: Readonly<Record<string, string>>) {
    this.name = `machine ${number}`
    this.#address = `127.0.0.${number + 1}`
    this.#folder = join(folder, String(number))
    this.#ports = ports
    this.#env = env
    mkdirSync(this.#folder)
  }

  /** Start of the URLs of a listener. */
  url(listener: keyof Ports): string {
    return `http://${this.#address}:${this.#ports[listener]}`
  }

  /** Process id; 0 while none runs. */
  get pid(): number {
    return this.#process?.child.pid ?? 0
  }

  start(): void {
    this.starts++
    this.#process = start(
      this.#folder,
      {
        SALLYPORT_LOG_LEVEL: "warn",
        ...this.#env,
        SALLYPORT_TEST_ADDRESS: this.#address,
        SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${this.#ports.control}`,
        SALLYPORT_CONTROL_TOKEN: token,
        NODE_OPTIONS: `--import=${projectRoot}test/machines/own-address.mjs`,
      },
      "serve",
    )
  }

  /** Ends it: by SIGKILL at once, by SIGTERM with what it has under way. Resolves to its exit code, or the signal. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | string> {
    const ended = this.#process
    this.#process = undefined
    return (await ended?.stop(signal)) ?? ""
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.child.kill(name)
  }

  /** What it has logged, as JSON lines: warnings and errors, unless its environment sets another level. */
  get log(): string {
    return `${this.#process?.output.out ?? ""}${this.#process?.output.err ?? ""}`
  }

  /** Resolves when a line of its metrics is this one. */
  async shows(client: Client, line: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const { body } = await client.ask(`${this.url("control")}/metrics`)
      if (String(body).split("\n").includes(line)) return
      if (attempt > 2_000) throw new Error(`${this.name} does not come to show ${line}\n${this.log}`)
      await sleep(25)
    }
  }

  async ready(client: Client): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const { status, body } = await client.ask(`${this.url("control")}/readyz`)
      if (status === 200) return
      if (attempt > 2_000)
        throw new Error(`${this.name} is not ready: ${status} ${JSON.stringify(body)}\n${this.log}`)
      await sleep(25)
    }
  }
}

/**
 * Three processes over one database that has a standby, and one Redis. The first one and the third one name both database servers; the second
 * one goes through a pooler in transaction mode. Everything is real and on this machine.
 */
export class Fleet {
  readonly machines: readonly Machine[]
  readonly postgres: PostgresPair
  redis: ThrowAwayRedis
  /** Number of the newest plan that was sent. */
  plans = 0
  readonly #pooler: Pgbouncer
  readonly #folder: string
  readonly #ports: Ports
  readonly #redisWaitMs: number
  #renewing: Promise<void> = Promise.resolve()

  private constructor(
    parts: { postgres: PostgresPair; pooler: Pgbouncer; redis: ThrowAwayRedis },
    ports: Ports,
    redisWaitMs: number,
  ) {
    this.postgres = parts.postgres
    this.#pooler = parts.pooler
    this.redis = parts.redis
    this.#ports = ports
    this.#redisWaitMs = redisWaitMs
    this.#folder = mkdtempSync(join(tmpdir(), "sallyport-fleet-"))
    const direct = this.postgres.hostsUrl("postgres")
    const shared = { REDIS_URL: this.redis.url }
    const pooled = {
      SALLYPORT_DATABASE_URL: this.#pooler.through(
        `postgresql://postgres@127.0.0.1:${this.postgres.primaryPort}/postgres`,
      ),
      SALLYPORT_DATABASE_POOLER: "transaction",
      SALLYPORT_DATABASE_NOTICES_URL: direct,
    }
    const environments = [
      { SALLYPORT_DATABASE_URL: direct },
      pooled,
      { SALLYPORT_DATABASE_URL: direct, SALLYPORT_DATABASE_POOL_SIZE: "3" },
    ]
    this.machines = environments.map(
      (env, at) => new Machine(at + 1, this.#folder, ports, { ...shared, ...env }),
    )
  }

  /** Starts everything and applies the first plan, which says `greet-0`. */
  static async start(client: Client, { postgres: settings = [], redisWaitMs }: FleetOptions): Promise<Fleet> {
    // A lost commit is one that a failover lost, and no other.
    const postgres = await startPostgresPair(["synchronous_commit=on", ...settings])
    const pooler = await startPgbouncer(postgres.primaryPort)
    const redis = await startThrowAwayRedis()
    const ports = { gateway: await freePort(), authz: await freePort(), control: await freePort() }
    const fleet = new Fleet({ postgres, pooler, redis }, ports, redisWaitMs)
    try {
      for (const machine of fleet.machines) machine.start()
      const [first] = fleet.machines as [Machine]
      for (let attempt = 0; ; attempt++) {
        const { status, body } = await fleet.apply(client, first, 0, null)
        if (status === 200) break
        if (attempt > 2_000) throw new Error(`no first plan: ${status} ${JSON.stringify(body)}\n${first.log}`)
        await sleep(25)
      }
      for (const machine of fleet.machines) await machine.ready(client)
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  /** Asks the control API of a machine. */
  control(client: Client, machine: Machine, method: "GET" | "POST" | "PUT", path: string, json?: unknown) {
    const headers = { authorization: `Bearer ${token}` }
    return client.ask(`${machine.url("control")}${path}`, { method, headers, json })
  }

  /** Applies the plan with the greeting `greet-NUMBER` upon the plan with this serial. */
  apply(client: Client, machine: Machine, number: number, base: number | null) {
    const author = { who: "fleet", commit: null, message: null }
    return this.control(client, machine, "PUT", "/v1/plan", { plan: this.#plan(number), base, author })
  }

  /** Variables with which commands of the command line reach a machine. */
  commandEnv(machine: Machine): Readonly<Record<string, string>> {
    return { SALLYPORT_CONTROL_URL: machine.url("control"), SALLYPORT_CONTROL_TOKEN: token }
  }

  /** Asks the database itself, on the server that is the primary now. */
  async sql<Row extends unknown[]>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const connectionString = `postgresql://postgres@127.0.0.1:${this.postgres.primaryPort}/postgres`
    const client = new pg.Client({ connectionString })
    client.on("error", () => undefined)
    await client.connect()
    try {
      const { rows } = await client.query({ text, values: [...values], rowMode: "array" })
      return rows as Row[]
    } finally {
      await client.end()
    }
  }

  /** The feed of the store after a revision, as far as it was not pruned: each commit's revision, and its changes as `write user:a order:1`. */
  async feed(after: number): Promise<ReadonlyMap<number, string[]>> {
    const rows = await this.sql<[string, boolean, string, string]>(
      "select revision, deleted, subject, object from sallyport.changes where revision > $1 order by revision, ordinal",
      [after],
    )
    const commits = new Map<number, string[]>()
    for (const [revision, deleted, subject, object] of rows) {
      const commit = commits.get(Number(revision)) ?? []
      commit.push(`${deleted ? "delete" : "write"} ${subject} ${object}`)
      commits.set(Number(revision), commit)
    }
    return commits
  }

  /** Makes the changes of now two days old. They are kept in `pruned` before. */
  async ageChanges(): Promise<void> {
    const feed = await this.feed(0)
    this.pruned.push(feed)
    await this.sql(
      "update sallyport.changes set changed_at = changed_at - interval '2 days' where revision <= $1",
      [Math.max(0, ...feed.keys())],
    )
  }

  /** Feeds as they were before changes were deleted. */
  readonly pruned: ReadonlyMap<number, string[]>[] = []

  /** The standby takes over, and the pooler is told as a failover tool does. The server that died is made the new standby beside what happens next. */
  async failOver(): Promise<void> {
    await this.postgres.failOver()
    await this.#pooler.pointTo(this.postgres.primaryPort)
    this.#renewing = this.postgres.renew()
    this.#renewing.catch(() => undefined)
  }

  /** Resolves when there is a standby. While it is copied, the primary must live. */
  async hasStandby(): Promise<void> {
    await this.#renewing
  }

  /** Redis ends and loses everything; after `awayMs` a new one has its address. */
  async restartRedis(awayMs: number): Promise<void> {
    const { port } = this.redis
    await this.redis.stop()
    await sleep(awayMs)
    this.redis = await startThrowAwayRedis([], port)
  }

  async stop(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.end("SIGKILL")))
    await this.#renewing.catch(() => undefined)
    await this.#pooler.stop()
    await Promise.all([this.redis.stop(), this.postgres.stop()])
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #plan(number: number): Plan {
    const { gateway, authz } = this.#ports
    const text = `
gateway fleet { listen 127.0.0.1:${gateway}; trust none; limits { shared redis redis_url { wait ${this.#redisWaitMs}ms } } }
authz { listen 127.0.0.1:${authz}; max-staleness 1s; limits { body 8MB }; store acme { model "acme.fga" } }
secret redis_url = env(REDIS_URL)
api hello { path "/hello"; auth none; GET "/" { respond 200 { body text "greet-${number}" } } }
api limited { path "/limited"; auth none; limit ${callsMax} per 1h by "\${request.header('x-caller')}"; GET "/" { respond 200 } }
api paid { path "/paid"; auth none; quota ${callsMax} calls per 1d by "\${request.header('x-caller')}"; GET "/" { respond 200 } }
api items { path "/items"; auth subscription; GET "/" { respond 200 } }
product gold { apis items }
`
    const model =
      "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n    define reader: viewer\n"
    const { plan, diagnostics } = compile(
      new MemoryFiles([
        ["gateway.conf", text],
        ["acme.fga", model],
      ]),
      "gateway.conf",
    )
    if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
    return plan
  }
}

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Client } from "pg"
import { openRecord } from "../../../runtime/record/read-record.ts"
import { run } from "../../cli/run.ts"
import { type SallyportProcess, start } from "../../e2e/sallyport-process.ts"
import { Authority } from "../../support/certificates.ts"
import { newCanary, Outputs } from "./canary.ts"
import { type Asked, secretPlaces } from "./places.ts"
import type { CanaryPorts } from "./project.ts"

/** The canaries by name, and what processes have written. */
export class CanaryWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-canaries-"))
  readonly outputs = new Outputs()
  /** What must be found nowhere. */
  readonly canaries = new Map<string, string>()
  readonly processes: SallyportProcess[] = []
  readonly ports: CanaryPorts
  /** Statuses that the APIs of the gateway have responded with, by the first part of the path. */
  readonly statuses = new Map<string, Set<number>>()
  /** Variables of the environment that some process had. */
  readonly variables = new Set<string>()
  readonly #contents = new Map<string, string>()
  env: Readonly<Record<string, string>> = {}

  constructor(ports: CanaryPorts) {
    this.ports = ports
  }

  /** A new canary. */
  add(name: string, text = newCanary()): string {
    this.canaries.set(name, text)
    return text
  }

  canary(name: string): string {
    return this.canaries.get(name) ?? this.add(name)
  }

  /** The contents of the files of secrets. */
  contents(): ReadonlyMap<string, string> {
    const { cert, key } = new Authority(this.folder).sign("edge", ["localhost"])
    const pem = new Map([
      ["certificate_text", readFileSync(cert, "utf8")],
      ["certificate_key", readFileSync(key, "utf8")],
    ])
    rmSync(key)
    for (const { name, base64url, text } of secretPlaces) {
      const own = pem.get(name)
      // The second line of a key contains its private number.
      const canary = own?.split("\n")[2] ?? (base64url === true ? newCanary().replace("+", "_") : newCanary())
      this.add(name, canary)
      this.#contents.set(name, own ?? text?.(canary) ?? canary)
    }
    return this.#contents
  }

  contentOf(name: string): string {
    return this.#contents.get(name) ?? ""
  }

  /** Starts `sallyport …`; its output counts from now on. */
  start(name: string, env: Readonly<Record<string, string>>, ...argv: string[]): SallyportProcess {
    for (const variable of Object.keys(env)) this.variables.add(variable)
    const started = start(this.folder, { SALLYPORT_LOG_LEVEL: "trace", ...env }, ...argv)
    this.processes.push(started)
    void started.exited.then(() => {
      this.outputs.add(`standard output of ${name}`, started.output.out)
      this.outputs.add(`standard error of ${name}`, started.output.err)
    })
    return started
  }

  /** Runs a command line of an operator; its output counts, unless it shows a secret on purpose. */
  async command(...argv: string[]): Promise<string> {
    const { code, out, err } = await this.quietCommand(...argv)
    this.outputs.add(`output of \`sallyport ${argv.slice(0, 2).join(" ")}\``, out + err)
    return `${code}\n${out}${err}`
  }

  /** The same with an environment of its own. */
  async commandWith(env: Readonly<Record<string, string>>, ...argv: string[]): Promise<void> {
    for (const variable of Object.keys(env)) this.variables.add(variable)
    const { out, err } = await run(
      { cwd: this.folder, env: { SALLYPORT_LOG_LEVEL: "trace", ...env } },
      ...argv,
    )
    this.outputs.add(`output of \`sallyport ${argv[0]}\``, out + err)
  }

  /** Its output does not count. */
  quietCommand(...argv: string[]) {
    return run({ cwd: this.folder, env: this.env }, ...argv)
  }

  /** A request to the gateway; the response counts. */
  async gateway(asked: Asked): Promise<void> {
    this.noteStatus(asked.path, await this.ask("gateway", this.ports.gateway, asked))
  }

  noteStatus(path: string, status: number): void {
    const [, api = ""] = path.split("/")
    this.statuses.set(api, (this.statuses.get(api) ?? new Set()).add(status))
  }

  async ask(who: string, port: number, { path, method = "GET", headers = {}, body }: Asked): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port, path, method, headers, agent: false },
        (response) =>
          void text(response).then((answer) => {
            this.outputs.add(
              `response of the ${who} to ${method} ${path.split("?")[0]}`,
              response.rawHeaders.join("\n") + answer,
            )
            resolve(response.statusCode ?? 0)
          }, reject),
      )
      sent.on("error", reject).end(body)
    })
  }

  /** Reads the stream of events that the console gets, with everything in it, until the returned function is called. */
  watchEvents(): () => void {
    const { control: port } = this.ports
    const headers = { authorization: `Bearer ${this.env["SALLYPORT_CONTROL_TOKEN"]}` }
    const path = "/v1/events?topics=status,traffic,log"
    const chunks: Buffer[] = []
    const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined)
    })
    sent.on("error", () => undefined).end()
    return () => {
      sent.destroy()
      this.outputs.add("stream of events", Buffer.concat(chunks).toString("utf8"))
    }
  }

  /** Every row of every table counts. */
  async readDatabase(url: string): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      const { rows } = await client.query<{ schema: string; name: string }>(
        "select table_schema as schema, table_name as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')",
      )
      for (const { schema, name } of rows) {
        const found = await client.query<{ row: string }>(
          `select t::text as row from "${schema}"."${name}" t`,
        )
        this.outputs.add(`table ${name}`, found.rows.map(({ row }) => row).join("\n"))
      }
    } finally {
      await client.end()
    }
  }

  /** Every file in the folder counts, except those that were given. */
  readFiles(given: ReadonlySet<string>): void {
    for (const entry of readdirSync(this.folder, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(this.folder.length + 1)
      if (!entry.isFile() || given.has(name) || name.startsWith("secrets/")) continue
      this.outputs.add(`file ${name}`, readFileSync(path, "latin1"))
    }
  }

  /** The decrypted record of requests counts. Returns how many there are. */
  async readRecord(): Promise<number> {
    const { requests } = await openRecord(join(this.folder, "record"), this.contentOf("record_key"))
    const lines: string[] = []
    for await (const request of requests()) lines.push(JSON.stringify(request))
    this.outputs.add("recorded requests", lines.join("\n"))
    return lines.length
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.stop("SIGKILL")))
    rmSync(this.folder, { recursive: true, force: true })
  }
}

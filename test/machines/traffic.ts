import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../naive/random.ts"
import { CallLedger } from "./call-ledger.ts"
import type { Answer, Client } from "./client.ts"
import { callsMax, type Fleet, type Machine } from "./fleet.ts"
import { TupleOracle } from "./tuple-oracle.ts"

/** What a client asks a fleet. */
export type Kind = "write" | "check" | "token" | "hello" | "limited" | "paid" | "import"

/** Called for each answer, for a table of what clients saw. */
export type OnAnswer = (kind: Kind, machine: Machine, answer: Answer) => void

/** How busy the clients are. */
export interface TrafficOptions {
  readonly writers: number
  readonly readers: number
  /** Clients of the gateway, for limits, quotas and plans. */
  readonly callers: number
  /** Pause of a client after each answer, in milliseconds. */
  readonly pauseMs: number
  readonly onAnswer?: OnAnswer
}

/** Statuses that a client may get while something is away or too slow. */
const unavailable = new Set([0, 503, 504])

/**
 * Clients of all machines of a fleet at once, who write, check, and call until they are stopped. Everything they are told is judged as it comes,
 * or when the database says what it has.
 */
export class Traffic {
  readonly oracle = new TupleOracle()
  readonly limits = new CallLedger(429)
  readonly quotas = new CallLedger(403)
  /** Answers that are wrong whatever happens. */
  readonly wrong: string[] = []
  /** Number of judged answers. */
  answers = 0
  /** Part of all names, so that no tuple and no caller comes twice. */
  readonly round: string
  readonly #fleet: Fleet
  readonly #client: Client
  readonly #random: Random
  readonly #options: TrafficOptions
  readonly #recent: string[] = []
  /** Numbers of the plans: the newest that was sent, and those that the processes said, by machine and start. */
  readonly #lostPlans = new Set<number>()
  readonly #saidPlans = new Map<string, number>()
  #running: Promise<unknown> | undefined
  #stopped = false
  #names = 0

  constructor(fleet: Fleet, client: Client, random: Random, round: string, options: TrafficOptions) {
    this.#fleet = fleet
    this.#client = client
    this.#random = random
    this.round = round
    this.#options = options
  }

  start(): void {
    this.#stopped = false
    const { writers, readers, callers } = this.#options
    const many = (count: number, run: (at: number) => Promise<unknown>) =>
      Array.from({ length: count }, (_, at) => this.#repeat(() => run(at)))
    this.#running = Promise.all([
      ...many(writers, () => this.#writeOne()),
      ...many(readers, (at) => (at % 2 === 0 ? this.#check() : this.#checkToken())),
      ...many(callers, (at) => (at % 2 === 0 ? this.hello() : this.#callOften())),
    ])
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  /** Number of the next plan to apply. */
  nextPlan(): number {
    return ++this.#fleet.plans
  }

  /** Number of the newest plan that was sent. */
  get sentPlan(): number {
    return this.#fleet.plans
  }

  /** The database has lost the plans after this one: a process may serve them until it has looked, and then goes back. */
  losePlans(after: number): void {
    for (let number = after + 1; number <= this.#fleet.plans; number++) this.#lostPlans.add(number)
  }

  /** Asks a machine for the greeting of its plan; its number, or undefined without an answer. */
  async hello(machine = this.#pick()): Promise<number | undefined> {
    const key = `${machine.name}, start ${machine.starts}`
    const before = this.#saidPlans.get(key) ?? 0
    const answer = await this.#ask("hello", machine, "gateway", "/hello")
    if (answer.status !== 200) {
      this.#expect(answer, machine, "hello", [])
      return undefined
    }
    const number = Number(/^greet-(\d+)$/.exec(String(answer.body))?.[1])
    if (!(number <= this.#fleet.plans)) this.wrong.push(`${key} serves ${answer.body}, which nobody applied`)
    if (number < before && !this.#lostPlans.has(before))
      this.wrong.push(`${key} serves plan ${number} after plan ${before}`)
    const newest = this.#saidPlans.get(key) ?? 0
    if (number > newest || this.#lostPlans.has(newest)) this.#saidPlans.set(key, number)
    return number
  }

  /** Writes many tuples in one commit, again and again until it is done, or the database may have lost it. */
  async import(lines: number): Promise<void> {
    const names = Array.from({ length: lines }, () => this.#newName("import"))
    const text = names
      .map((name) => {
        const [user, object] = name.split(" ")
        return JSON.stringify({ user, relation: "viewer", object })
      })
      .join("\n")
    for (const { losses } = this.oracle; losses === this.oracle.losses; ) {
      const machine = this.#pick()
      const writes = names.map((name) => this.oracle.beginWrite(name, true))
      const answer = await this.#ask("import", machine, "authz", "/stores/acme/bulk-write", { text })
      if (answer.status === 200) {
        for (const write of writes) this.oracle.done(write, answer.token ?? "")
        return
      }
      this.#expect(answer, machine, "import", [])
      await sleep(50)
    }
  }

  /** Writes one tuple at a machine and resolves to its name when it is done. */
  async mark(): Promise<string> {
    for (;;) {
      const name = this.#newName("mark")
      if (await this.#change(this.#pick(), name, true)) return name
      await sleep(50)
    }
  }

  /** The answer of a machine to a check, without judging it. */
  async checkOf(machine: Machine, name: string, fields: object): Promise<Answer> {
    return this.#ask("check", machine, "authz", "/stores/acme/check", {
      json: { tuple_key: keyOf(name), ...fields },
    })
  }

  async #repeat(run: () => Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      await run()
      if (this.#options.pauseMs > 0) await sleep(this.#options.pauseMs)
    }
  }

  async #writeOne(): Promise<void> {
    const name = this.#newName("u")
    this.#recent.push(name)
    if (this.#recent.length > 24) this.#recent.shift()
    if (!(await this.#change(this.#pick(), name, true))) return
    if (this.#random.chance(40)) {
      await sleep(this.#options.pauseMs)
      await this.#change(this.#pick(), name, false)
    }
  }

  async #change(machine: Machine, name: string, to: boolean): Promise<boolean> {
    const write = this.oracle.beginWrite(name, to)
    const tuples = { tuple_keys: [keyOf(name)] }
    const json = to ? { writes: tuples } : { deletes: tuples }
    const answer = await this.#ask("write", machine, "authz", "/stores/acme/write", { json })
    if (answer.status === 200) this.oracle.done(write, answer.token ?? "")
    // What a loss has undone cannot be deleted.
    else this.#expect(answer, machine, "write", !to && this.oracle.mayBeLost.size > 0 ? [400, 409] : [409])
    return answer.status === 200
  }

  async #check(): Promise<void> {
    const machine = this.#pick()
    const name = this.#known()
    if (name === undefined) return
    const read = this.oracle.beginRead(name)
    const answer = await this.checkOf(machine, name, { consistency: "HIGHER_CONSISTENCY" })
    this.oracle.endRead(read, answer.status === 200 ? answer.body.allowed === true : undefined, machine.name)
    if (answer.status !== 200) this.#expect(answer, machine, "check", [])
  }

  async #checkToken(): Promise<void> {
    const machine = this.#pick()
    const name = this.#known()
    if (name === undefined) return
    const read = this.oracle.beginRead(name)
    if (read.token === undefined) {
      this.oracle.endRead(read, undefined, machine.name)
      return
    }
    const answer = await this.#ask("token", machine, "authz", "/stores/acme/check", {
      json: { tuple_key: keyOf(name), consistency_token: read.token.text },
    })
    const isLost = answer.status === 409 && answer.body?.code === "history_lost"
    const found = answer.status === 200 ? answer.body.allowed === true : isLost ? "lost" : undefined
    this.oracle.endTokenRead(read, found, machine.name)
    if (found === undefined) this.#expect(answer, machine, "token", [])
  }

  /** One caller makes more calls at once than it may, at all machines. */
  async #callOften(): Promise<void> {
    const [kind, ledger] = this.#random.chance(50)
      ? (["limited", this.limits] as const)
      : (["paid", this.quotas] as const)
    const caller = this.#newName("caller")
    ledger.begin(caller)
    const headers = { "x-caller": caller }
    const one = async () => {
      const machine = this.#pick()
      const answer = await this.#ask(kind, machine, "gateway", `/${kind}`, { headers })
      ledger.ended(caller, answer.status)
      if (![200, 403, 429].includes(answer.status)) this.#expect(answer, machine, kind, [])
    }
    await Promise.all(Array.from({ length: callsMax + 3 }, one))
  }

  async #ask(
    kind: Kind,
    machine: Machine,
    listener: "gateway" | "authz",
    path: string,
    question: Parameters<Client["ask"]>[1] = {},
  ): Promise<Answer> {
    const answer = await this.#client.ask(`${machine.url(listener)}${path}`, question)
    this.answers++
    this.#options.onAnswer?.(kind, machine, answer)
    if (answer.status === 0) await sleep(20)
    return answer
  }

  #expect({ status, body }: Answer, machine: Machine, what: string, more: readonly number[]): void {
    if (!unavailable.has(status) && !more.includes(status))
      this.wrong.push(`${machine.name} answers ${what} with ${status}: ${JSON.stringify(body)}`)
  }

  #known(): string | undefined {
    return this.#recent.length === 0 ? undefined : this.#random.pick(this.#recent)
  }

  #pick(): Machine {
    return this.#random.pick(this.#fleet.machines)
  }

  #newName(what: string): string {
    const number = ++this.#names
    return what === "caller" ? `caller-${this.round}-${number}` : `user:${what}${number} order:${this.round}`
  }
}

/** The tuple key of a name as `user:a order:1`. */
function keyOf(name: string): { user: string; relation: string; object: string } {
  const [user = "", object = ""] = name.split(" ")
  return { user, relation: "viewer", object }
}

import { setTimeout as sleep } from "node:timers/promises"
import { Random } from "../naive/random.ts"
import type { Client } from "./client.ts"
import { failures, type Scene } from "./failures.ts"
import type { Fleet, Machine } from "./fleet.ts"
import { Traffic } from "./traffic.ts"
import { judgeWatcher, type SeenCommit, Watcher } from "./watcher.ts"

/** What a schedule came to. */
export interface ScheduleResult {
  /** What was wrong, in words. */
  readonly wrong: readonly string[]
  /** Answers that were judged. */
  readonly answers: number
}

/** Failures of schedule number `at` of a run: all of them come in turn, in an order of the seed. */
export function failuresOf(at: number, perSchedule: number, seed: number): readonly string[] {
  const names = Object.keys(failures)
  const dealt: string[] = []
  for (let place = at * perSchedule; place < (at + 1) * perSchedule; place++) {
    const deck = shuffled(names, new Random(seed + Math.floor(place / names.length)))
    dealt.push(deck[place % names.length] as string)
  }
  return dealt
}

/** Clients work while the failures happen, one after another; then everything is compared with the database. */
export async function runSchedule(
  fleet: Fleet,
  client: Client,
  seed: number,
  names: readonly string[],
): Promise<ScheduleResult> {
  const random = new Random(seed)
  const traffic = new Traffic(fleet, client, random, String(seed), {
    ...{ writers: 3, readers: 4, callers: 2, pauseMs: 4 },
  })
  const scene: Scene = { fleet, traffic, client, random, beside: [] }
  const settled = new Settled(scene, await startOf(fleet), await issueKey(scene, seed))
  const watchers = fleet.machines.map((_, at) => new Watcher(fleet.machines, at))
  await Promise.all(watchers.map((watcher) => watcher.start()))
  try {
    traffic.start()
    for (const name of names) await failures[name]?.(scene)
    await Promise.all(scene.beside.splice(0))
    for (const machine of fleet.machines) await machine.ready(client)
  } finally {
    await traffic.stop()
  }
  await caughtUp(watchers, traffic)
  await settled.compare()
  const feed = await settled.feed()
  for (const watcher of watchers) {
    await watcher.stop()
    const isLost = (change: string) => traffic.oracle.mayBeLost.has(change)
    traffic.wrong.push(...watcher.wrong, ...judgeWatcher(watcher.parts, feed, isLost))
  }
  // Each process may hold two calls of a quota that nobody gets, and each that was killed took its own with it.
  const heldBack = 2 * fleet.machines.length + 2 * names.length
  const wrong = [
    ...traffic.oracle.wrong,
    ...traffic.wrong,
    ...traffic.limits.judge("limit", 0, fleet.machines.length + 1),
    ...traffic.quotas.judge("quota", heldBack, fleet.machines.length + 1),
  ]
  return { wrong, answers: traffic.answers }
}

/** The newest revision, before anything happens. */
async function startOf(fleet: Fleet): Promise<number> {
  const [row] = await fleet.sql<[string]>("select coalesce(max(revision), 0)::text from sallyport.changes")
  return Number(row?.[0])
}

/** A key that passes until it is suspended. */
async function issueKey({ fleet, client }: Scene, seed: number): Promise<string> {
  const body = { name: `key-${seed}`, scope: { product: "gold" }, owner: "" }
  const [machine] = fleet.machines as [Machine]
  const made = await fleet.control(client, machine, "POST", "/v1/subscriptions", body)
  if (made.status !== 201) throw new Error(`no subscription: ${made.status} ${JSON.stringify(made.body)}`)
  return made.body.keys.primary
}

/** Resolves when each watcher has got everything: a tuple that is written after all others. */
async function caughtUp(watchers: readonly Watcher[], traffic: Traffic): Promise<void> {
  // A watcher that had to begin anew may have begun after the tuple: it gets the next one.
  for (let marks = 0; marks < 30; marks++) {
    const change = `write ${await traffic.mark()}`
    const has = ({ parts }: Watcher) => parts.at(-1)?.commits.some((commit) => commit.includes(change))
    for (let attempt = 0; attempt < 80; attempt++) {
      if (watchers.every(has)) return
      await sleep(50)
    }
  }
  throw new Error("a watcher does not get what is written within two minutes")
}

/** The fleet when nothing happens any more: what each process answers must be what the database has. */
class Settled {
  readonly #scene: Scene
  readonly #fromRevision: number
  readonly #key: string

  constructor(scene: Scene, fromRevision: number, key: string) {
    this.#scene = scene
    this.#fromRevision = fromRevision
    this.#key = key
  }

  async compare(): Promise<void> {
    const { fleet, traffic, random } = this.#scene
    const object = traffic.oracle.names[0]?.split(" ")[1] ?? ""
    const rows = await fleet.sql<[string]>("select subject from sallyport.tuples where object = $1", [object])
    const stored = new Set(rows.map(([user]) => `${user} ${object}`))
    traffic.oracle.resolve(stored)
    const { names } = traffic.oracle
    const asked = names.filter((name) => !name.includes(":import") || random.chance(10))
    const [plan] = await fleet.sql<[string]>("select plan from sallyport.plans order by serial desc limit 1")
    const greeting = Number(/greet-(\d+)/.exec(plan?.[0] ?? "")?.[1])
    const [state] = await fleet.sql<[string]>("select state from sallyport.subscriptions where name = $1", [
      `key-${object.slice("order:".length)}`,
    ])
    for (const machine of fleet.machines) {
      await this.#until(machine, "the newest plan", greeting, () => traffic.hello(machine))
      await this.#until(machine, "the key", state?.[0] === "active" ? 200 : 401, () => this.#useKey(machine))
      await this.#until(machine, "the users", [...stored].sort().join(), () =>
        this.#listUsers(machine, object),
      )
      await this.#checkAll(machine, asked, stored)
    }
    await this.#useTokens(stored)
  }

  /** Commits since the start; those that were pruned as they were before. */
  async feed(): Promise<readonly SeenCommit[]> {
    const commits = new Map<number, SeenCommit>()
    const newest = await this.#scene.fleet.feed(this.#fromRevision)
    const first = Math.min(...newest.keys())
    for (const pruned of this.#scene.fleet.pruned)
      for (const [revision, commit] of pruned)
        if (revision > this.#fromRevision && revision < first) commits.set(revision, commit)
    for (const [revision, commit] of newest) commits.set(revision, commit)
    return [...commits].sort(([one], [other]) => one - other).map(([, commit]) => commit)
  }

  /** Without asking for consistency a process may be behind, for half a second. */
  async #until(machine: Machine, what: string, wanted: unknown, ask: () => Promise<unknown>): Promise<void> {
    let found = await ask()
    for (let attempt = 0; found !== wanted && attempt < 400; attempt++) {
      await sleep(25)
      found = await ask()
    }
    if (found !== wanted)
      this.#scene.traffic.wrong.push(`${machine.name} stays with ${what}: ${found}, stored is ${wanted}`)
  }

  async #useKey(machine: Machine): Promise<number> {
    const headers = { "x-api-key": this.#key }
    return (await this.#scene.client.ask(`${machine.url("gateway")}/items`, { headers })).status
  }

  async #listUsers(machine: Machine, object: string): Promise<string> {
    const [type, id] = object.split(":")
    const json = { object: { type, id }, relation: "reader", user_filters: [{ type: "user" }] }
    const { body } = await this.#scene.client.ask(`${machine.url("authz")}/stores/acme/list-users`, { json })
    const users: { object: { type: string; id: string } }[] = body?.users ?? []
    return users
      .map((user) => `${user.object.type}:${user.object.id} ${object}`)
      .sort()
      .join()
  }

  async #checkAll(machine: Machine, names: readonly string[], stored: ReadonlySet<string>): Promise<void> {
    const { traffic, client } = this.#scene
    for (let from = 0; from < names.length; from += 50) {
      const some = names.slice(from, from + 50)
      const checks = some.map((name, at) => {
        const [user, object] = name.split(" ")
        return { correlation_id: String(at), tuple_key: { user, relation: "reader", object } }
      })
      const json = { checks, consistency: "HIGHER_CONSISTENCY" }
      const { status, body } = await client.ask(`${machine.url("authz")}/stores/acme/batch-check`, { json })
      some.forEach((name, at) => {
        const found = body?.result?.[at]?.allowed
        if (found !== stored.has(name))
          traffic.wrong.push(
            `${machine.name} settles on ${found} for ${name} (${status}), stored is ${stored.has(name)}`,
          )
      })
      traffic.answers += some.length
    }
  }

  /** The token of a commit that is stored gets the stored state; that of a lost one is refused. */
  async #useTokens(stored: ReadonlySet<string>): Promise<void> {
    const { fleet, traffic, random } = this.#scene
    const rows = await fleet.sql<[string, string]>("select revision::text, stamp from sallyport.changes")
    const commits = new Set(rows.map((row) => row.join(".")))
    const first = Math.min(...rows.map(([revision]) => Number(revision)))
    const unsafe = [...traffic.oracle.unsafeTokens()]
    const safe = traffic.oracle.names.flatMap((name): [string, string][] => {
      const token = traffic.oracle.safeToken(name)
      return token === undefined ? [] : [[name, token]]
    })
    const some = [...shuffled(unsafe, random).slice(0, 15), ...shuffled(safe, random).slice(0, 15)]
    for (const [name, token] of some) {
      const [, revision = "", stamp = ""] = Buffer.from(token, "base64url").toString("latin1").split(".")
      if (Number(revision) < first) continue
      const isStored = commits.has(`${revision}.${stamp}`)
      for (const machine of fleet.machines) {
        const { status, body } = await traffic.checkOf(machine, name, { consistency_token: token })
        const found = status === 200 ? body.allowed : body.code
        if (found !== (isStored ? stored.has(name) : "history_lost"))
          traffic.wrong.push(
            `${machine.name} answers ${found} to the token of ${name}, whose commit is ${isStored ? "stored" : "lost"}`,
          )
      }
    }
  }
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const left = [...items]
  const drawn: Item[] = []
  while (left.length > 0) drawn.push(...left.splice(random.below(left.length), 1))
  return drawn
}

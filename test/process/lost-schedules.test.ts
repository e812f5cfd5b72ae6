import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type Commit } from "../../runtime/check/ports.ts"
import { PlanKeeper } from "../../runtime/control/plan-keeper.ts"
import { readPlan } from "../../runtime/plan/read.ts"
import { IssuedSubscriptions } from "../../runtime/process/issued-subscriptions.ts"
import type { Database } from "../../runtime/store/database.ts"
import { currentPlan, insertPlan } from "../../runtime/store/plans.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { createStore } from "../../runtime/store/stores.ts"
import {
  changeSubscription,
  insertSubscription,
  listSubscriptions,
} from "../../runtime/store/subscriptions.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Quotas } from "../../runtime/usage/quotas.ts"
import { documentModel, modelPlanOf } from "../authz/harness.ts"
import { Random } from "../naive/random.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { planOf } from "./project.ts"

const tables = [
  "stores",
  "changes",
  "tuples",
  "plans",
  "models",
  "subscriptions",
  "subscription_keys",
  "subscription_feed",
  "subscription_commits",
  "quotas",
]
const model = loadModel(modelPlanOf(documentModel))
const quiet = createLog({ stream: { write: () => undefined } })
const users = ["user:a", "user:b", "user:c"]
const names = ["one", "two", "three"]
const terms = { counter: "calls", callsMax: 100_000, bytesMax: undefined, periodSeconds: 0 }

const sql = (database: Database, text: string) => database.query<unknown[]>({ name: "", text })

/** Keeps what the tables hold now. Those of the last schedule give way. */
async function save(database: Database): Promise<void> {
  for (const table of tables) {
    await sql(database, `drop table if exists sallyport.saved_${table}`)
    await sql(database, `create table sallyport.saved_${table} as table sallyport.${table}`)
  }
}

/** As when an older backup is restored: in one transaction, beneath the processes. */
async function lose(database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    const run = (text: string) => transaction.query({ name: "", text })
    await run(`truncate ${tables.map((table) => `sallyport.${table}`).join(", ")} cascade`)
    for (const table of [
      "stores",
      "models",
      ...tables.filter((each) => each !== "stores" && each !== "models"),
    ])
      await run(`insert into sallyport.${table} select * from sallyport.saved_${table}`)
  })
}

interface Freshness {
  readonly consistency?: "higher-consistency"
  readonly atLeast?: Commit
}

/** The parts of one process that follow the database. They do not poll by themselves: `look` is a poll of all. */
class Follower {
  readonly engine: Engine
  readonly writer: TupleWriter
  readonly issued: IssuedSubscriptions
  readonly quotas: Quotas
  readonly keeper: PlanKeeper
  readonly storeId: string
  readonly folder = join(tmpdir(), `sallyport-lost-${process.pid}-${Math.random().toString(36).slice(2)}`)
  /** Calls of the quota that this process knows of. */
  #used = 0

  constructor(database: Database, storeId: string) {
    this.storeId = storeId
    const never = { pollMs: 2 ** 30 }
    this.engine = new Engine({ ...createTupleSource(database), listen: () => () => undefined }, { pollMs: 0 })
    this.writer = new TupleWriter(database, (store, changes) => this.engine.applied(store, changes))
    this.issued = new IssuedSubscriptions({ database, ...never })
    this.quotas = new Quotas({ database, spoolFolder: this.folder })
    const servable = {
      prepare: async () => ({ activate: async () => undefined, discard: async () => undefined }),
    }
    this.keeper = new PlanKeeper({ database, servable, log: quiet, pollMs: 10 })
  }

  async look(): Promise<void> {
    await this.issued.refresh()
    await this.check("user:a", { consistency: "higher-consistency" })
    await this.lookAtQuota()
  }

  /** What was used once stays used, whatever the database has forgotten. */
  async lookAtQuota(): Promise<void> {
    const { calls = -1 } = (await this.quotas.look(terms, "key", 0)) ?? {}
    expect(calls).toBeGreaterThanOrEqual(this.#used)
    this.#used = calls
  }

  async take(): Promise<void> {
    expect((await this.quotas.take(terms, "key", 0, 1)).allowed).toBe(true)
    this.#used++
  }

  async check(user: string, freshness: Freshness = {}): Promise<boolean> {
    const request = { user, relation: "owner", object: "document:1", ...freshness }
    return (await this.engine.check(this.storeId, model, request)).allowed
  }

  async close(): Promise<void> {
    this.engine.close()
    await Promise.all([this.issued.close(), this.quotas.close(), this.keeper.close()])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

class Schedule {
  readonly #database: Database
  readonly #random: Random
  readonly #followers: readonly Follower[]
  readonly #storeId: string
  #plans = 0
  /** Tokens of writes: all that clients were given, those of the database's history, and of what was saved of it. */
  readonly #tokens: Commit[] = []
  #history: readonly Commit[] = []
  #saved: readonly Commit[] = []
  /** Stamps of the commits that the last loss left: their tokens do not tell that later ones were lost. */
  #left: ReadonlySet<string> = new Set()

  constructor(database: Database, random: Random, storeId: string) {
    this.#database = database
    this.#random = random
    this.#storeId = storeId
    this.#followers = [new Follower(database, storeId), new Follower(database, storeId)]
  }

  async start(): Promise<void> {
    for (const follower of this.#followers) {
      await follower.look()
      await follower.keeper.start()
    }
  }

  async step(): Promise<void> {
    const random = this.#random
    const follower = random.pick(this.#followers)
    const what = random.below(100)
    if (what < 30) {
      const rows = [rowOfTuple({ user: random.pick(users), relation: "owner", object: "document:1" })]
      const both = { onDuplicate: "ignore", onMissing: "ignore" } as const
      const request = random.chance(50) ? { writes: rows, deletes: [] } : { writes: [], deletes: rows }
      const written = await follower.writer.write(this.#storeId, { ...request, ...both })
      if (written !== undefined && "at" in written && written.at.stamp !== "") {
        this.#tokens.push(written.at)
        this.#history = [...this.#history, written.at]
      }
    } else if (what < 45) {
      await changeSubscription(this.#database, random.pick(names), ({ state, expiresAt }) => ({
        state: state === "active" ? "suspended" : "active",
        expiresAt,
      }))
    } else if (what < 55) {
      const base = (await currentPlan(this.#database)) ?? null
      const plan = planOf({ gateway: 1, authz: 2, control: 3 }, `greet-${++this.#plans}-${random.below(1e9)}`)
      await insertPlan(this.#database, { plan, base, appliedBy: "test" })
    } else if (what < 68) await follower.take()
    else if (what < 83) await this.#ask(follower)
    else if (what < 90) {
      await follower.look()
      await this.#compare(follower)
    } else if (what < 94) {
      await save(this.#database)
      this.#saved = this.#history
    } else {
      await lose(this.#database)
      this.#history = this.#saved
      this.#left = new Set(this.#saved.map(({ stamp }) => stamp))
    }
  }

  /** What asks for the newest gets it, and so does the token of a commit after the last loss; a token of what was lost gets no answer. */
  async #ask(follower: Follower): Promise<void> {
    const user = this.#random.pick(users)
    const token = this.#random.chance(70) ? this.#tokens.at(-1 - this.#random.below(6)) : undefined
    const atLeast = token === undefined ? {} : { atLeast: token }
    const newest = token !== undefined && token === this.#history.at(-1) && !this.#left.has(token.stamp)
    const consistency = newest ? {} : ({ consistency: "higher-consistency" } as const)
    const answer = await follower.check(user, { ...consistency, ...atLeast }).catch((error: unknown) => {
      if (error instanceof CheckError) return error.code
      throw error
    })
    // A write that changes nothing is given the token of an earlier one.
    const isLost = token !== undefined && !this.#history.some(({ stamp }) => stamp === token.stamp)
    expect([user, answer]).toEqual([user, isLost ? "history_lost" : (await this.#stored()).has(user)])
  }

  async #stored(): Promise<ReadonlySet<unknown>> {
    return new Set((await sql(this.#database, "select subject from sallyport.tuples")).map(([user]) => user))
  }

  /** After a poll no tuple or subscription of memory differs from the database. */
  async #compare(follower: Follower): Promise<void> {
    const stored = await this.#stored()
    for (const user of users) expect([user, await follower.check(user)]).toEqual([user, stored.has(user)])
    expect(follower.issued.complete).toBe(true)
    for (const { name, state, keys } of await listSubscriptions(this.#database, { after: "", limit: 10 })) {
      const digest = Buffer.from(keys.primary?.digest ?? "", "hex").toString("latin1")
      const passes = typeof follower.issued.find(digest, true) === "object"
      expect([name, passes]).toEqual([name, state === "active"])
    }
  }

  /** After one poll of each nothing that is answered differs from the database. */
  async settle(): Promise<void> {
    const newest = await currentPlan(this.#database)
    const read = readPlan(newest?.plan)
    for (const follower of this.#followers) {
      await follower.look()
      await this.#compare(follower)
      // Where no plan is left the last one serves on.
      if ("plan" in read) await expect.poll(() => follower.keeper.served).toEqual(read.plan.plan)
    }
  }

  async close(): Promise<void> {
    for (const follower of this.#followers) await follower.close()
  }
}

describePostgres("random schedules of what a database loses beneath two processes", () => {
  let database: Database
  let drop: () => Promise<void>
  beforeAll(async () => {
    const created = await createMigratedDatabase()
    drop = created.drop
    database = openPostgres(created.url)
  })
  afterAll(async () => {
    await database.close()
    await drop()
  })

  test("tuples, plans, subscriptions and quotas: nothing answered is of what was lost", async (context) => {
    const schedules = scaled(2)
    for (let seed = firstSeed; seed < firstSeed + schedules; seed++) {
      await sql(
        database,
        `truncate ${tables
          .filter((table) => table !== "subscription_feed")
          .map((table) => `sallyport.${table}`)
          .join(", ")} cascade`,
      )
      const { id } = await createStore(database, "schedule")
      for (const name of names) {
        const key = (slot: string) => ({
          digest: Buffer.from(`${name}${slot}`.padEnd(32)).toString("hex"),
          prefix: name,
        })
        const keys = { primary: key("p"), secondary: key("s") }
        const entry = {
          name,
          scope: { kind: "all" },
          state: "active",
          owner: "",
          note: "",
          expiresAt: null,
          keys,
          perOwnerMax: null,
        } as const
        await insertSubscription(database, entry)
      }
      await save(database)
      const schedule = new Schedule(database, new Random(seed), id)
      try {
        await schedule.start()
        for (let at = 0; at < 40; at++) await schedule.step()
        await schedule.settle()
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
      } finally {
        await schedule.close()
      }
    }
    tellAsked(context, { "schedules over tuples, plans, subscriptions and quotas": schedules })
  })
})

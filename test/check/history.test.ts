import { describe, expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import {
  type Commit,
  type LoadedBatch,
  StoreGone,
  type TupleChange,
  type TupleKey,
  type TupleRow,
} from "../../runtime/check/ports.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type doc
  relations
    define viewer: [user]
`)
const users = ["user:a", "user:b", "user:c"]
const docs = ["doc:1", "doc:2", "doc:3", "doc:4"]

interface State {
  readonly rows: ReadonlyMap<string, TupleRow>
  readonly feed: readonly TupleChange[]
  readonly latest: Commit
}

let stamps = 0

/** A source that can be set back, as by a failover to a standby that lacks the last commits. Stamps never repeat. */
class LosingSource extends MemorySource {
  readonly #past: State[] = []
  /** The store is not there any more. */
  gone = false

  protected override stampOfNext(): string {
    return `stamp${String(++stamps).padStart(7, "0")}`
  }

  toggle(tuple: TupleKey): TupleChange[] {
    this.#past.push({ rows: new Map(this.rows), feed: [...this.feed], latest: this.latest })
    const has = this.allows(tuple.user, tuple.object)
    return has ? this.delete(tuple) : this.write(tuple)
  }

  override async newest(storeId: string): Promise<Commit> {
    if (this.gone) throw new StoreGone("the store is gone")
    return super.newest(storeId)
  }

  override async load(storeId: string, onBatch: LoadedBatch): Promise<Commit> {
    await this.newest(storeId)
    return super.load(storeId, onBatch)
  }

  allows(user: string, object: string): boolean {
    return this.rows.has(`${object} viewer ${user} `)
  }

  /** Forgets the last commits, as many as there are at most. */
  lose(commits: number): void {
    const state = this.#past.splice(-commits)[0]
    if (state === undefined) return
    this.rows.clear()
    for (const [key, row] of state.rows) this.rows.set(key, row)
    this.feed.splice(0, this.feed.length, ...state.feed)
    this.latest = state.latest
  }
}

const ways: { name: string; options: EngineOptions }[] = [
  { name: "whole", options: {} },
  { name: "pages", options: { paged: true } },
]

function tell(
  engine: Engine,
  how: "higher-consistency" | undefined,
  source: LosingSource,
): Promise<string[]> {
  const wrong = users.flatMap((user) =>
    docs.map(async (object) => {
      const { allowed } = await engine.check("s", model, {
        user,
        relation: "viewer",
        object,
        consistency: how,
      })
      return allowed === source.allows(user, object) ? [] : [`${user} ${object}`]
    }),
  )
  return Promise.all(wrong).then((found) => found.flat())
}

const tuples = Array.from({ length: 60 }, (_, at) => tupleOf(`doc:${at} viewer user:a`))

describe.each(ways)("a database that lost commits, $name", ({ options }) => {
  test.each([1, 2, 50])(
    "%d commits lost and as many others made: none of the lost ones counts",
    async (lost) => {
      const source = new LosingSource()
      const losses: string[] = []
      const engine = new Engine(source, {
        pollMs: 0,
        ...options,
        onHistoryLost: (store, held, found) => losses.push(`${store} ${held.revision} ${found.revision}`),
      })
      for (const tuple of tuples) source.toggle(tuple)
      await engine.warm("s")
      const ask = (at: number, consistency?: "higher-consistency") =>
        engine.check("s", model, { user: "user:a", relation: "viewer", object: `doc:${at}`, consistency })
      expect(await ask(59)).toMatchObject({ allowed: true, revision: 60 })
      source.lose(lost)
      for (let at = 0; at < lost; at++) source.toggle(tupleOf(`doc:${at} viewer user:b`))
      expect((await source.newest("s")).revision).toBe(60)
      expect(await ask(59, "higher-consistency")).toMatchObject({ allowed: false, revision: 60 })
      expect(await ask(59)).toMatchObject({ allowed: false })
      expect(losses).toEqual(["s 60 60"])
      engine.close()
    },
  )

  test("an own write that follows another history than the one held tells of the loss", async () => {
    const source = new LosingSource()
    const losses: string[] = []
    const engine = new Engine(source, { pollMs: 0, ...options, onHistoryLost: (store) => losses.push(store) })
    for (const tuple of tuples.slice(0, 5)) source.toggle(tuple)
    await engine.warm("s")
    source.lose(2)
    source.toggle(tupleOf("doc:1 viewer user:b"))
    engine.applied("s", source.toggle(tupleOf("doc:2 viewer user:b")))
    const ask = (text: string) => engine.check("s", model, tupleOf(text))
    expect(await ask("doc:4 viewer user:a")).toMatchObject({ allowed: false, revision: 5 })
    expect(await ask("doc:2 viewer user:b")).toMatchObject({ allowed: true, revision: 5 })
    expect(losses).toEqual(["s"])
    engine.close()
  })
})

describe.each(ways)("what names a commit, and a store that is gone, $name", ({ options }) => {
  test("a token of a lost commit is not an answer, one of the history is", async () => {
    const source = new LosingSource()
    const engine = new Engine(source, { pollMs: 0, ...options })
    const [kept] = source.toggle(tupleOf("doc:1 viewer user:a"))
    const [gone] = source.toggle(tupleOf("doc:2 viewer user:a"))
    if (kept === undefined || gone === undefined) throw new Error("nothing was written")
    source.lose(1)
    source.toggle(tupleOf("doc:3 viewer user:a"))
    source.toggle(tupleOf("doc:4 viewer user:a"))
    await engine.warm("s")
    const ask = async (atLeast: Commit) =>
      engine.check("s", model, { ...tupleOf("doc:2 viewer user:a"), atLeast })
    await expect(ask(gone)).rejects.toMatchObject({ code: "history_lost" })
    await expect(ask({ revision: 9, stamp: gone.stamp })).rejects.toMatchObject({ code: "history_lost" })
    expect(await ask(kept)).toMatchObject({ allowed: false, revision: 3 })
    expect(await ask(await source.newest("s"))).toMatchObject({ allowed: false, revision: 3 })
    engine.close()
  })

  test("a store that is gone is answered by nobody", async () => {
    const source = new LosingSource()
    source.toggle(tupleOf("doc:1 viewer user:a"))
    const engine = new Engine(source, { pollMs: 5, ...options })
    await engine.warm("s")
    source.gone = true
    await expect
      .poll(async () => {
        try {
          return await engine.check("s", model, tupleOf("doc:1 viewer user:a"))
        } catch (error) {
          return (error as { code: string }).code
        }
      })
      .toBe("unavailable")
    source.gone = false
    expect(await engine.check("s", model, tupleOf("doc:1 viewer user:a"))).toMatchObject({ allowed: true })
    engine.close()
  })
})

/** What happens at random: writes of two processes, commits that are lost, polls, questions. */
class Schedule {
  readonly source = new LosingSource()
  readonly engines: readonly Engine[]
  readonly #random: Random
  asked = 0

  constructor(random: Random, options: EngineOptions) {
    this.#random = random
    this.engines = [0, 1].map(() => new Engine(this.source, { pollMs: 0, ...options }))
  }

  async step(): Promise<void> {
    const random = this.#random
    const engine = random.pick(this.engines)
    const what = random.below(100)
    if (what < 45) {
      const written = this.source.toggle(tupleOf(`${random.pick(docs)} viewer ${random.pick(users)}`))
      // An answer may be late: others are committed, or lost, before this process hears of its own.
      if (random.chance(70)) engine.applied("s", written)
      else setImmediate(() => engine.applied("s", written))
    } else if (what < 55) this.source.lose(1 + random.below(random.chance(20) ? 12 : 2))
    else if (what < 70) await this.#right(engine, "higher-consistency")
    else if (what < 85) await this.#anyAnswer(engine)
    else await new Promise((resolve) => setImmediate(resolve))
  }

  async #right(engine: Engine, how: "higher-consistency"): Promise<void> {
    this.asked++
    expect(await tell(engine, how, this.source)).toEqual([])
  }

  /** From memory, which may be of before a loss until the next poll. */
  async #anyAnswer(engine: Engine): Promise<void> {
    const { user, relation, object } = tupleOf(
      `${this.#random.pick(docs)} viewer ${this.#random.pick(users)}`,
    )
    await engine.check("s", model, { user, relation, object })
  }

  /** A poll of each process, and then nothing disagrees with the database. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    for (const engine of this.engines) {
      await engine.check("s", model, { ...tupleOf("doc:1 viewer user:a"), consistency: "higher-consistency" })
      expect(await tell(engine, undefined, this.source)).toEqual([])
      engine.close()
    }
  }
}

test.for(ways)(
  "random schedules of writes and losses end in what the database has, $name",
  async ({ options }, context) => {
    const first = firstSeed
    const schedules = scaled(20, 0.4)
    let asked = 0
    for (let seed = first; seed < first + schedules; seed++) {
      const schedule = new Schedule(new Random(seed), options)
      try {
        for (let at = 0; at < 40; at++) await schedule.step()
        await schedule.settle()
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
      asked += schedule.asked
    }
    tellAsked(context, { "schedules of losses": schedules, "moments compared with the database": asked })
  },
)

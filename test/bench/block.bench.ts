import { openSync, readSync } from "node:fs"
import { Engine } from "../../runtime/check/engine.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import {
  CheckError,
  type CheckRequest,
  type LoadedBatch,
  packRows,
  type TupleChange,
  type TupleRow,
  type TupleSource,
} from "../../runtime/check/ports.ts"
import { modelOf } from "../check/model.ts"
import { Random } from "../naive/random.ts"

// How long hostile shapes hold the event loop, and what they do to the small checks of others. Tuples come from memory in batches, a turn each, as a
// database's cursor brings them.

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
    define banned: [user]
    define ally: [user, group#ally] but not banned
type doc
  relations
    define viewer: [user, group#member]
    define guest: [user, group#ally]
`)

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Rows are made while they are read: a million of them held here would be what the collector is busy with. */
type Rows = () => Iterable<TupleRow>

class RowSource implements TupleSource {
  readonly #rows: Rows
  readonly latest = { revision: 1, stamp: "1" }

  constructor(rows: Rows) {
    this.#rows = rows
  }

  async newest() {
    return this.latest
  }
  async stampOf(_store: string, revision: number) {
    return String(revision)
  }
  async load(_store: string, onBatch: LoadedBatch) {
    let batch: TupleRow[] = []
    for (const row of this.#rows()) {
      batch.push(row)
      if (batch.length < 1000) continue
      await onBatch(packRows(batch))
      batch = []
      await turn()
    }
    await onBatch(packRows(batch))
    return this.latest
  }
  async pages() {
    return { at: this.latest, pages: [] }
  }
  async changes() {
    return []
  }
  async list() {
    return this.latest
  }
  async stood() {
    return []
  }
}

/** Time that passes; the process's own, its helpers' for the collector included; and that of the loop's thread alone, by which a busy machine matters least. All in milliseconds. */
interface Times {
  readonly wall: number
  readonly cpu: number
  readonly loop: number
}

const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, "r")
const scheduled = Buffer.alloc(128)

/** The kernel counts the loop's time in ticks of up to 4 ms. */
function clock(): Times {
  const { user, system } = process.cpuUsage()
  const length = readSync(schedule, scheduled, 0, scheduled.length, 0)
  const loop = Number(scheduled.toString("latin1", 0, length).split(" ")[0]) / 1e6
  return { wall: performance.now(), cpu: (user + system) / 1000, loop }
}

/** The loop's turns and a small check in each of them, while something else goes on. */
class Watch {
  /** What the longest turn worked; and what it took with waiting for the processor and for the collector's threads, as far as those ran. */
  longestMs = 0
  longestTakenMs = 0
  #on = true
  readonly #small: () => void
  readonly #done: Promise<void>

  constructor(small: () => void) {
    this.#small = small
    this.#done = this.#run()
  }

  async #run(): Promise<void> {
    let last = clock()
    while (this.#on) {
      await turn()
      const now = clock()
      this.longestMs = Math.max(this.longestMs, Math.min(now.wall - last.wall, now.loop - last.loop))
      const taken = Math.min(now.wall - last.wall, now.cpu - last.cpu)
      this.longestTakenMs = Math.max(this.longestTakenMs, taken)
      this.#small()
      last = clock()
    }
  }

  async end(): Promise<void> {
    this.#on = false
    await this.#done
  }
}

const random = new Random(17)
const row = (object: string, relation: string, subject: string, subjectRelation = ""): TupleRow => [
  object,
  relation,
  subject,
  subjectRelation,
  "",
  "",
]
const ask = (user: string, relation: string, object: string): CheckRequest => ({ user, relation, object })

/** A second store is asked all the time. */
const others = new RowSource(() => [
  row("doc:1", "viewer", "group:1", "member"),
  row("group:1", "member", "user:ann"),
])

async function measure(what: string, engine: Engine, work: () => unknown): Promise<void> {
  const watch = new Watch(() => void engine.check("others", model, ask("user:ann", "viewer", "doc:1")))
  // Let the measurement itself settle.
  for (let at = 0; at < 20; at++) await turn()
  watch.longestMs = 0
  watch.longestTakenMs = 0
  const started = performance.now()
  let outcome: unknown
  try {
    outcome = await work()
  } catch (error) {
    if (!(error instanceof CheckError)) throw error
    outcome = error.code
  }
  const elapsed = performance.now() - started
  for (let at = 0; at < 5; at++) await turn()
  await watch.end()
  console.log(
    JSON.stringify({
      what: `longest turn: ${what}`,
      value: Number(watch.longestMs.toFixed(1)),
      unit: "ms",
      spread: `with waiting ${watch.longestTakenMs.toFixed(1)}, in all ${elapsed.toFixed(0)} ms, ${typeof outcome === "object" && outcome !== null && "allowed" in outcome ? outcome.allowed : (outcome ?? "done")}`,
      bar: "≤ 20",
      ok: watch.longestMs <= 20,
    }),
  )
}

/** Numbers below a million in an order of their own. */
function shuffled(): Int32Array {
  const numbers = Int32Array.from({ length: 1_000_000 }, (_, at) => at)
  for (let at = numbers.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    const moved = numbers[at] as number
    numbers[at] = numbers[other] as number
    numbers[other] = moved
  }
  return numbers
}

/** A group of a million. Names come in another order than their places in the list. */
function* crowd(numbers: Int32Array): Generator<TupleRow> {
  for (const at of numbers.subarray(0, 300_000)) yield row(`doc:own${at}`, "viewer", `user:${at}`)
  yield row("doc:1", "viewer", "group:1", "member")
  for (let at = 0; at < numbers.length; at++) yield row("group:1", "member", `user:${at}`)
}

function* chain(viewer: string, relation: string): Generator<TupleRow> {
  yield row("doc:1", viewer, "group:0", relation)
  for (let at = 0; at < 1000; at++) yield row(`group:${at}`, relation, `group:${at + 1}`, relation)
  yield row("group:1000", relation, "user:ann")
}

function* diamond(viewer: string, relation: string): Generator<TupleRow> {
  yield row("doc:1", viewer, "group:0a", relation)
  for (let level = 0; level < 20; level++)
    for (const from of "ab")
      for (const to of "ab") yield row(`group:${level}${from}`, relation, `group:${level + 1}${to}`, relation)
}

function* cycle(viewer: string, relation: string): Generator<TupleRow> {
  yield row("doc:1", viewer, "group:0", relation)
  for (let at = 0; at < 10_000; at++)
    yield row(`group:${at}`, relation, `group:${(at + 1) % 10_000}`, relation)
}

function* wide(viewer: string, relation: string): Generator<TupleRow> {
  for (let at = 0; at < 200_000; at++) yield row("doc:1", viewer, `group:${(at * 7919) % 200_000}`, relation)
  for (let at = 0; at < 200_000; at++) yield row(`group:${at}`, relation, `group:${at + 200_000}`, relation)
}

function shapes(): Map<string, { rows: Rows; ask: [string, CheckRequest][] }> {
  const found = new Map<string, { rows: Rows; ask: [string, CheckRequest][] }>()
  const numbers = shuffled()
  found.set("a group of 1,000,000", {
    rows: () => crowd(numbers),
    ask: [
      ["a member", ask("user:777777", "viewer", "doc:1")],
      ["a stranger", ask("user:stranger", "viewer", "doc:1")],
    ],
  })
  for (const relation of ["member", "ally"]) {
    const viewer = relation === "member" ? "viewer" : "guest"
    const stranger: [string, CheckRequest][] = [["a stranger", ask("user:ann", viewer, "doc:1")]]
    found.set(`a chain of 1,000 (${relation})`, {
      rows: () => chain(viewer, relation),
      ask: [["its end", ask("user:ann", viewer, "doc:1")]],
    })
    found.set(`a diamond of 2^20 ways (${relation})`, {
      rows: () => diamond(viewer, relation),
      ask: stranger,
    })
    found.set(`a cycle of 10,000 (${relation})`, { rows: () => cycle(viewer, relation), ask: stranger })
    found.set(`a document of 200,000 groups (${relation})`, {
      rows: () => wide(viewer, relation),
      ask: stranger,
    })
  }
  return found
}

/** The store `big` has these rows. */
function engineOf(rows: Rows): Engine {
  const source = new RowSource(rows)
  const both: TupleSource = {
    newest: (store) => (store === "others" ? others.newest() : source.newest()),
    stampOf: (store, revision) => source.stampOf(store, revision),
    load: (store, onBatch) => (store === "others" ? others : source).load(store, onBatch),
    pages: () => source.pages(),
    changes: () => source.changes(),
    list: () => source.list(),
    stood: () => source.stood(),
  }
  return new Engine(both, { pollMs: 0, depthMax: Number.POSITIVE_INFINITY, coldMs: 600_000 })
}

async function run(
  name: string,
  rows: Rows,
  questions: [string, CheckRequest][],
  asked: LoadedModel,
): Promise<void> {
  const engine = engineOf(rows)
  await engine.warm("others")
  await measure(`${name}: load`, engine, () => engine.warm("big"))
  for (const [who, request] of questions)
    await measure(`${name}: ${who}`, engine, () => engine.check("big", asked, request))
  const change = (revision: number, operation: "write" | "delete"): TupleChange[] =>
    Array.from({ length: 1_000 }, (_, at) => ({
      revision,
      stamp: String(revision),
      previous: String(revision - 1),
      operation,
      row: row("group:1", "member", `user:new${(at * 331) % 1_000}`),
    }))
  await measure(`${name}: 1,000 members come and go, and a list is read`, engine, async () => {
    engine.applied("big", change(2, "write"))
    await turn()
    await engine.check("big", asked, ask("user:new5", "member", "group:1"))
    engine.applied("big", change(3, "delete"))
    await turn()
    await engine.check("big", asked, ask("group:9#member", "member", "group:1"))
  })
  await measure(`${name}: dropped`, engine, async () => {
    engine.dropped("big")
    for (let at = 0; at < 50; at++) await turn()
  })
  engine.close()
}

/** Milliseconds of the process's own time: others on the machine make no check late by it. */
function ownNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Small checks that are due every millisecond: how late their answers are, in milliseconds, the slowest of a hundred. */
async function lateness(engine: Engine, forMs: number): Promise<number> {
  const late: number[] = []
  const started = ownNow()
  for (let due = started; due < started + forMs; due++) {
    while (ownNow() < due) await turn()
    void engine.check("others", model, ask("user:ann", "viewer", "doc:1"))
    late.push(ownNow() - due)
  }
  late.sort((one, other) => one - other)
  return late[Math.floor(late.length * 0.99)] ?? 0
}

/** What small checks feel while one hostile question after the other is at work. */
async function beside(name: string, rows: Rows, request: CheckRequest): Promise<void> {
  const engine = engineOf(rows)
  await Promise.all([engine.warm("others"), engine.warm("big")])
  const alone: number[] = []
  const together: number[] = []
  for (let round = 0; round < 3; round++) {
    alone.push(await lateness(engine, 1_000))
    let on = true
    const hostile = (async () => {
      while (on) {
        await engine.check("big", model, request)
        await turn()
      }
    })()
    together.push(await lateness(engine, 2_000))
    on = false
    await hostile
  }
  const middle = (values: number[]) => values.sort((one, other) => one - other)[1] ?? 0
  console.log(
    JSON.stringify({
      what: `p99 of small checks beside ${name}`,
      value: Number(middle(together).toFixed(2)),
      unit: "ms",
      spread: `alone ${middle(alone).toFixed(2)} ms`,
    }),
  )
  engine.close()
}

for (const [name, { rows, ask: questions }] of shapes()) {
  const hostile = questions.find(([who]) => who === "a stranger")
  if (hostile !== undefined && name.includes("(ally)")) await beside(`${name}: a stranger`, rows, hostile[1])
  await run(name, rows, questions, model)
}

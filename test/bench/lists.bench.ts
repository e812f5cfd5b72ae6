import { batchCheck } from "../../runtime/check/batch-check.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listRelations } from "../../runtime/check/list-relations.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { matrix } from "../../runtime/check/matrix.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { modelOf } from "../check/model.ts"
import { reader, readerDocs, scenarios, tuples, model as worldModel } from "./authz/world.ts"

// Lists and batches in process: in the world of the API's bench, and in the shapes that are quadratic when they are done one by one.

const banning = modelOf(`
type user
type group
  relations
    define banned: [user]
    define member: [user, group#ally]
    define ally: member but not banned
type doc
  relations
    define viewer: [group#ally]
`)

const rounds = 5
const roundMs = 300

async function engineOf(keys: readonly TupleKey[]): Promise<Engine> {
  const source = new MemorySource()
  for (let at = 0; at < keys.length; at += 1000) source.write(...keys.slice(at, at + 1000))
  const engine = new Engine(source, { pollMs: 0 })
  await engine.warm("bench")
  return engine
}

interface Row {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly spread: string
  readonly bar?: string
  readonly ok?: boolean
}

function print(
  what: string,
  unit: string,
  values: readonly number[],
  bar?: [text: string, ok: (value: number) => boolean],
): void {
  const sorted = [...values].sort((a, b) => a - b)
  const value = Number((sorted[sorted.length >> 1] ?? 0).toPrecision(3))
  const row: Row = {
    what,
    value,
    unit,
    spread: `${(sorted[0] ?? 0).toPrecision(3)}–${(sorted[sorted.length - 1] ?? 0).toPrecision(3)}`,
    ...(bar === undefined ? {} : { bar: bar[0], ok: bar[1](value) }),
  }
  console.log(JSON.stringify(row))
}

/** CPU milliseconds of one answer, which must be right. */
async function measure<Answer>(
  what: string,
  engine: Engine,
  work: () => EngineWork<Answer>,
  right: (answer: Answer) => boolean,
  maxMs?: number,
): Promise<void> {
  const values: number[] = []
  for (let round = 0; round <= rounds; round++) {
    let count = 0
    const cpu = process.cpuUsage()
    const end = performance.now() + roundMs
    do {
      if (!right(await engine.ask("bench", work()))) throw new Error(`${what}: a bench of wrong answers`)
      count++
    } while (performance.now() < end)
    const { user, system } = process.cpuUsage(cpu)
    // The first round warms up.
    if (round > 0) values.push((user + system) / 1000 / count)
  }
  print(what, "ms", values, maxMs === undefined ? undefined : [`≤ ${maxMs}`, (value) => value <= maxMs])
}

/** Longest time the event loop was held while something was going on: in CPU time, because a busy machine may take the processor away for longer. */
async function longestBlock(what: string, ask: () => Promise<unknown>): Promise<void> {
  const blocks: number[] = []
  for (let round = 0; round < rounds; round++) {
    let longest = 0
    let ended = false
    let last = process.cpuUsage()
    const look = () => {
      const { user, system } = process.cpuUsage(last)
      longest = Math.max(longest, (user + system) / 1000)
      last = process.cpuUsage()
      if (!ended) setImmediate(look)
    }
    setImmediate(look)
    await ask()
    ended = true
    blocks.push(longest)
  }
  print(`${what}: longest block of the event loop`, "ms", blocks, ["≤ 20", (value) => value <= 20])
}

/** The world of the API's bench. */
async function world(): Promise<void> {
  const engine = await engineOf(tuples())
  const model = loadModel(lowerModel(worldModel))
  await listsOf(engine, model)
  await checksOf(engine, model)
  engine.close()
}

async function listsOf(engine: Engine, model: LoadedModel): Promise<void> {
  const { bounds } = engine
  const question = { user: reader, relation: "can_read", type: "doc" }
  const count = readerDocs
  await measure(
    `list-objects of ${count}, viewer but not blocked`,
    engine,
    () => listObjects(model, question, bounds),
    ({ objects }) => objects.length === count,
    1,
  )
  await measure(
    `list-objects of ${count}, a page of 100`,
    engine,
    () => listObjects(model, { ...question, pageSize: 100 }, bounds),
    ({ objects, next }) => objects.length === 100 && next !== undefined,
  )
  await measure(
    `list-objects of ${count}, viewer`,
    engine,
    () => listObjects(model, { ...question, relation: "viewer" }, bounds),
    ({ objects }) => objects.length === count,
  )
}

async function checksOf(engine: Engine, model: LoadedModel): Promise<void> {
  const { bounds } = engine
  const batches = scenarios()
    .find(({ path }) => path === "batch-check")
    ?.bodies.map((body) =>
      (JSON.parse(body) as { checks: { tuple_key: TupleKey }[] }).checks.map(({ tuple_key }) => tuple_key),
    )
  let at = 0
  const next = () => batches?.[at++ % batches.length] ?? []
  await measure(
    "batch of 50",
    engine,
    () => batchCheck(model, next(), bounds),
    ({ results }) => results.filter((result) => "allowed" in result && result.allowed).length === 25,
    0.65,
  )
  const [first] = next()
  const object = first?.object ?? ""
  const user = first?.user ?? ""
  await measure(
    "list-relations",
    engine,
    () => listRelations(model, { user, object }, bounds),
    () => true,
  )
  const request = { object, relation: "can_read", filter: { type: "user" } }
  await measure(
    "list-users of a document",
    engine,
    () => listUsers(model, request, bounds),
    ({ users }) => users.length > 20,
  )
  const all = Array.from({ length: 100 }, (_, which) => `doc:t${which}-4-2`)
  const people = Array.from({ length: 25 }, (_, which) => `user:u${which}`)
  const cells = { users: people, relations: ["viewer", "can_read"], objects: all }
  await measure(
    "matrix of 5,000 cells",
    engine,
    () => matrix(model, cells, bounds),
    ({ cells }) => cells.length === 25,
  )
}

/** 100,000 members of a thousand groups that may all see one document, but for some; and one user with 100,000 documents. */
async function crowds(): Promise<void> {
  const keys: TupleKey[] = []
  const add = (user: string, relation: string, object: string) => keys.push({ user, relation, object })
  for (let at = 0; at < 100_000; at++) {
    add(`user:m${at}`, "member", `group:c${at % 1000}`)
    add("user:busy", "owner", `doc:d${at}`)
    if (at % 100 === 0) add(`user:m${at}`, "blocked", "doc:crowd")
    if (at % 3 === 0) add("group:many#member", "blocked", `doc:d${at}`)
    add("group:many#member", "blocked", `doc:e${at}`)
  }
  for (let at = 0; at < 1000; at++) add(`group:c${at}#member`, "viewer", "doc:crowd")
  add("user:busy", "member", "group:many")
  for (let at = 0; at < 5; at++) add("user:few", "owner", `doc:f${at}`)
  add("user:few", "member", "group:many")
  const engine = await engineOf(keys)
  const model = loadModel(lowerModel(worldModel))
  const { bounds } = engine
  const crowd = { object: "doc:crowd", relation: "can_read", filter: { type: "user" } }
  await measure(
    "list-users: 100,000 members of 1,000 groups but not 1,000 blocked",
    engine,
    () => listUsers(model, crowd, bounds),
    ({ users }) => users.length === 99_000,
    3000,
  )
  const busy = { user: "user:busy", relation: "can_read", type: "doc" }
  await measure(
    "list-objects: 100,000 but not 133,000",
    engine,
    () => listObjects(model, busy, bounds),
    ({ objects }) => objects.length === 66_666,
    3000,
  )
  await measure(
    "list-objects: 5 but not 133,000",
    engine,
    () => listObjects(model, { ...busy, user: "user:few" }, bounds),
    ({ objects }) => objects.length === 5,
    1,
  )
  await longestBlock("list-users of 100,000", async () =>
    engine.ask("bench", listUsers(model, crowd, bounds)),
  )
  await longestBlock("list-objects of 100,000", async () =>
    engine.ask("bench", listObjects(model, busy, bounds)),
  )
  engine.close()
}

/** The same crowd, but each group has members of its own that it bans. */
async function bannedCrowd(): Promise<void> {
  const keys: TupleKey[] = []
  const add = (user: string, relation: string, object: string) => keys.push({ user, relation, object })
  for (let at = 0; at < 100_000; at++) add(`user:m${at}`, "member", `group:c${at % 1000}`)
  for (let at = 0; at < 1000; at++) {
    add(`user:m${at}`, "banned", `group:c${at}`)
    add(`group:c${at}#ally`, "viewer", "doc:crowd")
  }
  const engine = await engineOf(keys)
  const { bounds } = engine
  const crowd = { object: "doc:crowd", relation: "viewer", filter: { type: "user" } }
  await measure(
    "list-users: 100,000 members of 1,000 groups that ban some",
    engine,
    () => listUsers(banning, crowd, bounds),
    ({ users }) => users.length === 99_000,
    3000,
  )
  engine.close()
}

await world()
await crowds()
await bannedCrowd()

import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Engine } from "../../runtime/check/engine.ts"
import { Evaluation } from "../../runtime/check/evaluate/evaluation.ts"
import { readRequest } from "../../runtime/check/evaluate/request.ts"
import { Graph } from "../../runtime/check/graph/graph.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import {
  type CheckRequest,
  firstCommit,
  type PackedRows,
  packRows,
  type TupleRow,
} from "../../runtime/check/ports.ts"
import { Random } from "../naive/random.ts"
import { model } from "./document-model.ts"

// Checks in process over a store of a million tuples: from ids that are known already, and from the request's strings.

const counts = { users: 100_000, groups: 20_000, folders: 50_000, docs: 200_000 }
const queries = 4_096
/** Asked from strings, each once before any comes again: by then its names and tuples have left the processor's caches. */
const coldQueries = 131_072
/** With what is wanted of each from strings, in M checks a CPU second. */
const kinds: readonly (readonly [kind: string, bar?: number])[] = [
  ["direct", 0.7],
  ["inherited", 0.25],
  ["unrelated"],
  ["of somebody unknown"],
]
const rounds = 7
const roundMs = 250

function rowsOf(random: Random): TupleRow[] {
  const rows: TupleRow[] = []
  const add = (object: string, relation: string, subject: string, subjectRelation = "") =>
    rows.push([object, relation, subject, subjectRelation, "", ""])
  for (let id = 0; id < counts.groups; id++) {
    for (let at = 0; at < 10; at++) add(`group:g${id}`, "member", `user:u${random.below(counts.users)}`)
    if (id > 0 && random.chance(50)) add(`group:g${random.below(id)}`, "member", `group:g${id}`, "member")
  }
  for (let id = 0; id < counts.folders; id++) {
    // A tree about five deep: the parent is a folder of a tenth of the number.
    if (id > 0) add(`folder:f${id}`, "parent", `folder:f${Math.floor(id / 10)}`)
    if (random.chance(50)) add(`folder:f${id}`, "viewer", `group:g${random.below(counts.groups)}`, "member")
  }
  for (let id = 0; id < counts.docs; id++) {
    add(`doc:d${id}`, "parent", `folder:f${random.below(counts.folders)}`)
    add(`doc:d${id}`, "owner", `user:u${random.below(counts.users)}`)
    add(`doc:d${id}`, "viewer", `user:u${random.below(counts.users)}`)
  }
  return rows
}

/** Requests of one kind, at random over the whole store. */
function requestsOf(
  kind: string,
  rows: readonly TupleRow[],
  random: Random,
  count = queries,
): CheckRequest[] {
  const pick = (test: (row: TupleRow) => boolean): TupleRow => {
    for (;;) {
      const row = random.pick(rows)
      if (test(row)) return row
    }
  }
  return Array.from({ length: count }, () => {
    if (kind === "of somebody unknown")
      return {
        user: `user:x${random.below(counts.users)}`,
        relation: "viewer",
        object: `doc:d${random.below(counts.docs)}`,
      }
    if (kind === "unrelated")
      return {
        user: `user:u${random.below(counts.users)}`,
        relation: "viewer",
        object: `doc:d${random.below(counts.docs)}`,
      }
    if (kind === "direct") {
      const [object, relation, user] = pick((row) => row[1] === "viewer" && row[3] === "")
      return { user, relation, object }
    }
    // Through the document's folders and a group.
    const [object, , folder] = pick((row) => row[0].startsWith("doc:") && row[1] === "parent")
    return { user: memberAbove(folder, rows, random), relation: "viewer", object }
  })
}

const viewersByFolder = new Map<string, string>()
const membersByGroup = new Map<string, string[]>()

function memberAbove(folder: string, rows: readonly TupleRow[], random: Random): string {
  if (membersByGroup.size === 0)
    for (const [object, relation, subject, subjectRelation] of rows) {
      if (relation === "member" && subjectRelation === "")
        membersByGroup.set(object, [...(membersByGroup.get(object) ?? []), subject])
      if (object.startsWith("folder:") && relation === "viewer") viewersByFolder.set(object, subject)
    }
  for (let id = Number(folder.slice("folder:f".length)); id > 0; id = Math.floor(id / 10)) {
    const group = viewersByFolder.get(`folder:f${id}`)
    if (group !== undefined) return random.pick(membersByGroup.get(group) ?? ["user:u0"])
  }
  return "user:u0"
}

function measure(what: string, work: () => number, bar?: number): void {
  const rates: number[] = []
  for (let round = 0; round <= rounds; round++) {
    let done = 0
    const cpu = process.cpuUsage()
    const end = performance.now() + roundMs
    while (performance.now() < end) done += work()
    const { user, system } = process.cpuUsage(cpu)
    // The first round warms up.
    if (round > 0) rates.push(done / (user + system))
  }
  rates.sort((a, b) => a - b)
  const median = rates[rounds >> 1] ?? 0
  const show = (rate: number) => rate.toFixed(2)
  console.log(
    JSON.stringify({
      what,
      value: Number(show(median)),
      unit: "M checks/CPU-s",
      spread: `${show(rates[0] ?? 0)}–${show(rates[rounds - 1] ?? 0)}`,
      ...(bar === undefined ? {} : { bar: `≥ ${bar}`, ok: median >= bar }),
    }),
  )
}

const limits = {
  depthMax: 25,
  walkSteps: 256,
  stepsMax: 20_000_000,
  stepsPerLook: 128,
  partialConditions: false,
}

function fromIds(graph: Graph, requests: readonly CheckRequest[], loaded: LoadedModel): () => number {
  const evaluation = new Evaluation()
  const parts = requests.map((request) => readRequest({ graph }, loaded, request))
  return () => {
    let allowed = 0
    for (const part of parts) {
      evaluation.begin(part, limits)
      const progress = evaluation.run(() => false)
      if (progress.kind === "done" && evaluation.allowed) allowed++
    }
    if (allowed < 0) throw new Error("counted wrong")
    return parts.length
  }
}

function fromStrings(what: string, engine: Engine, requests: readonly CheckRequest[], bar?: number): void {
  let next = 0
  const ask = () => {
    for (let count = 0; count < queries; count++) {
      const answer = engine.check("bench", model, requests[next++ % requests.length] as CheckRequest)
      // A busy machine may take the processor away in the middle of one.
      if (answer instanceof Promise) answer.catch(() => undefined)
    }
    return queries
  }
  measure(`check in process from strings, ${what}`, ask, bar)
}

/** A full collection, so that memory figures hold no garbage. */
function collect(): void {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
}

const batchRows = 1000

function packed(rows: readonly TupleRow[]): PackedRows[] {
  const batches: PackedRows[] = []
  for (let at = 0; at < rows.length; at += batchRows) batches.push(packRows(rows.slice(at, at + batchRows)))
  return batches
}

/** Loads the rows and says what that takes. */
function loaded(rows: ReturnType<typeof rowsOf>): Graph {
  const batches = packed(rows)
  collect()
  const before = process.memoryUsage()
  const graph = new Graph()
  const started = process.cpuUsage()
  for (const batch of batches) graph.loadRows(batch, 0, batchRows)
  for (const _ of graph.finishLoad());
  const { user, system } = process.cpuUsage(started)
  const seconds = (user + system) / 1e6
  collect()
  const after = process.memoryUsage()
  const bytes = (after.arrayBuffers - before.arrayBuffers) / rows.length
  console.log(
    JSON.stringify({
      what: "load of rows into a graph",
      value: Number((rows.length / seconds / 1e6).toFixed(2)),
      unit: "M tuples/CPU-s",
    }),
  )
  console.log(
    JSON.stringify({
      what: `memory of ${rows.length} tuples with names`,
      value: Number(bytes.toFixed(1)),
      unit: "bytes/tuple",
    }),
  )
  return graph
}

async function main(): Promise<void> {
  const random = new Random(11)
  const rows = rowsOf(random)
  const graph = loaded(rows)
  const engine = new Engine(
    {
      newest: async () => firstCommit,
      stampOf: async () => firstCommit.stamp,
      changes: async () => [],
      stood: async () => [],
      list: async () => firstCommit,
      pages: async () => ({ at: firstCommit, pages: [] }),
      load: async (_id, onBatch) => {
        for (const batch of packed(rows)) await onBatch(batch)
        return firstCommit
      },
    },
    { pollMs: 0 },
  )
  await engine.warm("bench")
  for (const [kind, bar] of kinds) {
    const requests = requestsOf(kind, rows, random)
    measure(
      `check in process from interned ids, ${kind}`,
      fromIds(graph, requests, model),
      kind === "direct" ? 1 : undefined,
    )
    // As a request's body brings them: texts of their own.
    const strings = requestsOf(kind, rows, random, coldQueries)
    fromStrings(`${kind}, each name cold`, engine, JSON.parse(JSON.stringify(strings)), bar)
    fromStrings(`${kind}, ${queries} again and again`, engine, JSON.parse(JSON.stringify(requests)))
  }
  engine.close()
}

await main()

// What a change of a model means for people. Over a million tuples in memory: the time of the comparison without the load, and beside it the
// time of listing the users of all concerned objects under both models, extrapolated from a sample. Over the same tuples in PostgreSQL: all that a
// running process does, from the question to the result.
import { Client } from "pg"
import { type AccessImpact, accessImpact, ImpactTuples } from "../../runtime/check/impact.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { packRows, type TupleRow } from "../../runtime/check/ports.ts"
import { storeImpact } from "../../runtime/impact/store-impact.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type { RelationReference, Userset } from "../../runtime/plan/authorization-model.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const users = 50_000
const groups = 5_000
const folders = 20_000
const docs = 150_000

let state = 1
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
  return Math.floor(((state >>> 0) / 2 ** 32) * limit)
}

function* rows(publicShare: number): Generator<TupleRow> {
  const row = (object: string, relation: string, subject: string, subjectRelation = ""): TupleRow => [
    object,
    relation,
    subject,
    subjectRelation,
    "",
    "",
  ]
  for (let user = 0; user < users; user++)
    for (let at = 0; at < 6; at++) yield row(`group:${below(groups)}`, "member", `user:${user}`)
  for (let group = 1; group < groups; group++)
    if (below(100) < 30) yield row(`group:${below(group)}`, "member", `group:${group}`, "member")
  for (let folder = 0; folder < folders; folder++) {
    if (folder > 0 && below(100) < 80) yield row(`folder:${folder}`, "parent", `folder:${below(folder)}`)
    yield row(`folder:${folder}`, "owner", `user:${below(users)}`)
    yield row(`folder:${folder}`, "viewer", `group:${below(groups)}`, "member")
    if (below(100) < 20) yield row(`folder:${folder}`, "editor", `group:${below(groups)}`, "member")
    if (below(100) < 50) yield row(`folder:${folder}`, "editor", `user:${below(users)}`)
  }
  for (let at = 0; at < 10; at++) yield row(`folder:${folders - 1 - at}`, "auditor", `user:${below(users)}`)
  for (let doc = 0; doc < docs; doc++) {
    yield row(`doc:${doc}`, "parent", `folder:${below(folders)}`)
    yield row(`doc:${doc}`, "owner", `user:${below(users)}`)
    yield row(`doc:${doc}`, "viewer", `user:${below(users)}`)
    if (below(100) < 30) yield row(`doc:${doc}`, "editor", `user:${below(users)}`)
    if (below(100) < 15) yield row(`doc:${doc}`, "editor", `group:${below(groups)}`, "member")
    if (below(100) < 10) yield row(`doc:${doc}`, "blocked", `user:${below(users)}`)
    if (below(1000) < publicShare) yield row(`doc:${doc}`, "viewer", "user:*")
  }
}

const self: Userset = { this: {} }
const computed = (relation: string): Userset => ({ computedUserset: { relation } })
const from = (relation: string): Userset => ({
  tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation } },
})
const union = (...child: Userset[]): Userset => ({ union: { child } })

interface Definitions {
  readonly folderViewer?: Userset
  readonly canShare?: Userset
  readonly canRead?: Userset
}

function modelWith(changed: Definitions): LoadedModel {
  const user: RelationReference = { type: "user" }
  const members: RelationReference = { type: "group", relation: "member" }
  const direct = (...types: RelationReference[]) => ({ directly_related_user_types: types })
  return loadModel(
    lowerModel({
      schema_version: "1.1",
      type_definitions: [
        { type: "user" },
        {
          type: "group",
          relations: { member: self },
          metadata: { relations: { member: direct(user, members) } },
        },
        {
          type: "folder",
          relations: {
            ...{ parent: self, owner: self, auditor: self },
            editor: union(self, computed("owner"), from("editor")),
            viewer: changed.folderViewer ?? union(self, computed("owner"), from("viewer")),
          },
          metadata: {
            relations: {
              parent: direct({ type: "folder" }),
              ...{ owner: direct(user), auditor: direct(user) },
              ...{ editor: direct(user, members), viewer: direct(user, members) },
            },
          },
        },
        {
          type: "doc",
          relations: {
            ...{ parent: self, owner: self, blocked: self },
            editor: union(self, computed("owner"), from("editor")),
            viewer: union(self, computed("owner"), from("viewer")),
            can_read: {
              difference: { base: changed.canRead ?? computed("viewer"), subtract: computed("blocked") },
            },
            can_share: changed.canShare ?? computed("owner"),
          },
          metadata: {
            relations: {
              parent: direct({ type: "folder" }),
              ...{ owner: direct(user), blocked: direct(user), editor: direct(user, members) },
              viewer: direct(user, members, { type: "user", wildcard: {} }),
            },
          },
        },
      ],
    }),
  )
}

const changes: Readonly<Record<string, Definitions>> = {
  few: { folderViewer: union(self, computed("owner"), computed("auditor"), from("viewer")) },
  wide: { folderViewer: union(self, computed("editor"), from("viewer")) },
  narrow: { canShare: union(computed("owner"), computed("editor")) },
  swapped: { canRead: computed("editor") },
}

function load(publicShare: number): ImpactTuples {
  const tuples = new ImpactTuples()
  let batch: TupleRow[] = []
  const take = () => {
    tuples.load(packRows(batch))
    batch = []
  }
  for (const row of rows(publicShare)) if (batch.push(row) === 1_000) take()
  take()
  for (const _ of tuples.finish());
  return tuples
}

interface Compared {
  readonly impact: AccessImpact
  readonly seconds: number
  /** The greatest resident memory between two steps, in MB. */
  readonly rssMb: number
}

function compare(tuples: ImpactTuples, after: LoadedModel): Compared {
  const start = performance.now()
  const running = accessImpact({ tuples, before: modelWith({}), after })
  let rss = 0
  for (let steps = 0; ; steps++) {
    const step = running.next()
    if (steps % 1_024 === 0) rss = Math.max(rss, process.memoryUsage.rss())
    if (step.done === true)
      return {
        impact: step.value,
        seconds: (performance.now() - start) / 1_000,
        rssMb: Math.round(rss / 1e6),
      }
  }
}

const bounds = {
  depthMax: 25,
  stepsMax: 50_000_000,
  walkSteps: 256,
  stepsPerLook: 128,
  partialConditions: false,
}
const listed = 60

/** Seconds for the users of all objects with a relation, from some of them. */
function listSeconds({ graph }: ImpactTuples, model: LoadedModel, name: string): number {
  const [type = "", relation = ""] = name.split("#")
  const count = type === "doc" ? docs : folders
  const start = performance.now()
  for (let at = 0; at < listed; at++) {
    const object = `${type}:${below(count)}`
    const work = listUsers(model, { object, relation, filter: { type: "user" } }, bounds)
    work.begin({ graph })
    while (work.run(() => false).kind !== "done");
    work.release()
  }
  return ((performance.now() - start) / 1_000 / listed) * count
}

function print(
  what: string,
  value: number,
  unit: string,
  more: Readonly<Record<string, unknown>> = {},
): void {
  console.log(JSON.stringify({ what, value: Number(value.toPrecision(3)), unit, ...more }))
}

function measure(name: string, what: string, tuples: ImpactTuples, secondsMax: number): void {
  const after = modelWith(changes[name] ?? {})
  const { impact, seconds, rssMb } = compare(tuples, after)
  const sum = (kind: "gains" | "loses") =>
    impact.relations.reduce((all, { users: counts }) => all + counts[kind], 0)
  const rows = `+${sum("gains").toLocaleString("en")} -${sum("loses").toLocaleString("en")}`
  print(what, seconds, "s", {
    ...{ rows, nodes: impact.nodes, "RSS MB": rssMb },
    ...{ bar: `≤ ${secondsMax} s`, ok: seconds <= secondsMax && rssMb <= 1_000 },
  })
  if (name !== "wide") return
  const names = impact.relations.map(({ relation }) => relation)
  const peer = [modelWith({}), after].flatMap((model) =>
    names.map((each) => listSeconds(tuples, model, each)),
  )
  const all = peer.reduce((total, each) => total + each, 0)
  print(`${what}: lists of users under both models`, all, "s", {
    rows: `from ${listed} objects per relation`,
  })
}

for (const publicShare of [0, 20]) {
  const start = performance.now()
  const tuples = load(publicShare)
  const million = (tuples.count / 1e6).toFixed(2)
  const note = publicShare === 0 ? "" : ", 2 % public documents"
  print(`load of ${million} million tuples${note}`, (performance.now() - start) / 1_000, "s")
  measure("few", `few are concerned${note}`, tuples, 1)
  measure("wide", `folder viewer: owner becomes editor${note}`, tuples, 15)
  measure("narrow", `can_share: or editor${note}`, tuples, 15)
  measure("swapped", `can_read: viewer becomes editor${note}`, tuples, 30)
}

const storeId = "01PLAN"
const rowsAtOnce = 20_000

/** Fills an empty, migrated database. */
async function store(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("insert into sallyport.stores (id, name, revision) values ($1, 'plan', 1)", [storeId])
  let batch: TupleRow[] = []
  const insert = async () => {
    const columns = [0, 1, 2, 3].map((column) => batch.map((row) => row[column]))
    await client.query(
      `insert into sallyport.tuples (store_id, object, relation, subject, subject_relation, revision)
       select $1, t.*, 1 from unnest($2::text[], $3::text[], $4::text[], $5::text[]) t on conflict do nothing`,
      [storeId, ...columns],
    )
    batch = []
  }
  for (const row of rows(0)) if (batch.push(row) === rowsAtOnce) await insert()
  await insert()
  await client.query("vacuum analyze sallyport.tuples")
  await client.end()
}

async function measureStored(name: string, what: string, url: string, secondsMax: number): Promise<void> {
  const database = openPostgres(url)
  const [before, after] = [modelWith({}).plan, modelWith(changes[name] ?? {}).plan]
  const terms = { source: createTupleSource(database), storeId, before, after, rows: false, depthMax: 25 }
  const start = performance.now()
  for await (const event of storeImpact({ ...terms, signal: new AbortController().signal })) {
    if (!("result" in event)) continue
    const seconds = (performance.now() - start) / 1_000
    const read = `${event.tuples.toLocaleString("en")} tuples read${event.whole ? ", all of them" : ""}`
    print(`${what}, of a running store`, seconds, "s", {
      ...{ rows: read, bar: `≤ ${secondsMax} s`, ok: seconds <= secondsMax },
    })
  }
  await database.close()
}

const postgres = await startThrowAwayPostgres()
try {
  const url = postgres.url("postgres")
  const database = openPostgres(url)
  await migrate(database)
  await database.close()
  await store(url)
  await measureStored("none", "no relation changes", url, 1)
  await measureStored("few", "few are concerned", url, 1)
  await measureStored("wide", "folder viewer: owner becomes editor", url, 15)
} finally {
  await postgres.stop()
}

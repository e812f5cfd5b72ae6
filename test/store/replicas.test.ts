import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import type { PageKey, TupleRow } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres, openReplicas } from "../../runtime/store/postgres.ts"
import { rowOfTuple } from "../../runtime/store/read-tuples.ts"
import { OtherHistory, Replica, type ReplicaServer } from "../../runtime/store/replica.ts"
import { ReplicatedSource } from "../../runtime/store/replicated-source.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { createTupleSource } from "../../runtime/store/tuple-source.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { modelOf } from "../check/model.ts"
import { Random } from "../naive/random.ts"
import { describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { unpackRows } from "../support/unpack-rows.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const model = modelOf(`
type user
type doc
  relations
    define viewer: [user]
`)

const slow = { timeout: 30_000, interval: 20 }
const tuple = (at: number) => ({ user: "user:a", relation: "viewer", object: `doc:${at}` })
const page = (at: number): PageKey => ({ direction: "forward", object: `doc:${at}`, relation: "viewer" })

function hostsOf(servers: readonly { readonly port: number }[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join(",")
}

async function admin(server: ThrowAwayPostgres, ...texts: string[]): Promise<unknown> {
  const database = openPostgres(`${server.socketUrl("postgres")}&target_session_attrs=any`)
  let rows: readonly unknown[] = []
  for (const text of texts) rows = await database.query({ name: "", text })
  await database.close()
  return (rows[0] as unknown[] | undefined)?.[0]
}

/** For all tests of this file: starting them takes a second of CPU time. Each test has a store of its own, and lets the standbys replay at its end. */
let servers: {
  readonly primary: ThrowAwayPostgres
  readonly standbys: readonly [ThrowAwayPostgres, ThrowAwayPostgres]
}

/** Everything about tuples by a primary and its replicas. */
class Scene {
  readonly database: Database
  readonly source: ReplicatedSource
  readonly opened: ReturnType<typeof openReplicas>
  readonly writer: TupleWriter
  /** Outcomes of readings sent to replicas, and `primary`. */
  readonly reads: string[] = []
  readonly faults: string[] = []
  storeId = ""

  /** `accepts`: what `target_session_attrs` of the replicas says. */
  constructor(
    primaryUrl: string,
    replicas: readonly { readonly port: number }[],
    accepts: "standby" | "any" = "standby",
  ) {
    this.database = openPostgres(primaryUrl)
    ends.push(() => this.database.close())
    const url = `postgres://postgres@${hostsOf(replicas)}/postgres?target_session_attrs=${accepts}`
    this.opened = openReplicas(url)
    for (const each of this.opened) ends.push(() => each.database.close())
    this.source = new ReplicatedSource({
      primary: createTupleSource(this.database),
      replicas: this.opened.map(({ name, database }) => ({
        ...{ name, source: createTupleSource(database), connections: () => database.state.connections },
      })),
      onRead: (_, outcome) => this.reads.push(outcome),
      onPrimaryRead: () => this.reads.push("primary"),
      onFault: ({ message }) => this.faults.push(message),
    })
    this.writer = new TupleWriter(this.database, () => undefined)
  }

  async write(...numbers: number[]): Promise<void> {
    const options = { deletes: [], onDuplicate: "ignore", onMissing: "ignore" } as const
    await this.writer.write(this.storeId, { writes: numbers.map((at) => rowOfTuple(tuple(at))), ...options })
  }

  async delete(at: number): Promise<void> {
    const options = { writes: [], onDuplicate: "ignore", onMissing: "ignore" } as const
    await this.writer.write(this.storeId, { deletes: [rowOfTuple(tuple(at))], ...options })
  }

  /** The readings since the last call. */
  taken(): string[] {
    return this.reads.splice(0)
  }

  async load(): Promise<{ revision: number; rows: number }> {
    let rows: TupleRow[] = []
    const onRestart = () => {
      rows = []
    }
    const { revision } = await this.source.load(
      this.storeId,
      (batch) => void rows.push(...unpackRows(batch)),
      { onRestart },
    )
    return { revision, rows: rows.length }
  }

  /** All replicas have the primary's newest commit of the store, and are known to. */
  async caughtUp(): Promise<void> {
    for (const [place, { database }] of this.opened.entries()) {
      const newest = await this.source.newest(this.storeId)
      const has = () =>
        createTupleSource(database)
          .newest(this.storeId)
          .catch(() => undefined)
      await expect.poll(has, slow).toEqual(newest)
      const known = async () => {
        await this.source.newest(this.storeId)
        return this.source.replicas[place]?.state
      }
      await expect.poll(known, slow).toBe("reading")
    }
  }

  /** The store's newest commit is asked for, as polls do, until the replicas are in these states. */
  async becomes(...states: string[]): Promise<void> {
    const now = async () => {
      await this.source.newest(this.storeId).catch(() => undefined)
      return this.source.replicas.map(({ state }) => state)
    }
    await expect.poll(now, slow).toEqual(states)
  }
}

/** A store with three tuples, over the primary and this many of its standbys. */
async function scene(
  replicaCount: 1 | 2 = 1,
): Promise<{ at: Scene; replicas: readonly ThrowAwayPostgres[] }> {
  return sceneWith(servers.standbys.slice(0, replicaCount))
}

async function sceneWith<Server extends { readonly port: number }>(
  replicas: readonly Server[],
  accepts: "standby" | "any" = "standby",
) {
  const at = new Scene(servers.primary.url("postgres"), replicas, accepts)
  at.storeId = (await createStore(at.database, "s")).id
  await at.write(1, 2, 3)
  return { at, replicas }
}

const pause = "select pg_wal_replay_pause()"
const resume = "select pg_wal_replay_resume()"

describePostgres("tuples read from replicas", () => {
  beforeAll(async () => {
    const primary = await startThrowAwayPostgres({ migrated: true })
    const standby = () => startThrowAwayPostgres({ standbyOf: primary })
    servers = { primary, standbys: [await standby(), await standby()] }
  })

  afterAll(async () => {
    await Promise.all([servers.primary, ...servers.standbys].map((server) => server.stop()))
  })

  test("pages, whole loads, lists and changes, one replica after the other", async () => {
    const { at } = await scene(2)
    await at.caughtUp()
    at.taken()
    expect(await at.load()).toEqual({ revision: 1, rows: 3 })
    const first = await at.source.pages(at.storeId, [page(1)], { revisionMin: 1 })
    expect(first.pages).toEqual([[["doc:1", "viewer", "user:a", "", "", ""]]])
    const rows: TupleRow[] = []
    const among = { subjectType: "user", subjectRelation: "" }
    const key = { direction: "forward", object: "doc:1", relation: "viewer", among } as const
    await at.source.list(at.storeId, key, (batch) => rows.push(...batch), { revisionMin: 1 })
    expect(rows.length).toBe(1)
    const changes = await at.source.changes(at.storeId, { revision: 0, stamp: "" }, 10)
    expect(changes.map(({ revision }) => revision)).toEqual([1, 1, 1])
    expect(at.taken()).toEqual(["read", "read", "read", "read"])
    for (const { connections } of at.source.replicas) expect(connections.size).toBeGreaterThan(0)
  })

  test("one that lags is read up to what it has, and not asked for more, until it caught up", async () => {
    const { at, replicas } = await scene()
    await at.caughtUp()
    const [replica] = replicas as [ThrowAwayPostgres]
    await admin(replica, pause)
    await at.write(4)
    const newest = await at.source.newest(at.storeId)
    at.taken()
    const pages = await at.source.pages(at.storeId, [page(4)], { revisionMin: newest.revision })
    expect(pages.at).toEqual(newest)
    expect(pages.pages[0]).toHaveLength(1)
    expect(at.taken().at(-1)).toBe("primary")
    expect(at.source.replicas).toMatchObject([{ state: "behind", revisionsBehind: 1 }])
    for (let count = 0; count < 5; count++) {
      await at.source.pages(at.storeId, [page(4)], { revisionMin: newest.revision })
      expect(at.taken()).toEqual(["primary"])
    }
    const old = await at.source.pages(at.storeId, [page(4)], { revisionMin: 1 })
    expect([old.at.revision, old.pages[0], at.taken()]).toEqual([1, [], ["read"]])
    await admin(replica, resume)
    await at.caughtUp()
    at.taken()
    const again = await at.source.pages(at.storeId, [page(4)], { revisionMin: newest.revision })
    expect([again.pages[0]?.length, at.taken()]).toEqual([1, ["read"]])
  })

  test("a whole load has the newest commit, from the primary when the replica lags", async () => {
    const { at, replicas } = await scene()
    const [replica] = replicas as [ThrowAwayPostgres]
    await at.caughtUp()
    await admin(replica, pause)
    await at.delete(1)
    expect(await at.load()).toEqual({ revision: 2, rows: 2 })
    expect(at.taken().at(-1)).toBe("primary")
    await admin(replica, resume)
    await at.caughtUp()
    expect(await at.load()).toEqual({ revision: 2, rows: 2 })
    expect(at.taken()).toEqual(["read"])
  })

  test("pages of a replica do not count as contact with the primary", async () => {
    const { at, replicas } = await scene()
    const [replica] = replicas as [ThrowAwayPostgres]
    await at.caughtUp()
    let now = 0
    const engine = new Engine(at.source, { paged: true, pollMs: 0, maxStalenessMs: 1_000, now: () => now })
    ends.push(() => engine.close())
    await admin(replica, pause)
    ends.push(() => admin(replica, resume))
    expect(await engine.check(at.storeId, model, tuple(1))).toMatchObject({ allowed: true })
    await at.delete(2)
    await at.source.newest(at.storeId)
    at.taken()
    now = 1_000
    // Within the bound, as of a commit that is no longer the newest: the primary confirms that it has it, not that it is the newest.
    expect(await engine.check(at.storeId, model, tuple(2))).toMatchObject({ allowed: true, revision: 1 })
    expect(at.taken()).toEqual(["read"])
    now = 1_001
    const late = async () => engine.check(at.storeId, model, tuple(2))
    await expect(late()).rejects.toThrow("may be out of date")
  })

  test("one that dies costs nothing but its readings, and is read again when it is back", async () => {
    const { at, replicas } = await scene(2)
    const [dying] = replicas as [ThrowAwayPostgres]
    await at.caughtUp()
    await dying.crash()
    for (let count = 0; count < 4; count++) {
      const { pages } = await at.source.pages(at.storeId, [page(1)], { revisionMin: 1 })
      expect(pages[0]).toHaveLength(1)
    }
    expect(at.source.replicas[0]).toMatchObject({ state: "unavailable", server: `127.0.0.1:${dying.port}` })
    expect(at.faults).toEqual([expect.stringMatching(/^replica 127.0.0.1:\d+ is not read: /)])
    at.taken()
    await at.source.pages(at.storeId, [page(1)], { revisionMin: 1 })
    expect(at.taken()).toEqual(["read"])
    await dying.restart()
    await at.becomes("reading", "reading")
  })

  test("a replica that ends a load in its middle: it starts again on the primary", async () => {
    const { at, replicas } = await scene()
    const [replica] = replicas as [ThrowAwayPostgres]
    for (let from = 1_000; from < 31_000; from += 1_000)
      await at.write(...Array.from({ length: 1_000 }, (_, more) => from + more))
    await at.caughtUp()
    at.taken()
    const pids = await admin(
      replica,
      "select array_agg(pid) from pg_stat_activity where application_name = 'sallyport' and pid <> pg_backend_pid()",
    )
    let rows: TupleRow[] = []
    let restarts = 0
    const { revision } = await at.source.load(
      at.storeId,
      (batch) => {
        if (rows.length === 0 && restarts === 0)
          for (const pid of pids as number[]) process.kill(pid, "SIGTERM")
        rows.push(...unpackRows(batch))
      },
      {
        onRestart: () => {
          rows = []
          restarts++
        },
      },
    )
    expect([revision, rows.length, restarts]).toEqual([31, 30_003, 1])
    expect(at.taken()).toEqual(["failed", "primary"])
  })

  test("one that was promoted and went its own way is refused by name; its rows never count", async () => {
    const replica = await startThrowAwayPostgres({ standbyOf: servers.primary })
    ends.push(() => replica.stop())
    const { at } = await sceneWith([replica], "any")
    await at.caughtUp()
    await admin(replica, "select pg_promote()")
    const apart = new Scene(replica.url("postgres"), [servers.primary], "any")
    apart.storeId = at.storeId
    await apart.write(77)
    await at.write(4)
    at.taken()
    const newest = await at.source.newest(at.storeId)
    const { pages } = await at.source.pages(at.storeId, [page(77), page(4)], { revisionMin: newest.revision })
    expect(pages.map((rows) => rows?.length)).toEqual([0, 1])
    await at.becomes("refused")
    expect(at.source.replicas[0]?.reason).toBe(
      `127.0.0.1:${replica.port} belongs to another history than the primary (revision 2 of store ${at.storeId} is another commit there): make it a replica of this primary again, or remove it from SALLYPORT_DATABASE_REPLICA_URL`,
    )
    const standbyOnly = openReplicas(`postgres://postgres@127.0.0.1:${replica.port}/postgres`)
    ends.push(() => standbyOnly[0]?.database.close())
    await expect(standbyOnly[0]?.database.query({ name: "", text: "select 1" })).rejects.toThrow(
      `127.0.0.1:${replica.port} is not a standby: it was promoted, or never was one`,
    )
  })

  test("a server that is no copy at all, or was never migrated, is not read", async () => {
    const [other, empty] = await Promise.all([
      startThrowAwayPostgres({ migrated: true }),
      startThrowAwayPostgres(),
    ])
    ends.push(() => Promise.all([other.stop(), empty.stop()]))
    const { at } = await sceneWith([other, empty, { port: await freePort() }], "any")
    const { pages } = await at.source.pages(at.storeId, [page(1)], { revisionMin: 1 })
    expect(pages[0]).toHaveLength(1)
    await at.becomes("behind", "unavailable", "unavailable")
    const reasons = at.source.replicas.map(({ reason }) => reason)
    expect(reasons[1]).toContain('relation "sallyport.stores" does not exist')
    expect(reasons[2]).toContain("ECONNREFUSED")
  })

  test.for([{ paged: true }, { paged: false }])(
    "no answer of an engine differs from the primary while the replica lags at random: %j",
    async (options, context) => {
      const { at, replicas } = await scene()
      const [replica] = replicas as [ThrowAwayPostgres]
      await at.caughtUp()
      ends.push(() => admin(replica, resume))
      const random = new Random(firstSeed)
      const engine = new Engine(at.source, { pollMs: 0, ...options })
      ends.push(() => engine.close())
      const present = new Set([1, 2, 3])
      for (let step = 0; step < Math.min(scaled(120), 3_000); step++) {
        const number = 1 + random.below(8)
        const act = random.below(10)
        if (act === 0) await admin(replica, pause)
        else if (act === 1) {
          await admin(replica, resume)
          await at.caughtUp()
        } else if (act === 2) engine.dropped(at.storeId)
        else if (act < 6) {
          if (present.has(number)) await at.delete(number)
          else await at.write(number)
          if (!present.delete(number)) present.add(number)
        } else {
          const asked = { ...tuple(number), consistency: "higher-consistency" } as const
          const { allowed } = await engine.check(at.storeId, model, asked)
          expect([step, number, allowed]).toEqual([step, number, present.has(number)])
        }
      }
      const reads = at.taken()
      const count = (outcome: string) => reads.filter((each) => each === outcome).length
      tellAsked(context, { "replica reads": count("read"), "primary reads": count("primary") })
      expect(count("read")).toBeGreaterThan(0)
      expect(count("primary")).toBeGreaterThan(0)
    },
  )

  // The last one: it ends the primary.
  test("a failover that loses commits: a replica that still has them is refused", async () => {
    const { primary, standbys } = servers
    const [heir, replica] = standbys
    const at = new Scene(`postgres://postgres@${hostsOf([primary, heir])}/postgres`, [replica])
    at.storeId = (await createStore(at.database, "s")).id
    await at.write(1)
    const engine = new Engine(at.source, { paged: true, pollMs: 0 })
    ends.push(() => engine.close())
    const ask = (number: number) =>
      engine.check(at.storeId, model, { ...tuple(number), consistency: "higher-consistency" })
    const position = await admin(primary, "select pg_current_wal_insert_lsn()::text")
    const caughtUp = () => admin(heir, `select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`)
    await expect.poll(caughtUp, slow).toBe(true)
    await admin(heir, "alter system set primary_conninfo = ''", "select pg_reload_conf()")
    const parted = () => admin(heir, "select not exists (select 1 from pg_stat_wal_receiver)")
    await expect.poll(parted, slow).toBe(true)
    await at.write(2)
    await at.write(3)
    await at.caughtUp()
    expect(await ask(3)).toMatchObject({ allowed: true, revision: 3 })
    await primary.stop()
    await admin(heir, "select pg_promote()")
    await expect
      .poll(async () => (await at.source.newest(at.storeId).catch(() => undefined))?.revision, slow)
      .toBe(1)
    expect(await ask(3)).toMatchObject({ allowed: false, revision: 1 })
    expect(await ask(1)).toMatchObject({ allowed: true, revision: 1 })
    await at.becomes("refused")
    await at.write(4)
    await at.write(5)
    expect(await ask(3)).toMatchObject({ allowed: false, revision: 3 })
    expect(await ask(5)).toMatchObject({ allowed: true, revision: 3 })
    expect(at.source.replicas[0]?.reason).toContain("belongs to another history")
  })
})

test("what target_session_attrs may say, and which variable is named", () => {
  const open = (query: string) => () => openReplicas(`postgres://u@r1,r2/db?${query}`)
  expect(open("target_session_attrs=read-write")).toThrow(
    "SALLYPORT_DATABASE_REPLICA_URL: the database URL has target_session_attrs=read-write: a replica is only read",
  )
  expect(open("")().map(({ name }) => name)).toEqual(["r1:5432", "r2:5432"])
  expect(open("target_session_attrs=any")().map(({ name }) => name)).toEqual(["r1:5432", "r2:5432"])
})

test.each([
  ["a failure", new Error("gone"), 1_000],
  ["another history", new OtherHistory("r", "a", 7), 30_000],
])("after %s, no store makes a replica well before its rest is over", (_, error, restMs) => {
  vi.useFakeTimers({ toFake: ["performance"] })
  onTestFinished(() => void vi.useRealTimers())
  const server: Partial<ReplicaServer> = { name: "r" }
  const replica = new Replica(server as ReplicaServer)
  replica.fails(error)
  vi.advanceTimersByTime(restMs - 1)
  expect([replica.startLook("a", 0), replica.startLook("b", 0)]).toEqual([false, false])
  vi.advanceTimersByTime(1)
  expect(replica.startLook("b", 0)).toBe(true)
})

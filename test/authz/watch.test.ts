import { afterAll, beforeAll, expect, test } from "vitest"
import { authzLimits } from "../../runtime/authz/ports.ts"
import type { Database, Queryable } from "../../runtime/store/database.ts"
import { describeDatabase } from "../store/databases.ts"
import { reduced } from "../support/random-run.ts"
import { type EventClient, openEvents } from "./event-client.ts"
import { describeServed, documentModel, type Served, serve } from "./harness.ts"

const tuple = (at: number, type = "document") =>
  type === "document"
    ? { user: "user:ann", relation: "owner", object: `document:${at}` }
    : { user: "user:ann", relation: "member", object: `team:${at}` }

async function newStore(served: Served): Promise<string> {
  const { id } = (await served.call("POST", "/stores", { name: "watched" })).json
  await served.call("POST", `/stores/${id}/authorization-models`, documentModel)
  return id
}

async function write(served: Served, id: string, ...keys: ReturnType<typeof tuple>[]): Promise<void> {
  const { status, text } = await served.call("POST", `/stores/${id}/write`, { writes: { tuple_keys: keys } })
  expect([status, text]).toEqual([200, "{}"])
}

const objectsOf = ({ events }: EventClient) =>
  events.flatMap(({ data }) =>
    data.changes.map((change: { tuple_key: { object: string } }) => change.tuple_key.object),
  )

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `document:${from + at}`)

describeServed("watch", (served) => {
  const watchOf = (id: string, query = "") => `${served().base}/stores/${id}/watch${query}`
  const poll = (id: string, query: string, headers?: Record<string, string>) =>
    served().call("GET", `/stores/${id}/watch?${query}`, undefined, headers)

  test("streams each commit once and in order, whole, in the form of the feed", async () => {
    const id = await newStore(served())
    await write(served(), id, tuple(0))
    const clients = await Promise.all([1, 2, 3].map(() => openEvents(watchOf(id))))
    const [client] = clients as [EventClient]
    expect(client.answer.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
    })
    for (let at = 1; at < 30; at++) await write(served(), id, tuple(at), tuple(at, "team"))
    const deleted = { deletes: { tuple_keys: [tuple(3)] } }
    await served().call("POST", `/stores/${id}/write`, deleted)
    const feed = (await served().call("GET", `/stores/${id}/changes?page_size=100`)).json.changes
    for (const { events } of clients) {
      await expect.poll(() => events.length).toBe(30)
      expect(events.map(({ data }) => data.changes.length)).toEqual([...Array(29).fill(2), 1])
      expect(events.flatMap(({ data }) => data.changes)).toEqual(feed.slice(1))
      expect(new Set(events.map((each) => each.id)).size).toBe(30)
      expect(events.every(({ event }) => event === "change")).toBe(true)
    }
    for (const each of clients) each.close()
  })

  test("goes on after a cut in the middle, from memory and from the database", async () => {
    const id = await newStore(served())
    const client = await openEvents(watchOf(id))
    const start = client.lastId()
    for (let at = 0; at < 10; at++) await write(served(), id, tuple(at))
    await expect.poll(() => client.events.length).toBe(10)
    client.close()
    const middle = client.events[4]?.id ?? ""
    for (let at = 10; at < 15; at++) await write(served(), id, tuple(at))
    // The header is newer than the query, which a browser's EventSource repeats when it connects again.
    const again = await openEvents(watchOf(id, `?after=${start}`), { "last-event-id": middle })
    await expect.poll(() => objectsOf(again)).toEqual(numbers(5, 15))
    again.close()
    // Another process, which has nothing in memory.
    const other = await serve(served().database)
    const cold = await openEvents(`${other.base}/stores/${id}/watch?after=${middle}`)
    await write(served(), id, tuple(15))
    await expect.poll(() => objectsOf(cold)).toEqual(numbers(5, 16))
    cold.close()
    const old = (await other.call("GET", `/stores/${id}/watch?after=${start}`)).json
    expect(old.changes).toHaveLength(16)
    await other.listeners.close()
  })

  test("filters by type, and moves the token past the changes of others", async () => {
    const id = await newStore(served())
    const client = await openEvents(watchOf(id, "?type=team"))
    const start = client.lastId()
    for (let at = 0; at < 6; at++) await write(served(), id, tuple(at, at % 3 === 2 ? "team" : "document"))
    await expect.poll(() => objectsOf(client)).toEqual(["team:2", "team:5"])
    client.close()
    const found = (await poll(id, `after=${start}&type=team`)).json
    expect(found.changes).toHaveLength(2)
    const none = (await poll(id, `after=${start}&type=folder&wait=0s`)).json
    expect(none).toEqual({ changes: [], continuation_token: found.continuation_token })
  })

  test("a long poll answers at once when there are changes, else when there are, else with its own token", async () => {
    const id = await newStore(served())
    const now = (await poll(id, "wait=0s")).json
    expect(now).toEqual({ changes: [], continuation_token: expect.stringMatching(/^[\w-]+$/) })
    const token = now.continuation_token
    expect((await poll(id, `after=${token}&wait=50ms`)).json).toEqual(now)
    const waiting = poll(id, `after=${token}`)
    await write(served(), id, tuple(1))
    const first = (await waiting).json
    expect(first.changes).toMatchObject([{ tuple_key: tuple(1), operation: "TUPLE_OPERATION_WRITE" }])
    await write(served(), id, tuple(2), tuple(3))
    expect((await poll(id, `after=${first.continuation_token}`)).json.changes).toHaveLength(2)
    expect((await poll(id, "", { "last-event-id": token })).json.changes).toHaveLength(3)
  })

  test("refuses what is not a token, not a wait and not a store", async () => {
    const id = await newStore(served())
    const other = (await poll(await newStore(served()), "wait=0s")).json.continuation_token
    for (const [query, text] of [
      ["after=x", "Invalid continuation token"],
      [`after=${other}`, "Invalid continuation token"],
      ["wait=1h", "value must be 0s to 60s, like 30s"],
      ["wait=61s", "value must be 0s to 60s, like 30s"],
      ["type=a%20b", "Type"],
    ] as const) {
      const { status, text: answer } = await poll(id, query)
      expect([status, answer]).toEqual([400, expect.stringContaining(text)])
      expect((await openEvents(watchOf(id, `?${query}`))).status).toBe(400)
    }
    expect((await poll("01ARZ3NDEKTSV4RRFFQ69G5FAV", "")).status).toBe(404)
  })

  test("ends with 409 when the database has lost the history", async () => {
    const id = await newStore(served())
    const client = await openEvents(watchOf(id))
    for (let at = 0; at < 4; at++) await write(served(), id, tuple(at))
    await expect.poll(() => client.events.length).toBe(4)
    const waiting = poll(id, `after=${client.lastId()}`)
    // As after a failover to a standby that lacked the last two commits.
    await loseAfter(served().database, id, 2)
    await client.ended
    expect(client.events.at(-1)).toMatchObject({
      event: "error",
      data: { code: "history_lost", message: expect.stringContaining("revision 4") },
    })
    expect([(await waiting).status, (await waiting).json.code]).toEqual([409, "history_lost"])
    // A reconnect with the lost token is refused, also when other commits have its revision.
    for (let at = 10; at < 14; at++) await write(served(), id, tuple(at))
    const lost = await openEvents(watchOf(id), { "last-event-id": client.lastId() })
    expect(lost.status).toBe(409)
    const kept = await openEvents(watchOf(id), { "last-event-id": client.events[1]?.id ?? "" })
    await expect.poll(() => objectsOf(kept)).toEqual(numbers(10, 14))
    kept.close()
  })

  test("ends with 404 when the store is deleted", async () => {
    const id = await newStore(served())
    const client = await openEvents(watchOf(id))
    const waiting = poll(id, "")
    await write(served(), id, tuple(1))
    expect((await waiting).json.changes).toHaveLength(1)
    const longer = poll(id, `after=${client.lastId()}`)
    await expect.poll(() => client.events.length).toBe(1)
    await served().call("DELETE", `/stores/${id}`)
    await client.ended
    const gone = { code: "store_id_not_found", message: "Store ID not found" }
    expect(client.events.at(-1)).toMatchObject({ event: "error", data: gone })
    expect(await longer).toMatchObject({ status: 404, json: gone })
    expect(await poll(id, "")).toMatchObject({ status: 404, json: gone })
  })

  test("ends at once when the listener closes; a long poll then answers with the same token", async () => {
    const leaving = await serve(served().database)
    const id = await newStore(served())
    const client = await openEvents(`${leaving.base}/stores/${id}/watch`)
    const token = client.lastId()
    const waiting = leaving.call("GET", `/stores/${id}/watch?after=${token}&wait=60s`)
    const second = await openEvents(`${leaving.base}/stores/${id}/watch`)
    // Nothing waits for the grace period, nor for the end of the poll: both are longer than a test may take.
    await leaving.listeners.close(60_000)
    await Promise.all([client.ended, second.ended])
    expect((await waiting).json).toEqual({ changes: [], continuation_token: token })
    expect(client.events).toEqual([])
    await write(served(), id, tuple(7))
    const next = await openEvents(watchOf(id), { "last-event-id": token })
    await expect.poll(() => objectsOf(next)).toEqual(["document:7"])
    next.close()
  })

  test("has a limit of watchers, and counts those that are gone no more", async () => {
    const few = await serve(served().database, 10_000, { limits: () => ({ ...authzLimits, watchersMax: 2 }) })
    const id = await newStore(served())
    const url = `${few.base}/stores/${id}/watch`
    const [one, two] = [await openEvents(url), await openEvents(url)]
    const refused = await few.call("GET", `/stores/${id}/watch?wait=0s`)
    expect([refused.status, refused.json]).toEqual([
      503,
      { code: "unavailable", message: expect.stringContaining("2 watchers, as many as `watchers`") },
    ])
    one.close()
    await expect.poll(async () => (await few.call("GET", `/stores/${id}/watch?wait=0s`)).status).toBe(200)
    two.close()
    await few.listeners.close()
  })
})

/** Sets a store back to a revision, as a restored backup does. */
async function loseAfter(database: Database, storeId: string, revision: number): Promise<void> {
  const lose = (sql: Queryable, name: string, text: string) => sql.query({ name, text }, [storeId, revision])
  await database.transaction(async (sql) => {
    await lose(
      sql,
      "lose-tuples",
      "delete from sallyport.tuples t using sallyport.changes c where t.store_id = $1 and c.store_id = $1 and c.revision > $2 and t.object = c.object",
    )
    await lose(sql, "lose-changes", "delete from sallyport.changes where store_id = $1 and revision > $2")
    await lose(sql, "lose-store", "update sallyport.stores set revision = $2 where id = $1")
  })
}

describeDatabase("a thousand watchers of one process", (database) => {
  const watchers = 1_000
  const commits = reduced(12, 20)
  const counted = { statements: 0 }
  let served: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    served = await serve(countingStatements(database(), counted))
  })
  afterAll(() => served.listeners.close())

  test("get all commits, with one statement for each", async () => {
    const id = await newStore(served)
    const url = `${served.base}/stores/${id}/watch`
    const clients: EventClient[] = []
    // As many at a time as a listener's queue of connections holds.
    for (let from = 0; from < watchers; from += 100)
      clients.push(...(await Promise.all(Array.from({ length: 100 }, () => openEvents(url)))))
    counted.statements = 0
    for (let at = 0; at < commits; at++) await write(served, id, tuple(at))
    await expect.poll(() => clients.every(({ events }) => events.length === commits)).toBe(true)
    for (const client of clients) expect(objectsOf(client)).toEqual(numbers(0, commits))
    // The write's own, the reader's, and a poll now and then: far from a thousand times each.
    expect(counted.statements).toBeLessThan(commits * 20)
    const token = clients[0]?.events[9]?.id ?? ""
    for (const client of clients) client.close()
    counted.statements = 0
    const again = await Promise.all(
      Array.from({ length: 100 }, () => openEvents(url, { "last-event-id": token })),
    )
    await expect.poll(() => again.every(({ events }) => events.length === commits - 10)).toBe(true)
    expect(counted.statements).toBeLessThan(20)
    for (const client of again) client.close()
  }, 60_000)
})

/** The same database; it counts the statements. */
function countingStatements(database: Database, counted: { statements: number }): Database {
  const query: Database["query"] = (...asked) => {
    counted.statements++
    return database.query(...asked)
  }
  return new Proxy(database, {
    get: (target, name) => {
      if (name === "query") return query
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

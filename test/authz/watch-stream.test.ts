import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { ApiError } from "../../runtime/authz/api-error.ts"
import { EventStream } from "../../runtime/authz/watch/event-stream.ts"
import { StoreFeed } from "../../runtime/authz/watch/store-feed.ts"
import type { Watch } from "../../runtime/authz/watch/watches.ts"
import type { TupleRow } from "../../runtime/check/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { createStore } from "../../runtime/store/stores.ts"
import { TupleWriter } from "../../runtime/store/tuple-writer.ts"
import { openTestDatabase } from "../store/databases.ts"
import { openEvents } from "./event-client.ts"

/** Characters in the names of objects, so that few commits fill a socket. */
const long = "x".repeat(200)
const bounds = { countMax: 4, lengthMax: 1 << 20 }

describe("a stream of changes", () => {
  let database: Database
  let writer: TupleWriter
  const closing: (() => void)[] = []

  beforeAll(async () => {
    database = await openTestDatabase()
    writer = new TupleWriter(database, () => undefined)
  })
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })
  afterAll(() => database.close())

  /** Serves the streams of one store. */
  async function serving(admit: () => unknown = () => undefined) {
    const store = await createStore(database, "streamed")
    const feed = new StoreFeed({
      ...{ database, storeId: store.id, bounds: () => bounds, horizonMs: () => 0 },
      onFault: (error) => {
        throw error
      },
    })
    await feed.refresh()
    const watches: (Watch & { released: boolean; response: ServerResponse })[] = []
    const server = createServer(async (_request, response) => {
      const watch = {
        ...{ feed, released: false, response, signals: { onClosing: () => undefined } },
        release() {
          this.released = true
        },
      }
      watches.push(watch)
      const place = feed.head
      const first = await feed.older(place)
      response.writeHead(200, ["Content-Type", "text/event-stream"])
      new EventStream({ watch, place, type: "", admit, onFault: () => undefined }, response, first)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    closing.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    /** One commit of about `tuples` × 300 bytes. */
    const commit = async (at: number, tuples = 1, type = "document") => {
      const rows = Array.from({ length: tuples }, (_, index): TupleRow => {
        return [`${type}:${at}-${index}${tuples > 1 ? long : ""}`, "owner", "user:ann", "", "", ""]
      })
      await writer.bulkWrite(store.id, rows)
      await feed.refresh()
    }
    return { url, feed, watches, commit }
  }

  test("to a client that does not read is cut, with the token to go on, and holds up no other", async () => {
    const { url, watches, commit, feed } = await serving()
    const slow = await openEvents(url)
    slow.answer.pause()
    const quick = await openEvents(url)
    let commits = 0
    const [first] = watches
    for (; first?.response.writableEnded === false && commits < 200; commits++) await commit(commits, 1_000)
    expect(first?.response.writableEnded).toBe(true)
    // What waits for the client is less than two commits, however many there were.
    expect(first?.response.writableLength).toBeLessThan(2 * 1_000 * 600)
    await expect.poll(() => quick.events.length).toBe(commits)
    slow.answer.resume()
    await slow.ended
    const last = slow.events.at(-1)
    expect(last?.event).toBe("error")
    expect(last?.data).toEqual({
      code: "resource_exhausted",
      message: `the client reads more slowly than changes are made; connect again with after=${slow.lastId()}`,
    })
    // Each commit up to the cut once, and from there the rest.
    expect(slow.events.slice(0, -1)).toEqual(quick.events.slice(0, slow.events.length - 1))
    expect(slow.lastId()).toBe(quick.events[slow.events.length - 2]?.id)
    expect(feed.after(0)).toBe("behind")
    await expect.poll(() => first?.released).toBe(true)
    quick.close()
    await expect.poll(() => watches.every(({ released }) => released)).toBe(true)
  })

  test("has heartbeats, which move the id past what was filtered", async () => {
    const { url, watches, commit } = await serving()
    const client = await openEvents(url)
    const token = client.lastId()
    const beat = () => watches[0]?.signals.onHeartbeat?.()
    beat()
    await expect.poll(() => client.text()).toBe(`retry: 2000\nid: ${token}\n\n: heartbeat\n\n`)
    await commit(1)
    await expect.poll(() => client.events.length).toBe(1)
    beat()
    await expect.poll(() => client.text().endsWith("\n\n: heartbeat\n\n")).toBe(true)
    client.close()
  })

  test("ends when its caller may not read the store any more, and not while that cannot be known", async () => {
    let error = new ApiError("unavailable", "the keys of the issuer are unavailable")
    const { url, watches } = await serving(() => {
      throw error
    })
    const client = await openEvents(url)
    watches[0]?.signals.onHeartbeat?.()
    await expect.poll(() => client.text()).toContain("heartbeat")
    expect(client.events).toEqual([])
    error = new ApiError("forbidden", "the caller lacks `read`")
    watches[0]?.signals.onHeartbeat?.()
    await client.ended
    expect(client.events).toMatchObject([
      { event: "error", data: { code: "forbidden", message: "the caller lacks `read`" } },
    ])
  })
})

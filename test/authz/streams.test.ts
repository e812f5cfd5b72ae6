import { once } from "node:events"
import { createServer, request as httpRequest, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { authzLimits } from "../../runtime/authz/ports.ts"
import { sendLines } from "../../runtime/authz/send-answer.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openTestDatabase } from "../store/databases.ts"
import { documentModel, type Served, serve } from "./harness.ts"

const linesInAll = 20_000
const line = `${"x".repeat(1_000)}\n`

describe("lines", () => {
  /** Serves lines and counts how many were asked for. */
  async function serving() {
    const taken = { lines: 0 }
    function* lines() {
      for (; taken.lines < linesInAll; taken.lines += 1) yield line
    }
    const server = createServer((_request, response) => {
      response.writeHead(200)
      sendLines(response, lines())
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const sent = httpRequest({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" })
    sent.end()
    const [answer] = (await once(sent, "response")) as [IncomingMessage]
    return { taken, answer, server }
  }
  /** Waits until no more lines are taken. */
  async function settled(taken: { lines: number }): Promise<number> {
    for (let before = -1; before !== taken.lines; await sleep(100)) before = taken.lines
    return taken.lines
  }

  test("wait for a client that does not read, and go on when it does", async () => {
    const { taken, answer, server } = await serving()
    const stopped = await settled(taken)
    expect(stopped).toBeLessThan(linesInAll / 2)
    let bytes = 0
    for await (const chunk of answer) bytes += (chunk as Buffer).length
    expect([taken.lines, bytes]).toEqual([linesInAll, linesInAll * line.length])
    server.close()
  })

  test("end with a client that goes away", async () => {
    const { taken, answer, server } = await serving()
    const stopped = await settled(taken)
    answer.destroy()
    await once(server.close(), "close")
    expect(await settled(taken)).toBeLessThanOrEqual(stopped + 1)
  })
})

describe("lists of many", () => {
  const objects = 2_500
  let database: Database
  let served: Served & { listeners: { close(): Promise<void> } }
  let limited: Served & { listeners: { close(): Promise<void> } }
  let store: string
  beforeAll(async () => {
    database = await openTestDatabase()
    served = await serve(database)
    limited = await serve(database, 10_000, {
      limits: () => ({ ...authzLimits, listObjectsMax: 1_000, listUsersMax: 1_000 }),
    })
    store = (await served.call("POST", "/stores", { name: "many" })).json.id
    await served.call("POST", `/stores/${store}/authorization-models`, documentModel)
    const names = Array.from({ length: objects }, (_, at) => at)
    for (let from = 0; from < objects; from += 50) {
      const writes = names.slice(from, from + 50).flatMap((at) => [
        { user: "user:ann", relation: "viewer", object: `document:${at}` },
        { user: `user:${at}`, relation: "viewer", object: "document:all" },
      ])
      const { status } = await served.call("POST", `/stores/${store}/write`, {
        writes: { tuple_keys: writes },
      })
      expect(status).toBe(200)
    }
  })
  afterAll(async () => {
    await Promise.all([served, limited].map(({ listeners }) => listeners.close()))
    await database.close()
  })
  const question = { type: "document", relation: "viewer", user: "user:ann" }
  const users = {
    object: { type: "document", id: "all" },
    relation: "viewer",
    user_filters: [{ type: "user" }],
  }

  test("are complete, streamed or not", async () => {
    const { json } = await served.call("POST", `/stores/${store}/list-objects`, question)
    expect(Object.keys(json)).toEqual(["objects"])
    expect(new Set(json.objects).size).toBe(objects)
    const response = await fetch(`${served.base}/stores/${store}/streamed-list-objects`, {
      method: "POST",
      body: JSON.stringify(question),
    })
    const lines = (await response.text()).trimEnd().split("\n")
    expect(lines.map((each) => JSON.parse(each).result.object).sort()).toEqual([...json.objects].sort())
    expect(response.headers.get("sallyport-revision")).toBe(String(objects / 50))
    const listed = await served.call("POST", `/stores/${store}/list-users`, users)
    expect(Object.keys(listed.json)).toEqual(["users"])
    expect(listed.json.users).toHaveLength(objects)
  })

  test("are complete in AuthZEN's searches, each id as its client knows it", async () => {
    const strange = ["a b", 'say "c:d"', "50%", "é#1", "%20"]
    const writes = strange.flatMap((id) => {
      const stored =
        id === "%20"
          ? "%2520"
          : id.replace(" ", "%20").replace(" ", "%20").replace(":", "%3A").replace("#", "%23")
      return [
        { user: "user:zoe", relation: "viewer", object: `document:${stored}` },
        { user: `user:${stored}`, relation: "viewer", object: "document:strange" },
      ]
    })
    const plain = Array.from({ length: 40 }, (_, at) => at)
    await served.call("POST", `/stores/${store}/write`, { writes: { tuple_keys: writes } })
    for (let from = 0; from < objects; from += plain.length)
      await served.call("POST", `/stores/${store}/write`, {
        writes: {
          tuple_keys: plain.flatMap((at) => [
            { user: "user:zoe", relation: "viewer", object: `document:a-name-of-some-length-${from + at}` },
            {
              user: `user:a-name-of-some-length-${from + at}`,
              relation: "viewer",
              object: "document:strange",
            },
          ]),
        },
      })
    const names = Array.from(
      { length: Math.ceil(objects / 40) * 40 },
      (_, at) => `a-name-of-some-length-${at}`,
    )
    const action = { name: "viewer" }
    for (const [path, body, type] of [
      [
        "resource",
        { subject: { type: "user", id: "zoe" }, action, resource: { type: "document" } },
        "document",
      ],
      [
        "subject",
        { subject: { type: "user" }, action, resource: { type: "document", id: "strange" } },
        "user",
      ],
    ] as const) {
      const url = `/stores/${store}/access/v1/search/${path}`
      const { json, text } = await served.call("POST", url, body)
      expect(text.length).toBeGreaterThan(1 << 16)
      expect(Object.keys(json)).toEqual(["results"])
      expect(json.results.map((each: { id: string }) => each.id).sort()).toEqual(
        [...names, ...strange].sort(),
      )
      expect(new Set(json.results.map((each: { type: string }) => each.type))).toEqual(new Set([type]))
      // What is kept is the same, and so are pages, which say how many they hold.
      expect((await served.call("POST", url, body)).text).toBe(text)
      const page = await served.call("POST", url, { ...body, page: { limit: 100 } })
      expect(page.json.page).toEqual({ next_token: expect.stringMatching(/./), count: 100 })
      expect(page.json.results).toHaveLength(100)
    }
  })

  test("say that a limit cut them, and where they go on: all of them come, once, at one revision", async () => {
    for (const [path, body, field] of [
      ["list-objects", question, "objects"],
      ["list-users", users, "users"],
    ] as const) {
      const found: unknown[] = []
      let token = ""
      let revision: string | null = null
      for (let page = 0; page === 0 || token !== ""; page += 1) {
        const more = token === "" ? {} : { continuation_token: token }
        const { json, headers } = await limited.call("POST", `/stores/${store}/${path}`, { ...body, ...more })
        found.push(...json[field])
        token = json.continuation_token ?? ""
        expect(json.truncated).toBe(token === "" ? undefined : "limit")
        expect(headers.get("sallyport-revision")).toBe(revision ?? headers.get("sallyport-revision"))
        revision = headers.get("sallyport-revision")
        // What is written between the pages does not show.
        const extra = { user: `user:extra${page}`, relation: "viewer", object: `document:extra${page}` }
        const both = [extra, { ...extra, object: "document:all" }, { ...extra, user: "user:ann" }]
        await served.call("POST", `/stores/${store}/write`, {
          writes: { tuple_keys: both, on_duplicate: "ignore" },
        })
      }
      expect(new Set(found.map((each) => JSON.stringify(each))).size).toBe(found.length)
      expect(found.length).toBeGreaterThanOrEqual(objects)
      expect(found.filter((each) => JSON.stringify(each).includes("extra")).length).toBeLessThanOrEqual(
        path === "list-objects" ? 0 : 3,
      )
    }
  })

  test("a stream that a limit or a page size ends says where it goes on, and one that is cut that it is an error", async () => {
    const error = {
      code: 8,
      message: "the list is longer than this server returns in one response",
      details: [],
    }
    for (const [more, size] of [
      [{}, 1_000],
      [{ page_size: 700 }, 700],
    ] as const) {
      const found: string[] = []
      for (let token: string | undefined = ""; token !== undefined; ) {
        const after: object = token === "" ? {} : { continuation_token: token }
        const response = await fetch(`${limited.base}/stores/${store}/streamed-list-objects`, {
          method: "POST",
          body: JSON.stringify({ ...question, ...more, ...after }),
        })
        const lines = (await response.text())
          .trimEnd()
          .split("\n")
          .map((each) => JSON.parse(each))
        const last = lines.at(-1).result === undefined ? lines.pop() : undefined
        found.push(...lines.map((each) => each.result.object))
        token = last?.continuation_token
        if (last === undefined) continue
        expect(lines).toHaveLength(size)
        const cut = size === 1_000 ? { error, truncated: "limit" } : {}
        expect(last).toEqual({ ...cut, continuation_token: expect.stringMatching(/./) })
      }
      expect(new Set(found).size).toBe(found.length)
      expect(found.length).toBeGreaterThanOrEqual(objects)
    }
  })

  test("a list that its deadline cut says so, or is complete", async () => {
    const hurried = await serve(database, 10_000, { limits: () => ({ ...authzLimits, listObjectsMs: 1 }) })
    try {
      const { status, json } = await hurried.call("POST", `/stores/${store}/list-objects`, question)
      if (status === 504)
        expect(json).toEqual({ code: "deadline_exceeded", message: "Request Deadline Exceeded" })
      else if (json.truncated === undefined) expect(json.objects.length).toBeGreaterThanOrEqual(objects)
      else
        expect(json).toMatchObject({ truncated: "deadline", continuation_token: expect.stringMatching(/./) })
    } finally {
      await hurried.listeners.close()
    }
  })
})

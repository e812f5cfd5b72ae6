import { expect, test } from "vitest"
import { describeServed, documentModel, type Served } from "./harness.ts"

const tuple = (n: number, more: object = {}) =>
  JSON.stringify({ user: `user:u${n}`, relation: "owner", object: `document:${n % 50}`, ...more })
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `${tuple(from + at)}\n`).join("")
const guest = (floor: number) =>
  JSON.stringify({
    ...{ user: "user:g", relation: "guest", object: "document:1" },
    condition: { name: "in_office", context: { floor } },
  })

/** A store of its own with the model. */
async function storeOf(served: Served): Promise<string> {
  const { json } = await served.call("POST", "/stores", { name: "bulk" })
  const path = `/stores/${json.id}`
  expect((await served.call("POST", `${path}/authorization-models`, documentModel)).status).toBe(201)
  return path
}

describeServed("bulk-write", (served) => {
  const changesOf = async (path: string) => {
    const { json } = await served().call("GET", `${path}/changes?page_size=100`)
    return json.changes as { tuple_key: { user: string }; operation: string }[]
  }
  const count = async (path: string) => {
    let total = 0
    for (let token = ""; ; ) {
      const { json } = await served().call("POST", `${path}/read`, {
        page_size: 100,
        continuation_token: token,
      })
      total += json.tuples.length
      token = json.continuation_token
      if (token === "") return total
    }
  }

  test("writes what does not exist, and says how much did; answers know it at once", async () => {
    const path = await storeOf(served())
    const bulk = (body: string) => served().call("POST", `${path}/bulk-write`, body)
    const first = await bulk(lines(0, 2_000))
    expect([first.status, first.json]).toEqual([200, { written: 2_000, existing: 0 }])
    expect(first.headers.get("sallyport-consistency-token")).toMatch(/./)
    const check = { tuple_key: { user: "user:u1999", relation: "viewer", object: "document:49" } }
    expect((await served().call("POST", `${path}/check`, check)).json.allowed).toBe(true)
    expect((await bulk(lines(1_990, 2_050))).json).toEqual({ written: 50, existing: 10 })
    const next = { tuple_key: { user: "user:u2049", relation: "viewer", object: "document:49" } }
    expect((await served().call("POST", `${path}/check`, next)).json.allowed).toBe(true)
    expect(await count(path)).toBe(2_050)
    expect((await bulk(lines(0, 100))).json).toEqual({ written: 0, existing: 100 })
  })

  test("is one commit of the feed, in the order of the lines, also when some exist or are repeated", async () => {
    const path = await storeOf(served())
    const bulk = (body: string) => served().call("POST", `${path}/bulk-write`, body)
    expect((await bulk(lines(0, 3))).json.written).toBe(3)
    const repeated = `\n${tuple(1)}\r\n${tuple(5)}\n\n${tuple(4)}\n${tuple(5)}`
    expect((await bulk(repeated)).json).toEqual({ written: 2, existing: 1 })
    const users = (await changesOf(path)).map(({ tuple_key }) => tuple_key.user)
    expect(users.slice(0, 3)).toEqual(["user:u0", "user:u1", "user:u2"])
    expect(users.slice(3).sort()).toEqual(["user:u4", "user:u5"])
  })

  test("keeps conditions; another condition for an existing tuple or a repeated line refuses all", async () => {
    const path = await storeOf(served())
    const bulk = (body: string) => served().call("POST", `${path}/bulk-write`, body)
    expect((await bulk(`${guest(5)}\n${guest(5)}`)).json).toEqual({ written: 1, existing: 0 })
    const asked = { tuple_key: { user: "user:g", relation: "guest", object: "document:1" } }
    const ask = async () =>
      (await served().call("POST", `${path}/check`, { ...asked, context: { city: "Bonn" } })).json.allowed
    expect(await ask()).toBe(true)
    const other = await bulk(`${tuple(1)}\n${guest(2)}`)
    expect([other.status, other.json.code]).toEqual([409, "Aborted"])
    const twice = await bulk(`${tuple(2)}\n${tuple(3)}\n${guest(7)}\n${guest(8)}`)
    expect([twice.status, twice.json.message]).toEqual([
      400,
      "line 4: an earlier line has the same user, relation and object with another condition",
    ])
    expect([await ask(), await count(path)]).toEqual([true, 1])
  })

  test.each([
    ["a line that is not JSON", `${tuple(1)}\n{`, /^line 2: malformed JSON/],
    ["a line that is not an object", `[]\n`, /^line 1: malformed JSON: the body must be an object/],
    ["an unknown relation", `\n${tuple(1, { relation: "nothing" })}`, /^line 2: .*nothing/],
    ["a user of the wrong type", tuple(1, { user: "folder:x" }), /^line 1: /],
    ["an incomplete tuple", `{"user":"user:a"}`, /^line 1: /],
    ["no line", "\n\n", /^the body has no tuples/],
  ])("refuses %s with its line, and writes nothing", async (_, body, message) => {
    const path = await storeOf(served())
    const { status, json } = await served().call("POST", `${path}/bulk-write`, body)
    expect(status).toBe(400)
    expect(json.message).toMatch(message)
    expect(await changesOf(path)).toEqual([])
  })

  test("needs a store that exists, and a body within the limit", async () => {
    const unknown = await served().call("POST", "/stores/01JZZZZZZZZZZZZZZZZZZZZZZZ/bulk-write", tuple(1))
    expect([unknown.status, unknown.json.code]).toEqual([404, "store_id_not_found"])
    const path = await storeOf(served())
    expect((await served().call("POST", `${path}/bulk-write`, lines(0, 20_000))).status).toBe(413)
  })

  test("takes its turn among other writes, each of which is there in the end", async () => {
    const path = await storeOf(served())
    const writes = Array.from({ length: 30 }, (_, at) =>
      at % 3 === 0
        ? served().call("POST", `${path}/bulk-write`, lines(at * 100, at * 100 + 100))
        : served().call("POST", `${path}/write`, { writes: { tuple_keys: [JSON.parse(tuple(at * 100))] } }),
    )
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200))
    expect(await count(path)).toBe(10 * 100 + 20)
    const last = { tuple_key: { user: "user:u2799", relation: "owner", object: "document:49" } }
    expect((await served().call("POST", `${path}/check`, last)).json.allowed).toBe(true)
  })
})

import { afterEach, describe, expect, it } from "vitest"
import { CheckError, type CheckRequest, type TupleKey } from "../../runtime/check/ports.ts"
import type { Authorizer } from "../../runtime/policies/policy.ts"
import { until } from "../support/until.ts"
import { authorizerOf } from "./authorizer.ts"
import { type RawAnswer, startUpstream } from "./harness.ts"
import { cel, closeAll, closers, issuers, jwt, parts, start, tokenOf, verifier } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const ann = tokenOf({ sub: "ann", scope: "read" })
const user = { text: ["user:", ...parts(cel("jwt.sub"))] }
const order = (expression: string) => ({ text: ["order:", ...parts(cel(expression))] })
const dynamic = (text: string) => ({ lang: "cel", text, type: "dyn" }) as const

function require_(object = order("path.id"), more: object = {}): StepDraft {
  return { kind: "require", store: "acme", relation: "viewer", object, user, ...more } as StepDraft
}

/** Knows who may see what: `order:N` for even N; asks nothing of `order:away`. */
function engine(change: Authorizer["change"] = async () => undefined) {
  const asked: CheckRequest[] = []
  const changed: [string, TupleKey][] = []
  const base = authorizerOf((_store, request) => {
    asked.push(request)
    if (request.object === "order:away") throw new CheckError("unavailable", "away")
    return { allowed: Number(request.object.slice(6)) % 2 === 0, revision: 1 }
  })
  const authorizer: Authorizer = {
    ...base,
    async change(store, action, tuple) {
      changed.push([action, tuple])
      await change(store, action, tuple)
    },
  }
  return { asked, changed, options: { ...verifier, authorizerOf: () => authorizer } }
}

const draft = { issuers, stores: ["acme"] }

/** A gateway before a backend that answers with this. */
async function behind(
  outbound: StepDraft[],
  answer: { status?: number; headers?: Record<string, string>; body?: unknown; bytes?: Buffer },
  options: ReturnType<typeof engine>["options"],
): Promise<(headers?: string, method?: string) => Promise<RawAnswer>> {
  const upstream = await startUpstream((request, response) => {
    request.resume()
    const body = answer.bytes ?? Buffer.from(answer.body === undefined ? "" : JSON.stringify(answer.body))
    response.writeHead(answer.status ?? 200, {
      "content-type": "application/json",
      "content-length": body.length,
      ...answer.headers,
    })
    response.end(request.method === "HEAD" ? undefined : body)
  })
  const { get } = await start(
    { inbound: [jwt], outbound },
    { ...draft, backends: { main: upstream.url } },
    options,
  )
  return async (headers = ann) => {
    const found = await get("/a/7", headers)
    await upstream.close()
    return found
  }
}

describe("require", () => {
  it("brings values for conditions and tuples of its own", async () => {
    const { asked, options } = engine()
    const step = require_(order("path.id"), {
      context: [{ key: "ip", value: dynamic("request.ip") }],
      tuples: [{ user, relation: "owner", object: order("path.id") }],
    })
    const { get } = await start({ inbound: [jwt, step] }, draft, options)
    expect((await get("/a/8", ann)).status).toBe(200)
    expect(asked).toEqual([
      {
        user: "user:ann",
        relation: "viewer",
        object: "order:8",
        context: { ip: "127.0.0.1" },
        contextualTuples: [{ user: "user:ann", relation: "owner", object: "order:8" }],
      },
    ])
    expect((await get("/a/7", ann)).status).toBe(403)
  })

  it.each<[string, string[], number]>([
    ["the first says yes", ["2", "1"], 200],
    ["the last says yes", ["1", "3", "4"], 200],
    ["none does", ["1", "3"], 403],
    ["one has no answer, another says yes", ["away", "2"], 200],
    ["one has no answer, none says yes", ["1", "away", "3"], 503],
  ])("any: %s", async (_, ids, status) => {
    const { options } = engine()
    const steps = ids.map((id) => require_({ text: [`order:${id}`] }))
    const { get } = await start({ inbound: [jwt, { kind: "require-any", steps }] }, draft, options)
    expect((await get("/a/7", ann)).status).toBe(status)
  })
})

describe("require all", () => {
  it.each<[string, string[], number, number]>([
    ["each says yes", ["2", "4"], 200, 2],
    ["one says no, and the next is not asked", ["2", "1", "4"], 403, 2],
    ["one has no answer", ["2", "away"], 503, 2],
  ])("%s", async (_, ids, status, count) => {
    const { asked, options } = engine()
    const steps = ids.map((id) => require_({ text: [`order:${id}`] }))
    const { get } = await start({ inbound: [jwt, { kind: "require-all", steps }] }, draft, options)
    expect([(await get("/a/7", ann)).status, asked.length]).toEqual([status, count])
  })
})

describe("filter", () => {
  const filter = (items: string, object = order("string(item.id)")): StepDraft =>
    ({ kind: "filter", store: "acme", items, relation: "viewer", object, user }) as StepDraft
  const items = [1, 2, 3, 4].map((id) => ({ id, name: `n${id}` }))

  it("leaves what the caller may see, in its order, and honest counts", async () => {
    const body = { items, total: 4, count: 4, size: 90, page: 1 }
    const get = await behind([filter("items")], { body }, engine().options)
    const answer = await get()
    expect(JSON.parse(answer.body)).toEqual({ items: [items[1], items[3]], total: 2, count: 2, page: 1 })
    expect(answer.headers.get("content-length")).toBe(String(answer.body.length))
  })

  it("the whole answer, or a list further inside", async () => {
    const whole = await behind([filter("")], { body: items }, engine().options)
    expect(JSON.parse((await whole()).body)).toEqual([items[1], items[3]])
    const inside = await behind([filter("data.rows")], { body: { data: { rows: items } } }, engine().options)
    expect(JSON.parse((await inside()).body)).toEqual({ data: { rows: [items[1], items[3]] } })
  })

  it("what stays is as the backend wrote it", async () => {
    const bytes = Buffer.from(
      '{ "total": 2, "items": [ {"id": 1}, {"id": 2.0, "n": 9007199254740993, "e": 1e3} ] }\n',
    )
    const get = await behind([filter("items", order("string(int(item.id))"))], { bytes }, engine().options)
    const text = '{ "total": 1, "items": [ {"id": 2.0, "n": 9007199254740993, "e": 1e3} ] }\n'
    expect((await get()).body).toBe(text)
  })

  it("an answer in another charset goes out as UTF-8, and says so", async () => {
    const bytes = Buffer.from('[{"id":1},{"id":2,"name":"Zoë"}]', "latin1")
    const headers = { "content-type": "application/json; charset=ISO-8859-1" }
    const get = await behind([filter("")], { bytes, headers }, engine().options)
    const answer = await get()
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8")
    expect(Buffer.from(answer.body, "latin1").toString()).toBe('[{"id":2,"name":"Zoë"}]')
  })

  it("a list that is there twice is not shown: another reader may mean the other one", async () => {
    for (const last of ["[]", '[{"id":2}]']) {
      const bytes = Buffer.from(`{"items":[{"id":1}],"items":${last}}`)
      const get = await behind([filter("items")], { bytes }, engine().options)
      expect((await get()).status).toBe(502)
    }
  })

  it("an answer of which nothing is cut goes out as it came", async () => {
    const body = { items: [{ id: 2 }] }
    const get = await behind([filter("items")], { body, headers: { etag: '"x"' } }, engine().options)
    expect((await get()).headers.get("etag")).toBe('"x"')
  })

  it.each<[string, { status?: number; body?: unknown; headers?: Record<string, string> }, number]>([
    ["no answer of the engine", { body: { items: [{ id: "away" }] } }, 503],
    ["no such list", { body: { rows: items } }, 502],
    ["no list at all", { body: { items: "x" } }, 502],
    ["an item without an id", { body: { items: [{ id: 2 }, {}] } }, 500],
    ["an id that is none", { body: { items: [{ id: "a:b" }] } }, 502],
    ["a failure of the backend", { status: 404, body: { error: "no" } }, 404],
  ])("%s", async (_, answer, status) => {
    const object = order("item.id")
    const body = JSON.parse(JSON.stringify(answer.body), (key, value) =>
      key === "id" ? String(value) : value,
    )
    const get = await behind([filter("items", object)], { ...answer, body }, engine().options)
    const found = await get()
    expect(found.status).toBe(status)
    if (status >= 500) expect(found.body).not.toContain("n1")
  })

  it("what is no JSON is not shown", async () => {
    const get = await behind(
      [filter("items")],
      { headers: { "content-type": "text/plain" }, body: "x" },
      engine().options,
    )
    expect((await get()).status).toBe(502)
  })
})

describe("grant", () => {
  const grant = (action: "write" | "delete"): StepDraft =>
    ({
      kind: "grant",
      action,
      store: "acme",
      relation: "owner",
      object: order("response.body.id"),
      user,
    }) as StepDraft

  it("writes and deletes after a yes, before the answer goes out", async () => {
    for (const action of ["write", "delete"] as const) {
      const { changed, options } = engine()
      const get = await behind([grant(action)], { status: 201, body: { id: "8" } }, options)
      const answer = await get()
      expect([answer.status, JSON.parse(answer.body)]).toEqual([201, { id: "8" }])
      expect(changed).toEqual([[action, { user: "user:ann", relation: "owner", object: "order:8" }]])
    }
  })

  it("does nothing after a no", async () => {
    const { changed, options } = engine()
    const get = await behind([grant("write")], { status: 409, body: { id: "8" } }, options)
    expect([(await get()).status, changed]).toEqual([409, []])
  })

  it("tries again, and says so when it cannot", async () => {
    let failures = 2
    const flaky = engine(async () => {
      failures -= 1
      if (failures >= 0) throw new CheckError("unavailable", "away")
    })
    const get = await behind([grant("write")], { body: { id: "8" } }, flaky.options)
    expect([(await get()).status, flaky.changed.length]).toEqual([200, 3])
    const dead = engine(() => Promise.reject(new CheckError("unavailable", "away")))
    const never = await behind([grant("write")], { body: { id: "8" } }, dead.options)
    expect([(await never()).status, dead.changed.length]).toEqual([502, 3])
  })

  describe("that fails", () => {
    const dead = () => engine(() => Promise.reject(new CheckError("unavailable", "away")))
    const asked = async (action: "write" | "delete", more: object = {}, onError: StepDraft[] = []) => {
      const upstream = await startUpstream()
      closers.push(() => upstream.close())
      const step = { ...grant(action), object: order("path.id") } as StepDraft
      const world = await start(
        { inbound: [jwt], outbound: [step], onError },
        { ...draft, ...more, backends: { main: upstream.url } },
        dead().options,
      )
      const answer = await world.get("/a/7", ann)
      await until(() => world.running.log.length === 1)
      return { answer, seen: upstream.requests.length, logged: world.running.log[0] }
    }
    const words =
      "The backend has carried out the request, but the permissions that go with it could not be changed. Repeating the request may carry it out a second time."

    it("tells the client that the backend has done its part, and asks it once", async () => {
      const { answer, seen, logged } = await asked("write")
      expect([answer.status, seen, answer.headers.get("retry-after")]).toEqual([502, 1, undefined])
      expect(JSON.parse(answer.body)).toEqual({
        ...{ type: "urn:sallyport:problem:permissions-unchanged", title: "Permissions unchanged" },
        ...{ status: 502, detail: words, request_id: expect.any(String) },
      })
      expect(logged).toMatchObject({
        ...{ problem: "permissions-unchanged", reason: "GrantFailed", status: 502 },
        answeredBy: { kind: "grant" },
        cause: expect.stringContaining(
          "the backend responded with 200, but then the relation could not be changed: grant of `user:ann owner order:7`: away",
        ),
      })
    })

    it("is another reason than that of a revoke", async () => {
      const { logged } = await asked("delete")
      expect([logged?.problem, logged?.reason]).toEqual(["permissions-unchanged", "RevokeFailed"])
    })

    it("is told in the words of Azure API Management's form too", async () => {
      const { answer } = await asked("write", { errors: "apim" })
      expect(JSON.parse(answer.body)).toEqual({ statusCode: 502, message: words })
    })

    it("is for on-error to know", async () => {
      const text = { text: parts(cel("error.reason + ' ' + error.source")) }
      const { answer } = await asked("write", {}, [
        { kind: "respond", status: 207, headers: [], media: null, body: { text } },
      ])
      expect([answer.status, answer.body]).toEqual([207, "GrantFailed grant"])
    })
  })

  it("an answer without the id is 502 too", async () => {
    const { changed, options } = engine()
    const get = await behind([grant("write")], { body: {} }, options)
    expect([(await get()).status, changed]).toEqual([502, []])
  })
})

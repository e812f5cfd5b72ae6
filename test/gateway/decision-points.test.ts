import { connect } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import type { PdpPlan } from "../../runtime/plan/resources.ts"
import { until } from "../support/until.ts"
import { ann, asking, bodies, deciding, dynamic, even, order, question, saying, user } from "./asked-point.ts"
import { authorizerOf } from "./authorizer.ts"
import { type Answering, startRawUpstream, startUpstream } from "./harness.ts"
import { closeAll, closers, jwt, tokenOf } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("require", () => {
  test("asks for an evaluation, in AuthZEN's words, under the request's id", async () => {
    const more = {
      context: [{ key: "ip", value: dynamic("request.ip") }],
      properties: {
        subject: [{ key: "dept", value: dynamic("jwt.dept") }],
        resource: [{ key: "path", value: dynamic("request.path") }],
        action: [{ key: "method", value: dynamic("request.method") }],
      },
    }
    const { ask, point, running } = await asking(even, { inbound: [jwt, question(more)] })
    expect([await ask("8"), await ask("7"), await ask("a@b.example")]).toEqual([200, 403, 403])
    const [first] = point.requests
    expect([first?.method, first?.url, first?.headers["content-type"], first?.headers.authorization]).toEqual(
      ["POST", "/access/v1/evaluation", "application/json", undefined],
    )
    expect(bodies(point.requests).map(({ resource }) => resource.id)).toEqual(["8", "7", "a@b.example"])
    expect(bodies(point.requests)[0]).toEqual({
      subject: { type: "user", id: "ann", properties: { dept: "sales" } },
      action: { name: "read", properties: { method: "GET" } },
      resource: { type: "order", id: "8", properties: { path: "/a/8" } },
      context: { ip: "127.0.0.1" },
    })
    await until(() => running.log.length === 3)
    const { id, decision } = running.log[1] ?? {}
    expect(point.requests[1]?.headers["x-request-id"]).toBe(id)
    expect(decision).toMatchObject({
      pdp: "corp",
      user: "user:ann",
      relation: "read",
      object: "order:7",
      allowed: false,
    })
  })

  test("says nothing it was not told to say", async () => {
    const { ask, point } = await asking(even)
    await ask()
    expect(bodies(point.requests)).toEqual([
      {
        subject: { type: "user", id: "ann" },
        action: { name: "read" },
        resource: { type: "order", id: "8" },
      },
    ])
  })

  test("connections are kept", async () => {
    const sockets = new Set<unknown>()
    const { ask } = await asking((request, response, seen) => {
      sockets.add(request.socket)
      even(request, response, seen)
    })
    for (let at = 0; at < 5; at += 1) expect(await ask()).toBe(200)
    expect(sockets.size).toBe(1)
  })

  test("nobody is asked any longer when the caller has left", async () => {
    let open = 0
    const { running, point } = await asking((request) => {
      open += 1
      request.resume()
      request.socket.on("close", () => {
        open -= 1
      })
    })
    const client = connect(running.port, "127.0.0.1")
    client.write(`GET /a/8 HTTP/1.1\r\nHost: gw\r\n${ann}\r\n`)
    await until(() => open === 1)
    client.destroy()
    await until(() => open === 0)
    // It is not asked again, as it would be where the connection broke.
    await until(() => running.log.length === 1)
    expect(point.requests).toHaveLength(1)
  })

  test("what it says of its reasons is in the log, and nowhere else", async () => {
    const reasons = { reason_admin: { "403": "rule 7\nof policy C0" }, reason_user: { "403": "no" } }
    const { get, running } = await asking(deciding(() => ({ decision: false, context: reasons })))
    const answer = await get("/a/8", ann)
    expect([answer.status, answer.text.includes("rule 7"), answer.text.includes('"no"')]).toEqual([
      403,
      false,
      false,
    ])
    await until(() => running.log.length === 1)
    expect(running.log[0]?.decision?.reason).toBe("rule 7 of policy C0")
  })

  test("what is not an id is refused before anybody is asked", async () => {
    const { get, point } = await asking(even)
    expect((await get("/a/1%23member", ann)).status).toBe(400)
    expect((await get("/a/%2A", ann)).status).toBe(400)
    expect((await get("/a/8", tokenOf({ scope: "read" }))).status).toBe(403)
    expect(point.requests).toHaveLength(0)
  })
})

describe("no decision is not a yes: 503 with Retry-After", () => {
  const rows: readonly [string, Answering, RegExp, Partial<PdpPlan>?][] = [
    ["an error of its own", saying("{}", 500), /responds with 500/],
    ["a question it does not take", saying('{"decision":true}', 400), /responds with 400/],
    ["our credentials are refused", saying("", 401), /responds with 401/],
    ["a redirect", saying("", 307, { location: "http://127.0.0.1:1/" }), /responds with 307/],
    ["created", saying('{"decision":true}', 201), /responds with 201/],
    ["no JSON", saying("yes"), /no decision/],
    ["nothing", saying(""), /no decision/],
    ["no decision", saying('{"context":{}}'), /no decision/],
    ["a decision that is text", saying('{"decision":"true"}'), /no decision/],
    ["a decision that is a number", saying('{"decision":1}'), /no decision/],
    ["a decision that is null", saying('{"decision":null}'), /no decision/],
    ["a list", saying('[{"decision":true}]'), /no decision/],
    ["a decision below something else", saying('{"evaluations":[{"decision":true}]}'), /no decision/],
    ["two decisions", saying('{"decision":false,"decision":true}'), /no decision/],
    ["an inherited decision", saying('{"__proto__":{"decision":true}}'), /no decision/],
    ["an answer that is too large", saying(`{"decision":true,"x":"${"x".repeat(5_000_000)}"}`), /more than/],
    [
      "an answer that is cut short",
      (request, response) => {
        request.resume()
        response.writeHead(200, { "content-length": "500" })
        response.write('{"decision":true}', () => request.socket.destroy())
      },
      /./,
    ],
    ["no answer", (request) => request.socket.destroy(), /./],
    ["no response in time", (request) => void request.resume(), /in time/, { timeoutMs: 60 }],
    [
      "an answer that does not end in time",
      (request, response) => {
        request.resume()
        response.writeHead(200).write('{"decision":true')
      },
      /in time/,
      { timeoutMs: 60 },
    ],
  ]
  test.each(rows)("%s", async (_, answer, cause, pdp) => {
    const { get, upstream, running } = await asking(answer, undefined, pdp)
    const found = await get("/a/8", ann)
    expect([found.status, found.headers.get("retry-after")]).toEqual([503, "1"])
    expect(found.body).toContain("authorization-unavailable")
    expect(upstream.requests).toHaveLength(0)
    await until(() => running.log.length === 1)
    expect(running.log[0]?.cause).toMatch(/^decision point `corp`: /)
    expect(running.log[0]?.cause).toMatch(cause)
    expect(running.log[0]?.decision).toMatchObject({ pdp: "corp", allowed: false })
  })

  test("nobody is there", async () => {
    const point = await startUpstream(even)
    await point.close()
    const { ask } = await asking(even, undefined, { url: point.url })
    expect(await ask()).toBe(503)
  })

  test("a connection that it had closed is not a reason: it is asked again", async () => {
    const answer = '{"decision":true}'
    const point = await startRawUpstream((socket) => {
      let asked = 0
      socket.on("data", () => {
        asked += 1
        // The second question on a connection meets one that is being closed.
        if (asked > 1) socket.destroy()
        else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`)
      })
    })
    closers.push(() => point.close())
    const { ask } = await asking(even, undefined, { url: point.url })
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 200])
    expect(point.connections()).toBe(3)
  })
})

describe("several questions", () => {
  const several = (kind: "require-any" | "require-all", ids: readonly string[]): StepDraft => ({
    kind,
    steps: ids.map((id) => question({ object: { text: [`order:${id}`] } })),
  })

  test.each<[string, string[], number]>([
    ["the first says yes", ["2", "1"], 200],
    ["the last says yes", ["1", "3", "4"], 200],
    ["none does", ["1", "3"], 403],
  ])("any, in one request: %s", async (_, ids, status) => {
    const { ask, point, running } = await asking(even, { inbound: [jwt, several("require-any", ids)] })
    expect(await ask()).toBe(status)
    expect(point.requests.map(({ url }) => url)).toEqual(["/access/v1/evaluations"])
    expect(bodies(point.requests)[0].evaluations).toHaveLength(ids.length)
    await until(() => running.log.length === 1)
    const yes = ids.find((id) => Number(id) % 2 === 0)
    expect(running.log[0]?.decision).toMatchObject({
      object: `order:${yes ?? ids[0]}`,
      allowed: yes !== undefined,
    })
  })

  test.each<[string, string[], number, string]>([
    ["each says yes", ["2", "4", "6"], 200, "2"],
    ["one says no", ["2", "1", "3"], 403, "1"],
  ])("all, in one request: %s", async (_, ids, status, decisive) => {
    const { ask, point, running } = await asking(even, { inbound: [jwt, several("require-all", ids)] })
    expect(await ask()).toBe(status)
    expect(point.requests.map(({ url }) => url)).toEqual(["/access/v1/evaluations"])
    await until(() => running.log.length === 1)
    expect(running.log[0]?.decision).toMatchObject({ object: `order:${decisive}`, allowed: status === 200 })
  })

  const item = '{"decision":true}'
  test.each<[string, string]>([
    ["too few", `{"evaluations":[${item}]}`],
    ["too many", `{"evaluations":[${item},${item},${item}]}`],
    ["none", '{"evaluations":[]}'],
    ["one without a decision", `{"evaluations":[${item},{"decision":"true"}]}`],
    ["no list", '{"decision":true}'],
  ])("any and all: %s is 503", async (_, body) => {
    for (const kind of ["require-any", "require-all"] as const) {
      const { ask } = await asking(saying(body), { inbound: [jwt, several(kind, ["2", "4"])] })
      expect(await ask()).toBe(503)
    }
  })

  test("any of the engine and a decision point: each is asked", async () => {
    const steps = [
      question({ object: { text: ["order:1"] } }),
      { kind: "require", store: "acme", relation: "viewer", object: { text: ["order:1"] }, user },
    ] as StepDraft[]
    const { ask, point } = await asking(
      even,
      { inbound: [jwt, { kind: "require-any", steps }] },
      {},
      { stores: ["acme"] },
      { authorizerOf: () => authorizerOf(() => ({ allowed: true, revision: 1 })) },
    )
    expect([await ask(), point.requests.length]).toEqual([200, 1])
  })

  const filter = (more: object = {}): StepDraft =>
    ({
      kind: "filter",
      pdp: "corp",
      items: "items",
      relation: "read",
      object: order("string(item.id)"),
      user,
      ...more,
    }) as StepDraft

  async function filtering(answer: Answering, count: number, pdp: Partial<PdpPlan> = {}) {
    const items = Array.from({ length: count }, (_, id) => ({ id }))
    const backend = await startUpstream(saying(JSON.stringify({ items })))
    closers.push(() => backend.close())
    const backends = { main: backend.url }
    return asking(answer, { inbound: [jwt], outbound: [filter()] }, pdp, { backends })
  }

  test("filter asks in as few requests as it may, and keeps the order", async () => {
    const { get, point } = await filtering(even, 23, { batchMax: 10 })
    const { status, body } = await get("/a/8", ann)
    expect(status).toBe(200)
    expect(JSON.parse(body).items.map(({ id }: { id: number }) => id)).toEqual(
      Array.from({ length: 12 }, (_, at) => at * 2),
    )
    expect(bodies(point.requests).map(({ evaluations }) => evaluations.length)).toEqual([10, 10, 3])
  })

  test("one item left over is one evaluation", async () => {
    const { get, point } = await filtering(even, 11, { batchMax: 10 })
    expect((await get("/a/8", ann)).status).toBe(200)
    expect(point.requests.map(({ url }) => url).sort()).toEqual([
      "/access/v1/evaluation",
      "/access/v1/evaluations",
    ])
  })

  test("filter: one request without an answer, and nothing goes out", async () => {
    let asked = 0
    const { get, running } = await filtering(
      (request, response, seen) => {
        asked += 1
        if (asked === 2) saying("{}", 500)(request, response, seen)
        else even(request, response, seen)
      },
      30,
      { batchMax: 10 },
    )
    const { status, body } = await get("/a/8", ann)
    expect([status, body.includes('"id"')]).toEqual([503, false])
    await until(() => running.log.length === 1)
  })

  test("an evaluation it could not make is a no", async () => {
    const answer = deciding((id) =>
      id === "1"
        ? { decision: false, context: { error: { status: 500, message: "x" } } }
        : { decision: true },
    )
    const { get } = await filtering(answer, 3)
    expect(JSON.parse((await get("/a/8", ann)).body).items).toEqual([{ id: 0 }, { id: 2 }])
  })
})

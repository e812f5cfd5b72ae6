import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import type { PdpPlan } from "../../runtime/plan/pdp.ts"
import { authorizerOf } from "./authorizer.ts"
import { type Answering, type Draft, startRawUpstream, startUpstream, until } from "./harness.ts"
import { cel, closeAll, closers, issuers, jwt, parts, start, tokenOf, verifier } from "./one-route.ts"
import { planOf, type StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const ann = tokenOf({ sub: "ann", scope: "read", dept: "sales" })
const user = { text: ["user:", ...parts(cel("jwt.sub"))] }
const order = (expression: string) => ({ text: ["order:", ...parts(cel(expression))] })
const dynamic = (text: string) => ({ lang: "cel", text, type: "dyn" }) as const
const question = (more: object = {}): StepDraft =>
  ({ kind: "require", pdp: "corp", relation: "read", object: order("path.id"), user, ...more }) as StepDraft

const pdpAt = (url: string, more: Partial<PdpPlan> = {}): PdpPlan => ({
  ...{ url, discover: false, timeoutMs: 5_000, cacheMs: 0, batchMax: 50 },
  tls: { insecure: false },
  ...more,
})

/** Answers every evaluation by what `decide` says of its resource's id. */
const deciding =
  (decide: (id: string) => unknown): Answering =>
  (request, response, seen) => {
    request.on("end", () => {
      const body = JSON.parse(seen.body)
      const answer =
        body.evaluations === undefined
          ? decide(body.resource.id)
          : { evaluations: body.evaluations.map((each: typeof body) => decide(each.resource.id)) }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    })
  }
const even = deciding((id) => ({ decision: Number(id) % 2 === 0 }))
const saying =
  (text: string | Buffer, status = 200, headers: Record<string, string> = {}): Answering =>
  (request, response) => {
    request.resume()
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text)
  }

/** A gateway that asks a decision point; the engine must not be asked. */
async function asking(
  answer: Answering,
  route: Parameters<typeof start>[0] = { inbound: [jwt, question()] },
  pdp: Partial<PdpPlan> = {},
  draft: Partial<Draft> = {},
  options: Partial<GatewayOptions> = {},
) {
  const point = await startUpstream(answer)
  closers.push(() => point.close())
  const world = await start(
    route,
    { issuers, pdps: { corp: pdpAt(point.url, pdp) }, ...draft },
    {
      ...verifier,
      authorizerOf: () => authorizerOf(() => Promise.reject(new Error("the engine was asked"))),
      ...options,
    },
  )
  const ask = async (id = "8", headers = ann) => (await world.get(`/a/${id}`, headers)).status
  return { ...world, point, ask }
}

const bodies = (requests: readonly { readonly body: string }[]) =>
  requests.map(({ body }) => JSON.parse(body))

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

  test("what is no id is refused before anybody is asked", async () => {
    const { get, point } = await asking(even)
    expect((await get("/a/1%23member", ann)).status).toBe(400)
    expect((await get("/a/%2A", ann)).status).toBe(400)
    expect((await get("/a/8", tokenOf({ scope: "read" }))).status).toBe(403)
    expect(point.requests).toHaveLength(0)
  })
})

describe("no decision is no yes: 503 with Retry-After", () => {
  const rows: readonly [string, Answering, RegExp, Partial<PdpPlan>?][] = [
    ["an error of its own", saying("{}", 500), /answers 500/],
    ["a question it does not take", saying('{"decision":true}', 400), /answers 400/],
    ["our credentials are refused", saying("", 401), /answers 401/],
    ["a redirect", saying("", 307, { location: "http://127.0.0.1:1/" }), /answers 307/],
    ["created", saying('{"decision":true}', 201), /answers 201/],
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
    ["no answer in time", (request) => void request.resume(), /in time/, { timeoutMs: 60 }],
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

  test("a connection that it had closed is no reason: it is asked again", async () => {
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
  const any = (ids: readonly string[], more: object = {}): StepDraft => ({
    kind: "require-any",
    steps: ids.map((id) => question({ object: { text: [`order:${id}`] }, ...more })),
  })

  test.each<[string, string[], number]>([
    ["the first says yes", ["2", "1"], 200],
    ["the last says yes", ["1", "3", "4"], 200],
    ["none does", ["1", "3"], 403],
  ])("any, in one request: %s", async (_, ids, status) => {
    const { ask, point, running } = await asking(even, { inbound: [jwt, any(ids)] })
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

  const item = '{"decision":true}'
  test.each<[string, string]>([
    ["too few", `{"evaluations":[${item}]}`],
    ["too many", `{"evaluations":[${item},${item},${item}]}`],
    ["none", '{"evaluations":[]}'],
    ["one without a decision", `{"evaluations":[${item},{"decision":"true"}]}`],
    ["no list", '{"decision":true}'],
  ])("any: %s is 503", async (_, body) => {
    const { ask } = await asking(saying(body), { inbound: [jwt, any(["2", "4"])] })
    expect(await ask()).toBe(503)
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

describe("kept decisions", () => {
  test("count for the very same question, for a time, and are not of errors", async () => {
    let broken = true
    const { ask, point } = await asking(
      (request, response, seen) => {
        if (broken) saying("{}", 500)(request, response, seen)
        else even(request, response, seen)
      },
      undefined,
      { cacheMs: 3_600_000 },
    )
    expect(await ask()).toBe(503)
    broken = false
    expect([await ask(), await ask(), await ask("7"), await ask("7")]).toEqual([200, 200, 403, 403])
    expect(point.requests).toHaveLength(3)
    expect(await ask("8", tokenOf({ sub: "bob", scope: "read" }))).toBe(200)
    expect(point.requests).toHaveLength(4)
  })

  test("what it said it could not decide is not kept", async () => {
    const { ask, point } = await asking(
      deciding(() => ({ decision: false, context: { error: { status: 500 } } })),
      undefined,
      { cacheMs: 3_600_000 },
    )
    expect([await ask(), await ask()]).toEqual([403, 403])
    expect(point.requests).toHaveLength(2)
  })

  test("nothing is kept where nothing is said of it", async () => {
    const { ask, point } = await asking(even)
    expect([await ask(), await ask()]).toEqual([200, 200])
    expect(point.requests).toHaveLength(2)
  })

  test("a list asks for what is not known", async () => {
    const inbound: StepDraft[] = [
      jwt,
      {
        kind: "require-any",
        steps: ["1", "3"].map((id) => question({ object: { text: [`order:${id}`] } })),
      },
    ]
    const { ask, point } = await asking(even, { inbound }, { cacheMs: 3_600_000 })
    expect([await ask(), await ask()]).toEqual([403, 403])
    expect(point.requests).toHaveLength(1)
  })
})

describe("discovery", () => {
  const metadata = (more: (base: string) => object = () => ({})): Answering => {
    return (request, response, seen) => {
      if (!seen.url.startsWith("/.well-known/")) return even(request, response, seen)
      const base = `http://${seen.headers.host}`
      const identifier = base + seen.url.replace("/.well-known/authzen-configuration", "")
      const body = {
        policy_decision_point: identifier,
        access_evaluation_endpoint: `${base}/ask/one`,
        access_evaluations_endpoint: `${base}/ask/many`,
        ...more(base),
      }
      saying(JSON.stringify(body))(request, response, seen)
    }
  }
  const any: StepDraft = { kind: "require-any", steps: [question(), question({ relation: "write" })] }

  test("asks where it is told to, and looks once", async () => {
    const { ask, point } = await asking(metadata(), { inbound: [jwt, question(), any] }, { discover: true })
    expect([await ask(), await ask()]).toEqual([200, 200])
    expect(point.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /.well-known/authzen-configuration",
      ...["POST /ask/one", "POST /ask/many", "POST /ask/one", "POST /ask/many"],
    ])
  })

  test("that of a tenant is below the well-known path", async () => {
    const point = await startUpstream(metadata())
    closers.push(() => point.close())
    const { ask } = await asking(even, undefined, { discover: true, url: `${point.url}/tenant1/` })
    expect(await ask()).toBe(200)
    expect(point.requests[0]?.url).toBe("/.well-known/authzen-configuration/tenant1")
  })

  test("without an endpoint for many, each is asked for by itself", async () => {
    const answer = metadata(() => ({ access_evaluations_endpoint: undefined }))
    const { ask, point } = await asking(answer, { inbound: [jwt, any] }, { discover: true })
    expect(await ask()).toBe(200)
    expect(point.requests.map(({ url }) => url)).toEqual([
      "/.well-known/authzen-configuration",
      ...["/ask/one", "/ask/one"],
    ])
  })

  test.each<[string, Answering]>([
    ["somebody else's", metadata(() => ({ policy_decision_point: "https://pdp.example" }))],
    ["one without an endpoint", metadata(() => ({ access_evaluation_endpoint: undefined }))],
    ["one with an endpoint that is no URL", metadata(() => ({ access_evaluation_endpoint: "/ask" }))],
    ["one with another kind of URL", metadata(() => ({ access_evaluations_endpoint: "ftp://x/" }))],
    ["no JSON", saying("<html>")],
    ["none", saying("", 404)],
  ])("%s: 503, and nobody is asked", async (_, answer) => {
    const { ask, point, running } = await asking(answer, undefined, { discover: true })
    expect(await ask()).toBe(503)
    expect(point.requests.map(({ method }) => method)).toEqual(["GET"])
    await until(() => running.log.length === 1)
    expect(running.log[0]?.cause).toContain("metadata")
  })
})

describe("who the gateway is", () => {
  const secrets = { s: { env: "S" } }
  const environment = { S: "geheim" }
  const shown = async (authentication: PdpPlan["authentication"], draft: Partial<Draft> = {}) => {
    const { ask, point } = await asking(
      even,
      undefined,
      authentication === undefined ? {} : { authentication },
      { secrets, ...draft },
      { environment },
    )
    expect(await ask()).toBe(200)
    return point.requests.map(({ headers }) => headers.authorization)
  }

  test("a password", async () => {
    expect(await shown({ scheme: "basic", user: "gw", password: "s" })).toEqual([
      `Basic ${Buffer.from("gw:geheim").toString("base64")}`,
    ])
  })

  test("a key; never the caller's own token", async () => {
    expect(await shown({ scheme: "bearer", token: "s" })).toEqual(["Bearer geheim"])
  })

  test("a key that cannot be sent is a mistake of the plan", async () => {
    const running = asking(
      even,
      undefined,
      { authentication: { scheme: "bearer", token: "s" } },
      { secrets },
      {
        environment: { S: "a b" },
      },
    )
    await expect(running).rejects.toThrow("cannot be sent as a token")
  })

  test("a token, and a fresh one where it is refused", async () => {
    let count = 0
    const endpoint = await startUpstream((request, response, seen) => {
      count += 1
      saying(JSON.stringify({ access_token: `t${count}`, token_type: "Bearer" }))(request, response, seen)
    })
    closers.push(() => endpoint.close())
    const tokenClients = { own: { endpoint: { url: endpoint.url }, client: "gw", secret: "s" } }
    const { ask, point } = await asking(
      (request, response, seen) =>
        (request.headers.authorization === "Bearer t1" ? saying("", 401) : even)(request, response, seen),
      undefined,
      { authentication: { scheme: "token", client: "own" } },
      { secrets, tokenClients },
      { environment },
    )
    expect([await ask(), await ask()]).toEqual([200, 200])
    expect(point.requests.map(({ headers }) => headers.authorization)).toEqual([
      ...["Bearer t1", "Bearer t2", "Bearer t2"],
    ])
  })

  test("no token: 503, and it is not asked", async () => {
    const tokenClients = { own: { endpoint: { url: "http://127.0.0.1:1" }, client: "gw", secret: "s" } }
    const { ask, point, running } = await asking(
      even,
      undefined,
      { authentication: { scheme: "token", client: "own" } },
      { secrets, tokenClients },
      { environment },
    )
    expect([await ask(), point.requests.length]).toEqual([503, 0])
    await until(() => running.log.length === 1)
    expect(running.log[0]?.cause).toContain("our token for it")
  })
})

describe("who the decision point is", () => {
  const folder = fileURLToPath(new URL("certificates/", import.meta.url))
  const file = (name: string) => readFileSync(`${folder}${name}`)

  test.each<[string, string, Partial<PdpPlan["tls"]>, number]>([
    ["signed by the authority that is named", "good", { ca: { file: "ca.pem" } }, 200],
    ["by an authority nobody named", "good", {}, 503],
    ["by another one", "unknown-authority", { ca: { file: "ca.pem" } }, 503],
    ["for another name", "wrong-name", { ca: { file: "ca.pem" } }, 503],
    ["not looked at", "self-signed", { insecure: true }, 200],
  ])("a certificate %s", async (_, certificate, tls, status) => {
    const server = createServer(
      { key: file("server.key"), cert: file(`${certificate}.pem`) },
      (request, response) => {
        request.resume()
        response.end('{"decision":true}')
      },
    )
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    closers.push(() => new Promise((done) => server.close(() => done(undefined))))
    closers.push(async () => server.closeAllConnections())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { ask } = await asking(even, undefined, { url, tls: { insecure: false, ...tls } }, {}, { folder })
    expect(await ask()).toBe(status)
  })

  test("a file of authorities that is not there is a mistake of the plan, with its place", async () => {
    const running = asking(
      even,
      undefined,
      { tls: { insecure: false, ca: { file: "none.pem" } } },
      {
        origins: { "pdps.corp": "gateway.conf:7" },
      },
    )
    await expect(running).rejects.toThrow(
      "gateway.conf:7: decision point `corp`: `none.pem` cannot be used (ENOENT)",
    )
  })
})

describe("a breaker", () => {
  const breaker = {
    ...{ calls: 2, windowMs: 3_600_000, openMs: 3_600_000, ejectedMaxPercent: 100 },
    statuses: [500, 503],
  }

  test("opens after so many failures: 503 at once, and it says when to come again", async () => {
    const { ask, get, point } = await asking(saying("{}", 500), undefined, { breaker })
    expect([await ask(), await ask()]).toEqual([503, 503])
    const refused = await get("/a/8", ann)
    expect([refused.status, Number(refused.headers.get("retry-after")) > 3_000]).toEqual([503, true])
    expect(point.requests).toHaveLength(2)
  })

  test("a question it does not take is none of its failures", async () => {
    const { ask, point } = await asking(saying("{}", 400), undefined, { breaker })
    for (let at = 0; at < 4; at += 1) expect(await ask()).toBe(503)
    expect(point.requests).toHaveLength(4)
  })

  test("lets one question through when its time is over, and closes when there is a decision", async () => {
    let broken = true
    const { ask, point } = await asking(
      (request, response, seen) => {
        if (broken) saying("{}", 500)(request, response, seen)
        else even(request, response, seen)
      },
      undefined,
      { breaker: { ...breaker, openMs: 1 } },
    )
    await ask()
    await ask()
    expect(point.requests).toHaveLength(2)
    broken = false
    let status = 503
    while (status !== 200) status = await ask()
    expect([await ask(), await ask()]).toEqual([200, 200])
  })
})

test("kept decisions outlive a plan that does not change the decision point", async () => {
  const { ask, point, running, upstream } = await asking(even, undefined, { cacheMs: 3_600_000 })
  const planWith = (cacheMs: number) =>
    planOf({
      port: running.port,
      issuers,
      backends: { main: upstream.url },
      values: { another: { text: "plan" } },
      pdps: { corp: pdpAt(point.url, { cacheMs }) },
      routes: [{ method: "*", path: "/a/{id}", inbound: [jwt, question()] }],
    })
  expect(await ask()).toBe(200)
  await running.gateway.apply(planWith(3_600_000))
  expect([await ask(), point.requests.length]).toEqual([200, 1])
  await running.gateway.apply(planWith(0))
  expect([await ask(), point.requests.length]).toEqual([200, 2])
})

describe("a plan is refused", () => {
  const read = (step: object, pdps: Draft["pdps"] = { corp: pdpAt("http://127.0.0.1:1") }) => {
    // What is undefined is left out.
    const asked = JSON.parse(JSON.stringify({ ...question(), ...step })) as StepDraft
    const routes = [{ path: "/", inbound: [jwt, asked] }]
    return planOf({
      ...{ port: 1, issuers, stores: ["acme"], routes, pdps },
      backends: { main: "http://127.0.0.1:1" },
    })
  }

  test.each<[string, object, string, Draft["pdps"]?]>([
    ["whose question is for nobody", { pdp: undefined }, "one of the two"],
    ["whose question is for two", { store: "acme" }, "one of the two"],
    ["with a decision point that is not there", { pdp: "x" }, "no decision point"],
    ["that gives a decision point tuples", { tuples: [] }, "tuples for stores"],
    [
      "that gives the engine properties",
      { pdp: undefined, store: "acme", properties: {} },
      "properties are for",
    ],
    [
      "without the secret",
      {},
      "no secret",
      { corp: pdpAt("http://127.0.0.1:1", { authentication: { scheme: "bearer", token: "s" } }) },
    ],
    [
      "without the certificate",
      {},
      "no certificate",
      { corp: pdpAt("http://127.0.0.1:1", { tls: { insecure: false, certificate: "c" } }) },
    ],
  ])("%s", (_, step, message, pdps) => {
    expect(() => read(step, pdps)).toThrow(message)
  })
})

import { once } from "node:events"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import type { StepOf } from "../../runtime/plan/steps.ts"
import type { MirroredRequest } from "../../runtime/policies/exchange.ts"
import { type Answering, type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"
import { keyDraft } from "./one-route.ts"
import type { PlanDraft, RouteDraft, StepDraft } from "./plan-builder.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Setup {
  readonly running: Running
  readonly main: Upstream
  readonly shadow: Upstream
  readonly copies: MirroredRequest[]
}

interface Options {
  readonly fields?: Partial<StepOf<"mirror">>
  readonly more?: readonly StepDraft[]
  readonly route?: Partial<RouteDraft>
  readonly plan?: Partial<PlanDraft>
  readonly answer?: Answering
  readonly shadow?: PlanDraft["backends"]
  readonly environment?: Record<string, string>
}

/** A gateway that copies requests from one backend to another. */
async function mirroring({
  fields,
  more = [],
  route,
  plan,
  answer,
  environment,
  ...rest
}: Options = {}): Promise<Setup> {
  const main = await startUpstream()
  const shadow = await startUpstream(answer)
  const copies: MirroredRequest[] = []
  const step: StepDraft = {
    kind: "mirror",
    backend: "shadow",
    percent: 100,
    bodyBytesMax: 1000,
    concurrencyMax: 2,
    timeoutMs: 20_000,
    credentials: false,
    ...fields,
  }
  const running = await startGateway(
    {
      backends: { main: main.url, shadow: shadow.url, ...rest.shadow },
      routes: [{ method: "*", path: "/{rest*}", inbound: [step, ...more], ...route }],
      ...plan,
    },
    {
      observer: { finished: () => undefined, mirrored: (copy) => copies.push(copy) },
      environment: environment ?? {},
    },
  )
  closers.push(
    () => running.close(),
    () => main.close(),
    () => shadow.close(),
  )
  return { running, main, shadow, copies }
}

const outcomes = ({ copies }: Setup) => copies.map(({ outcome }) => outcome)

describe("a copy", () => {
  test("has method, path, query, fields and body of the request, and a mark", async () => {
    const setup = await mirroring({
      more: [{ kind: "set-header", message: "request", action: "set", name: "x-later", values: ["1"] }],
    })
    const response = await fetch(`${setup.running.url}/orders/1?page=2`, {
      method: "POST",
      body: "a body",
      headers: { "x-own": "2", "x-mirrored-request": "forged" },
    })
    expect(response.status).toBe(200)
    await expect.poll(() => outcomes(setup)).toEqual(["answered"])
    const [original] = setup.main.requests
    const [copy] = setup.shadow.requests
    expect(copy).toMatchObject({ method: "POST", url: "/orders/1?page=2", body: "a body" })
    expect(copy?.headers).toMatchObject({ "x-own": "2", "x-later": "1", "x-mirrored-request": "true" })
    expect(copy?.headers["x-request-id"]).toBe(original?.headers["x-request-id"])
    expect(copy?.headers.host).toBe(new URL(setup.shadow.url).host)
    expect(copy?.headers["x-forwarded-for"]).toBe("127.0.0.1")
    expect(original?.headers).not.toHaveProperty("x-mirrored-request")
    expect(setup.copies[0]).toMatchObject({
      requestId: original?.headers["x-request-id"],
      backend: "shadow",
      target: setup.shadow.url,
      status: 200,
    })
  })

  test("is not waited for, whatever its backend does", async () => {
    const held: (() => void)[] = []
    const setup = await mirroring({ answer: (_, response) => void held.push(() => response.end()) })
    for (let at = 0; at < 3; at += 1) {
      const response = await fetch(setup.running.url, { method: "POST", body: "x" })
      expect(await response.json()).toMatchObject({ body: "x" })
    }
    // Two run, so the third was not made.
    await expect.poll(() => held.length).toBe(2)
    expect(outcomes(setup)).toEqual(["busy"])
    for (const release of held.splice(0)) release()
    await expect.poll(() => outcomes(setup)).toEqual(["busy", "answered", "answered"])
    await fetch(setup.running.url)
    await expect.poll(() => held.length).toBe(1)
    held[0]?.()
  })

  test("ends with its time", async () => {
    const setup = await mirroring({ fields: { timeoutMs: 30 }, answer: () => undefined })
    expect((await fetch(setup.running.url)).status).toBe(200)
    await expect.poll(() => outcomes(setup)).toEqual(["timeout"])
  })

  test("is sent once, when its backend fails or cannot be reached", async () => {
    const failing = await mirroring({ answer: (request) => void request.socket.destroy() })
    expect((await fetch(failing.running.url)).status).toBe(200)
    await expect.poll(() => outcomes(failing)).toEqual(["failed"])
    expect(failing.shadow.requests).toHaveLength(1)
    const refused = await mirroring({ shadow: { shadow: "http://127.0.0.1:1" } })
    expect((await fetch(refused.running.url)).status).toBe(200)
    await expect.poll(() => outcomes(refused)).toEqual(["failed"])
  })

  test("is made of a share of the requests", async () => {
    const setup = await mirroring({ fields: { percent: 0 } })
    for (let at = 0; at < 20; at += 1) await fetch(setup.running.url)
    expect(setup.main.requests).toHaveLength(20)
    expect(setup.shadow.requests).toEqual([])
    const half = await mirroring({ fields: { percent: 50, concurrencyMax: 1000 } })
    for (let at = 0; at < 64; at += 1) await fetch(half.running.url)
    // Wrong once in 2^63 runs.
    await expect.poll(() => half.copies.length).toBeGreaterThan(0)
    expect(half.shadow.requests.length).toBeLessThan(64)
  })

  test("is not made of a request that is answered before the backend", async () => {
    const setup = await mirroring({
      more: [{ kind: "respond", status: 204, headers: [], media: null }],
      route: { backend: null },
    })
    expect((await fetch(setup.running.url)).status).toBe(204)
    expect(setup.copies).toEqual([])
  })

  test("shows the failure of its backend to nobody, and the failure of the request does not stop it", async () => {
    const setup = await mirroring({
      answer: (_, response) => void response.writeHead(500).end("shadow"),
      shadow: { main: "http://127.0.0.1:1" },
    })
    expect((await fetch(setup.running.url)).status).toBe(502)
    await expect.poll(() => setup.copies.map(({ status }) => status)).toEqual([500])
  })
})

describe("a body", () => {
  test("over the limit is not copied, with a length or without one", async () => {
    const setup = await mirroring()
    const long = "x".repeat(1001)
    expect(await (await fetch(setup.running.url, { method: "POST", body: long })).json()).toMatchObject({
      body: long,
    })
    expect(outcomes(setup)).toEqual(["body-too-large"])
    const sent = httpRequest(setup.running.url, { method: "POST" })
    sent.write(long)
    sent.end(long)
    const [response] = (await once(sent, "response")) as [IncomingMessage]
    response.resume()
    await once(response, "end")
    await expect.poll(() => outcomes(setup)).toEqual(["body-too-large", "body-too-large"])
    expect(setup.main.requests[1]?.body).toHaveLength(2002)
    expect(setup.shadow.requests).toEqual([])
  })

  test("reaches the backend before it is complete, and the copy after", async () => {
    const setup = await mirroring()
    const sent = httpRequest(setup.running.url, { method: "POST" })
    sent.write("x".repeat(600))
    await expect.poll(() => setup.main.requests[0]?.body.length).toBe(600)
    expect(setup.shadow.requests).toEqual([])
    sent.end("y")
    await expect.poll(() => setup.shadow.requests[0]?.body).toBe(`${"x".repeat(600)}y`)
    await expect.poll(() => outcomes(setup)).toEqual(["answered"])
  })

  test("that breaks off is not copied", async () => {
    const setup = await mirroring()
    const sent = httpRequest(setup.running.url, { method: "POST" })
    sent.on("error", () => undefined)
    sent.write("x".repeat(600))
    await expect.poll(() => setup.main.requests.length).toBe(1)
    sent.destroy()
    await expect.poll(() => outcomes(setup)).toEqual(["incomplete"])
    expect(setup.shadow.requests).toEqual([])
  })

  test("that a step replaced is copied as it is sent", async () => {
    const setup = await mirroring({
      more: [
        { kind: "set-body", message: "request", content: { text: "new" }, media: "text/plain" } as StepDraft,
      ],
    })
    await fetch(setup.running.url, { method: "POST", body: "old" })
    await expect.poll(() => setup.shadow.requests[0]?.body).toBe("new")
    expect(setup.main.requests[0]?.body).toBe("new")
  })
})

describe("credentials", () => {
  const secret: StepDraft[] = [
    {
      kind: "set-header",
      message: "request",
      action: "set",
      name: "x-partner",
      values: [{ text: [{ secret: "partner" }] }],
    },
    { kind: "set-query", action: "set", name: "code", values: [{ text: [{ secret: "partner" }] }] },
  ]
  const plan = { secrets: { partner: { env: "PARTNER" } } }
  const environment = { PARTNER: "partner secret" }
  const headers = {
    authorization: "Bearer caller",
    cookie: "session=caller",
    "proxy-authorization": "Basic caller",
  }
  const ask = (setup: Setup) => fetch(`${setup.running.url}/?page=2`, { headers })

  test("stay here", async () => {
    const setup = await mirroring({ more: secret, plan, environment })
    await ask(setup)
    await expect.poll(() => setup.shadow.requests[0]?.url).toBe("/?page=2")
    const text = JSON.stringify(setup.shadow.requests[0]?.rawHeaders)
    expect(text).not.toMatch(/caller|partner secret/)
    expect(JSON.stringify(setup.main.requests[0]?.rawHeaders)).toMatch(/caller.*partner secret/)
  })

  test("go along where the plan says so", async () => {
    const setup = await mirroring({ more: secret, plan, environment, fields: { credentials: true } })
    await ask(setup)
    await expect.poll(() => setup.shadow.requests[0]?.url).toBe("/?page=2&code=partner%20secret")
    expect(setup.shadow.requests[0]?.headers).toMatchObject({
      authorization: "Bearer caller",
      cookie: "session=caller",
      "x-partner": "partner secret",
    })
  })
})

test("keys and signatures that a route asks for stay here", async () => {
  const setup = await mirroring({
    plan: keyDraft,
    route: {
      inbound: [
        { kind: "validate-key", api: "main", header: "x-key", query: "key", status: 401, forward: true },
        {
          kind: "mirror",
          ...{ backend: "shadow", percent: 100, bodyBytesMax: 1000, concurrencyMax: 2, timeoutMs: 20_000 },
          credentials: false,
        },
      ],
    },
  })
  await fetch(`${setup.running.url}/?page=2&key=other`, { headers: { "x-key": "right" } })
  await expect.poll(() => setup.shadow.requests[0]?.url).toBe("/?page=2")
  expect(setup.shadow.requests[0]?.headers).not.toHaveProperty("x-key")
  expect(setup.main.requests[0]?.headers).toHaveProperty("x-key")
})

test("a WebSocket is not copied", async () => {
  const setup = await mirroring()
  const sent = httpRequest(setup.running.url, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    },
  }).end()
  sent.on("error", () => undefined)
  await expect.poll(() => outcomes(setup)).toEqual(["unsupported"])
  expect(setup.shadow.requests).toEqual([])
  sent.destroy()
})

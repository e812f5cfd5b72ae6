import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, test } from "vitest"
import type { PdpPlan } from "../../runtime/plan/resources.ts"
import { until } from "../support/until.ts"
import { ann, asking, deciding, even, failing, pdpAt, question, saying } from "./asked-point.ts"
import { type Answering, type Draft, startUpstream } from "./harness.ts"
import { closeAll, closers, issuers, jwt, tokenOf } from "./one-route.ts"
import { planOf, type StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("kept decisions", () => {
  test("count for the very same question, for a time, and are not of errors", async () => {
    const { answer, mend } = failing()
    const { ask, point } = await asking(answer, undefined, { cacheMs: 3_600_000 })
    expect(await ask()).toBe(503)
    mend()
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
    expect(running.log[0]?.cause).toContain("the gateway's token for it")
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
      "gateway.conf:7: decision point `corp`: `none.pem` cannot be read: there is no such file; create it or correct the path, which is relative to the working directory of the process",
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
    const { answer, mend } = failing()
    const { ask, point } = await asking(answer, undefined, { breaker: { ...breaker, openMs: 1 } })
    await ask()
    await ask()
    expect(point.requests).toHaveLength(2)
    mend()
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
    ["whose question is for nobody", { pdp: undefined }, "names either a store"],
    ["whose question is for two", { store: "acme" }, "names either a store"],
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

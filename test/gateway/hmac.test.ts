import { createHmac } from "node:crypto"
import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, test } from "vitest"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import { compiled } from "../diff/compiled.ts"
import { until } from "../support/until.ts"
import type { Draft } from "./harness.ts"
import { cel, closeAll, header, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const environment = {
  GITHUB: "It's a Secret to Everybody",
  SLACK: "8f742231b10e8888abcd99yyyzzz85a5",
  STANDARD: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  STRIPE: "whsec_0123456789abcdef",
  OLD: "the secret before the rotation",
}
const names = Object.keys(environment)
const secrets = Object.fromEntries(names.map((name) => [name.toLowerCase(), { env: name }]))

/** The step of an `auth` line. */
function stepOf(auth: string): StepDraft {
  const { plan } = compiled({
    "gateway.conf": `gateway g { listen 127.0.0.1:8000; trust none }
${names.map((name) => `secret ${name.toLowerCase()} = env(${name})`).join("\n")}
api a { path "/a"; ${auth}; POST "/" { respond 200 } }`,
  })
  const [id] = Object.values(plan.routes)[0]?.sections.inbound ?? []
  return plan.steps[id ?? ""] as StepDraft
}

/** A gateway that requires a signature, at a time in seconds. */
async function inFront(
  auth: string | readonly string[],
  {
    at = 1_700_000_000,
    draft = {},
    options = {},
  }: { at?: number; draft?: Partial<Draft>; options?: Partial<GatewayOptions> } = {},
) {
  const clock = { seconds: at }
  const ways = (typeof auth === "string" ? [auth] : auth).map(stepOf)
  const [only] = ways
  const inbound = [
    ways.length === 1 && only !== undefined ? only : { kind: "any-of" as const, steps: ways },
    header("x-sub", cel("jwt.sub")),
  ]
  const world = await start(
    { inbound },
    { secrets, ...draft },
    { environment, now: () => clock.seconds * 1000, ...options },
  )
  const post = async (body: string | Buffer, headers: Record<string, string>, path = "/a/7") => {
    const response = await fetch(`${world.running.url}${path}`, {
      method: "POST",
      body,
      headers,
    })
    const text = await response.text()
    const { type = "", detail = "" } = JSON.parse(text) as { type?: string; detail?: string }
    return { status: response.status, problem: type.replace("urn:sallyport:problem:", ""), detail, response }
  }
  return { ...world, clock, post }
}

const hmac = (
  secret: string | Buffer,
  text: string | Buffer,
  encoding: "hex" | "base64" = "hex",
  algorithm = "sha256",
) => createHmac(algorithm, secret).update(text).digest(encoding)

describe("the values that services publish", () => {
  test("GitHub", async () => {
    const { post, upstream } = await inFront('auth hmac github github { caller "github" }')
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    expect((await post("Hello, World!", { "x-hub-signature-256": signature })).status).toBe(200)
    expect(upstream.requests[0]).toMatchObject({
      body: "Hello, World!",
      headers: { "x-sub": "github", "x-hub-signature-256": signature },
    })
  })

  test("Slack", async () => {
    const { post, clock } = await inFront("auth hmac slack slack", { at: 1_531_420_618 })
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    const headers = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    expect((await post(body, headers)).status).toBe(200)
    clock.seconds += 301
    expect((await post(body, headers)).problem).toBe("signature-expired")
  })

  test("Standard Webhooks", async () => {
    const { post } = await inFront("auth hmac standard standard", { at: 1_614_265_330 })
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1a,xx v1,bm9pc2U= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    expect((await post('{"test": 2432232314}', headers)).status).toBe(200)
    expect((await post('{"test": 2432232314}', { ...headers, "webhook-id": "msg" })).problem).toBe(
      "signature-invalid",
    )
  })

  // Stripe publishes the form of its header, but no secret for its example.
  test("Stripe, with a signature of another scheme, and with two during a rotation", async () => {
    const { post } = await inFront("auth hmac stripe stripe old")
    const v1 = hmac(environment.OLD, '1700000000.{"id":1}')
    const zeros = "0".repeat(64)
    for (const value of [
      `t=1700000000,v1=${v1},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
      `t=1700000000, v1=${zeros}, v1=${v1}`,
      `v1=${v1.toUpperCase()},t=1700000000`,
    ])
      expect((await post('{"id":1}', { "stripe-signature": value })).status).toBe(200)
  })
})

describe("what is refused", () => {
  const at = 1_700_000_000
  const body = '{"id":1}'
  const stripe = (time: number | string, v1 = hmac(environment.STRIPE, `${time}.${body}`)) =>
    `t=${time},v1=${v1}`
  const refused: readonly [string, Record<string, string>, string][] = [
    ["no signature", {}, "signature-missing"],
    ["an empty header", { "stripe-signature": "" }, "signature-malformed"],
    [
      "no v1",
      { "stripe-signature": `t=${at},v0=${hmac(environment.STRIPE, `${at}.${body}`)}` },
      "signature-malformed",
    ],
    ["no time", { "stripe-signature": stripe(at).replace(/^t=\d+,/, "") }, "signature-malformed"],
    ["two times", { "stripe-signature": `t=${at},${stripe(at)}` }, "signature-malformed"],
    ["a time that is no number", { "stripe-signature": stripe("1e9") }, "signature-malformed"],
    ["a negative time", { "stripe-signature": stripe(`-${at}`) }, "signature-malformed"],
    ["a huge time", { "stripe-signature": stripe("9".repeat(15)) }, "signature-expired"],
    ["a short digest", { "stripe-signature": stripe(at).slice(0, -2) }, "signature-malformed"],
    ["an odd number of digits", { "stripe-signature": stripe(at).slice(0, -1) }, "signature-malformed"],
    [
      "a digest that is not hexadecimal",
      { "stripe-signature": stripe(at, "g".repeat(64)) },
      "signature-malformed",
    ],
    [
      "too many digests",
      { "stripe-signature": `${stripe(at)}${",v1=00".repeat(16)}` },
      "signature-malformed",
    ],
    [
      "another secret",
      { "stripe-signature": stripe(at, hmac(environment.OLD, `${at}.${body}`)) },
      "signature-invalid",
    ],
    ["a changed time", { "stripe-signature": stripe(at).replace(`${at}`, `${at + 1}`) }, "signature-invalid"],
    ["too old", { "stripe-signature": stripe(at - 301) }, "signature-expired"],
    ["too far in the future", { "stripe-signature": stripe(at + 301) }, "signature-expired"],
  ]
  test.each(refused)("%s", async (_, headers, name) => {
    const { post, upstream, running } = await inFront("auth hmac stripe stripe")
    const { status, problem, response } = await post(body, headers)
    expect([status, problem]).toEqual([401, name])
    expect(response.headers.get("www-authenticate")).toBe('HMAC header="stripe-signature"')
    expect(upstream.requests).toHaveLength(0)
    await until(() => running.log.length === 1)
    expect(JSON.stringify(running.log[0]?.cause)).not.toContain(environment.STRIPE)
  })

  test("the time may differ by the tolerance, in both directions", async () => {
    const { post } = await inFront("auth hmac stripe stripe { tolerance 10s }")
    for (const time of [at - 10, at + 10])
      expect((await post(body, { "stripe-signature": stripe(time) })).status).toBe(200)
    for (const time of [at - 11, at + 11])
      expect((await post(body, { "stripe-signature": stripe(time) })).problem).toBe("signature-expired")
  })

  test("a header that is given twice", async () => {
    const { get } = await inFront("auth hmac github github")
    const line = `X-Hub-Signature-256: sha256=${hmac(environment.GITHUB, "")}\r\n`
    expect((await get("/a/7", line)).status).toBe(200)
    expect((await get("/a/7", `${line}${line}`)).body).toContain("signature-malformed")
  })

  test("with status and message of the text", async () => {
    const { post } = await inFront('auth hmac github github { status 403; message "Sign it." }')
    const { status, detail, response } = await post("x", {})
    expect([status, detail, response.headers.get("www-authenticate")]).toEqual([403, "Sign it.", null])
  })
})

describe("the body", () => {
  const signed = (body: string | Buffer) => ({
    "x-hub-signature-256": `sha256=${hmac(environment.GITHUB, body)}`,
  })

  test("is signed as it was sent, with its coding, and goes on unchanged", async () => {
    const { post, upstream } = await inFront("auth hmac github github")
    const body = gzipSync('{"a":1}')
    const headers = { ...signed(body), "content-encoding": "gzip" }
    expect((await post(body, headers)).status).toBe(200)
    expect(Buffer.from(upstream.requests[0]?.body ?? "", "latin1").equals(body)).toBe(true)
    expect((await post(body, { ...signed('{"a":1}'), "content-encoding": "gzip" })).problem).toBe(
      "signature-invalid",
    )
    // A coding that the gateway does not know, or a damaged one, does not matter.
    expect((await post("x", { ...signed("x"), "content-encoding": "unheard-of" })).status).toBe(200)
  })

  test("may be chunked, empty or absent", async () => {
    const { running, post, get } = await inFront("auth hmac github github")
    const stream = new ReadableStream({
      start(controller) {
        for (const chunk of ["Hello, ", "World!"]) controller.enqueue(Buffer.from(chunk))
        controller.close()
      },
    })
    const request = { method: "POST", body: stream, duplex: "half", headers: signed("Hello, World!") }
    expect((await fetch(`${running.url}/a/7`, request as RequestInit)).status).toBe(200)
    expect((await post("", signed(""))).status).toBe(200)
    expect((await get("/a/7", `X-Hub-Signature-256: ${signed("")["x-hub-signature-256"]}\r\n`)).status).toBe(
      200,
    )
  })

  test("larger than the buffer is 413, also behind another way; without a signature it is not read", async () => {
    const draft = { limits: { bodyBytesMax: 1000, bufferBytesMax: 100 } }
    const { post, upstream } = await inFront(["auth hmac slack slack", "auth hmac github github"], { draft })
    const body = "x".repeat(101)
    const large = await post(body, signed(body))
    expect([large.status, large.problem]).toEqual([413, "body-too-large"])
    expect((await post(body, {})).problem).toBe("signature-missing")
    expect((await post(body.slice(1), signed(body.slice(1)))).status).toBe(200)
    expect(upstream.requests).toHaveLength(1)
  })

  test("a changed byte", async () => {
    const { post } = await inFront("auth hmac github github")
    expect((await post("Hello, World?", signed("Hello, World!"))).problem).toBe("signature-invalid")
  })

  test("is JSON for the steps behind", async () => {
    const steps = [stepOf("auth hmac github github"), header("x-id", cel("string(request.body.id)"))]
    const { running, upstream } = await start({ inbound: steps }, { secrets }, { environment })
    const body = '{"id": 7}'
    const request = { method: "POST", body, headers: { ...signed(body), "content-type": "application/json" } }
    expect((await fetch(`${running.url}/a/7`, request)).status).toBe(200)
    expect(upstream.requests[0]?.headers["x-id"]).toBe("7")
  })
})

describe("the general form", () => {
  const form = `auth hmac custom old {
    header "X-Sign"; encoding base64; algorithm sha512; timestamp header "X-Time" milliseconds
    signed method " " path "?" query " " target " " host " " header:X-Date "\\n" timestamp "." body
  }`
  const time = "1700000000123"
  const date = "Tue, 14 Nov 2023"
  const text = (host: string) => `POST /a/%7E7?b=%20&b=2 /a/%7E7?b=%20&b=2 ${host} ${date}\n${time}.Grüße`
  const sign = (host: string) => hmac(environment.OLD, text(host), "base64", "sha512")

  test("signs the parts as they were sent", async () => {
    const { post, running, upstream } = await inFront(form)
    const host = `127.0.0.1:${running.port}`
    const headers = { "x-sign": sign(host), "x-time": time, "x-date": date }
    expect((await post("Grüße", headers, "/a/%7E7?b=%20&b=2")).status).toBe(200)
    expect(upstream.requests[0]?.headers["x-sub"]).toBe("old")
    expect((await post("Grüße", headers, "/a/%7E7?b=%20&b=3")).problem).toBe("signature-invalid")
    expect((await post("Grüße", headers, "/a/~7?b=%20&b=2")).problem).toBe("signature-invalid")
    expect((await post("Grüße", { ...headers, "x-date": "today" }, "/a/%7E7?b=%20&b=2")).problem).toBe(
      "signature-invalid",
    )
    const { "x-date": _, ...without } = headers
    expect((await post("Grüße", without, "/a/%7E7?b=%20&b=2")).problem).toBe("signature-malformed")
    const { "x-time": __, ...untimed } = headers
    expect((await post("Grüße", untimed, "/a/%7E7?b=%20&b=2")).problem).toBe("signature-malformed")
  })

  test("several partners, each with a secret of their own", async () => {
    const way = (secret: string) =>
      `auth hmac custom ${secret} { header "X-Sign"; caller "partner ${secret}" }`
    const { post, upstream } = await inFront([way("slack"), way("old")])
    for (const secret of [environment.SLACK, environment.OLD])
      expect((await post("x", { "x-sign": hmac(secret, "x") })).status).toBe(200)
    expect((await post("x", { "x-sign": hmac(environment.GITHUB, "x") })).problem).toBe("signature-invalid")
    expect(upstream.requests.map(({ headers }) => headers["x-sub"])).toEqual(["partner slack", "partner old"])
  })
})

describe("a secret that is not a key", () => {
  const wrong: readonly [string, string, string, string][] = [
    ["empty", "github", "", "the secret `old` is empty"],
    [
      "short",
      "github",
      "fifteen letters",
      "the secret `old` has 15 bytes, which can be guessed; a signature needs at least 16",
    ],
    ["not Base64", "standard", "whsec_not base64!", "the secret `old` is not Base64 (RFC 4648)"],
    ["short in Base64", "standard", "whsec_c2hvcnQ=", "the secret `old` has 5 bytes"],
  ]
  test.each(wrong)("%s", async (_, form, OLD, message) => {
    const options = { environment: { ...environment, OLD } }
    await expect(inFront(`auth hmac ${form} old`, { options })).rejects.toThrow(message)
  })
})

describe("the replay guard", () => {
  const sign = (body: string) => ({ "x-hub-signature-256": `sha256=${hmac(environment.GITHUB, body)}` })

  test("a request is accepted once; one that was refused does not count", async () => {
    const { post, upstream } = await inFront("auth hmac github github { replay-guard }")
    expect((await post("one", sign("two"))).problem).toBe("signature-invalid")
    expect((await post("one", sign("one"))).status).toBe(200)
    const again = await post("one", sign("one"))
    expect([again.status, again.problem]).toEqual([409, "signature-replayed"])
    expect((await post("two", sign("two"))).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
  })

  test("also with the other of two signatures, and with other letters", async () => {
    const { post } = await inFront("auth hmac stripe stripe old { replay-guard }")
    const [one, two] = [environment.STRIPE, environment.OLD].map((each) => hmac(each, "1700000000.x"))
    expect((await post("x", { "stripe-signature": `t=1700000000,v1=${one},v1=${two}` })).status).toBe(200)
    for (const value of [`v1=${two}`, `v1=${one?.toUpperCase()}`])
      expect((await post("x", { "stripe-signature": `t=1700000000,${value}` })).problem).toBe(
        "signature-replayed",
      )
  })

  test("also on another route, but not for another caller", async () => {
    const guarded = (secret: string) =>
      `auth hmac custom ${secret} { header "X-Sign"; replay-guard; caller "${secret}" }`
    const routes = ["/one", "/two"].map((path) => ({ path, inbound: [stepOf(guarded("old"))] }))
    const other = { path: "/three", inbound: [stepOf(guarded("slack"))] }
    const { running } = await start({}, { secrets, routes: [...routes, other] }, { environment })
    const ask = async (path: string, secret: string) =>
      (await fetch(`${running.url}${path}`, { headers: { "x-sign": hmac(secret, "") } })).status
    expect(await ask("/one", environment.OLD)).toBe(200)
    expect(await ask("/two", environment.OLD)).toBe(409)
    expect(await ask("/three", environment.SLACK)).toBe(200)
  })

  test("by a signed header", async () => {
    const { post } = await inFront(
      'auth hmac custom old { header "X-Sign"; signed header:X-Nonce body; replay-guard header "X-Nonce" }',
    )
    const ask = (nonce: string, body: string) =>
      post(body, { "x-nonce": nonce, "x-sign": hmac(environment.OLD, `${nonce}${body}`) })
    expect((await ask("a", "1")).status).toBe(200)
    expect((await ask("a", "2")).problem).toBe("signature-replayed")
    expect((await ask("b", "1")).status).toBe(200)
  })
})

import { createHmac, generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { createVerifier, type IssuerSettings, type VerifierOptions } from "../../runtime/identity/issuer.ts"
import type { TokenVerifier } from "../../runtime/identity/verifier.ts"
import { IssuerServer, type TestKey, testKey } from "./issuer-server.ts"

let first: TestKey
let second: TestKey
const stops: (() => Promise<unknown> | unknown)[] = []

beforeAll(async () => {
  first = await testKey("first")
  second = await testKey("second")
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function issuer(keys: TestKey[] = [first]): Promise<IssuerServer> {
  const server = await new IssuerServer(keys).start()
  stops.push(() => server.stop())
  return server
}

function verifier(
  server: IssuerServer | string,
  settings: Partial<IssuerSettings> = {},
  options: VerifierOptions = {},
): TokenVerifier {
  const url = typeof server === "string" ? server : server.url
  const made = createVerifier(
    {
      name: "acme",
      source: { discovery: `${url}/.well-known/openid-configuration` },
      audiences: ["api"],
      clockSkewSeconds: 30,
      algorithms: ["RS256", "PS256", "ES256", "EdDSA"],
      ...settings,
    },
    options,
  )
  stops.push(() => made.close())
  return made
}

const seconds = () => Math.floor(Date.now() / 1000)

describe("claims of a token", () => {
  const rows: [string, () => Record<string, unknown>, string][] = [
    ["good", () => ({}), "verified"],
    ["aud in a list", () => ({ aud: ["x", "api"] }), "verified"],
    ["aud missed in a list", () => ({ aud: ["x", "apis"] }), "the token is for another audience"],
    ["aud of other case", () => ({ aud: "API" }), "the token is for another audience"],
    ["aud a number", () => ({ aud: 1 }), "the token is for another audience"],
    ["aud missing", () => ({ aud: undefined }), "the token's `aud` is missing"],
    ["iss with a slash", () => ({ iss: "http://elsewhere/" }), "the token is from another issuer"],
    ["iss missing", () => ({ iss: undefined }), "the token's `iss` is missing"],
    ["exp missing", () => ({ exp: undefined }), "the token's `exp` is missing"],
    ["exp a string", () => ({ exp: "2099" }), "the token's `exp` has a value that is not accepted"],
    ["exp beyond reason", () => ({ exp: 1e308 }), "the token's `exp` is not a date"],
    ["exp past, inside the skew", () => ({ exp: seconds() - 28 }), "verified"],
    ["exp past, outside the skew", () => ({ exp: seconds() - 32 }), "the token has expired"],
    ["nbf ahead, inside the skew", () => ({ nbf: seconds() + 28 }), "verified"],
    ["nbf ahead, outside the skew", () => ({ nbf: seconds() + 40 }), "the token is not valid yet"],
    ["iat an hour ahead", () => ({ iat: seconds() + 3600 }), "the token's `iat` is in the future"],
    ["iat absent", () => ({ iat: undefined }), "verified"],
  ]
  it.each(rows)("%s", async (_, claims, expected) => {
    const server = await issuer()
    const answer = await verifier(server).verify(await server.token(first, claims()))
    expect(answer.kind === "invalid" ? answer.reason : answer.kind).toBe(expected)
  })

  it.each([
    [{ aud: ["x", "y"] }, '`aud` is ["x","y"], accepted: "api"'],
    [{ iss: "http://elsewhere/" }, '`iss` is "http://elsewhere/", accepted: '],
    [{ exp: seconds() - 3600 }, " s ago"],
    [{ aud: "x".repeat(5000) }, "xxx, accepted: "],
  ])("the log says what the token has, not the response: %o", async (claims, expected) => {
    const server = await issuer()
    const answer = await verifier(server).verify(await server.token(first, claims))
    if (answer.kind !== "invalid") throw new Error(answer.kind)
    expect(answer.detail).toContain(expected)
    expect(answer.detail?.length).toBeLessThan(500)
    expect(answer.reason).not.toMatch(/["0-9]/)
  })

  it("any audience only where it is said", async () => {
    const server = await issuer()
    const answer = await verifier(server, { audiences: null }).verify(
      await server.token(first, { aud: undefined }),
    )
    expect(answer.kind).toBe("verified")
  })
})

describe("forged and malformed tokens", () => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

  it.each([
    ["algorithm none", (good: string) => `${encode({ alg: "none" })}.${good.split(".")[1]}.`],
    ["algorithm nOnE", (good: string) => `${encode({ alg: "nOnE" })}.${good.split(".")[1]}.AA`],
    ["no signature", (good: string) => good.replace(/\.[^.]*$/, ".")],
    ["two parts", (good: string) => good.replace(/\.[^.]*$/, "")],
    [
      "signature of another token",
      (good: string) => `${good.split(".").slice(0, 2).join(".")}.${"A".repeat(342)}`,
    ],
    [
      "changed claims",
      (good: string) => `${good.split(".")[0]}.${encode({ sub: "root" })}.${good.split(".")[2]}`,
    ],
    ["padding", (good: string) => `${good}=`],
    ["blank inside", (good: string) => good.replace(".", " .")],
    ["not base64url", (good: string) => good.replace(/\./g, ".*")],
    [
      "header is not an object",
      (good: string) => `${encode(["RS256"])}.${good.split(".")[1]}.${good.split(".")[2]}`,
    ],
    ["too long", (good: string) => `${good}${"A".repeat(9000)}`],
    ["empty", () => ""],
  ])("%s", async (_, forge) => {
    const server = await issuer()
    const answer = await verifier(server).verify(forge(await server.token(first)))
    expect(answer.kind).toBe("invalid")
  })

  it("a public key as HMAC secret", async () => {
    const server = await issuer()
    const body = `${encode({ alg: "HS256", kid: "first" })}.${encode({ iss: server.url, aud: "api", exp: seconds() + 60 })}`
    const pem = JSON.stringify(first.jwk)
    const token = `${body}.${createHmac("sha256", pem).update(body).digest("base64url")}`
    expect(await verifier(server, { algorithms: ["RS256", "HS256"] }).verify(token)).toMatchObject({
      kind: "invalid",
    })
  })

  it("keys named or brought by the header open no socket and no door", async () => {
    const server = await issuer()
    let hits = 0
    const evil = createServer((_, response) => {
      hits += 1
      response.end(JSON.stringify({ keys: [second.jwk] }))
    })
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve))
    stops.push(() => new Promise((resolve) => evil.close(resolve)))
    const url = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/jwks`
    for (const header of [{ jku: url }, { x5u: url }, { jwk: second.jwk }, { kid: undefined, jku: url }]) {
      const answer = await verifier(server).verify(await server.token(second, {}, header))
      expect(answer.kind).toBe("invalid")
    }
    expect(hits).toBe(0)
  })

  it("an algorithm the configuration does not list", async () => {
    const server = await issuer()
    const answer = await verifier(server, { algorithms: ["PS256"] }).verify(await server.token(first))
    expect(answer).toEqual({
      kind: "invalid",
      reason: "the token is signed with an algorithm that is not allowed",
      fault: "TokenSignatureInvalid",
    })
  })
})

describe("key sets", () => {
  it("leave out weak keys, and those for encryption or other algorithms", async () => {
    const server = await issuer()
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 })
    const weak = { ...publicKey.export({ format: "jwk" }), kid: "weak" }
    for (const key of [
      weak,
      { ...first.jwk, e: "AQ" },
      { ...first.jwk, use: "enc" },
      { ...first.jwk, alg: "RSA-OAEP" },
      { kty: "oct", k: "AAAA" },
    ]) {
      server.keys = { keys: [key] }
      const answer = await verifier(server).verify(await server.token(first))
      expect(answer.kind).toBe("unavailable")
    }
  })

  it("find keys without an id, and try each of two with the same id", async () => {
    const server = await issuer()
    server.keys = {
      keys: [
        { ...second.jwk, kid: undefined },
        { ...first.jwk, kid: undefined },
      ],
    }
    expect((await verifier(server).verify(await server.token(first, {}, { kid: undefined }))).kind).toBe(
      "verified",
    )
    server.keys = {
      keys: [
        { ...second.jwk, kid: "same" },
        { ...first.jwk, kid: "same" },
      ],
    }
    expect((await verifier(server).verify(await server.token(first, {}, { kid: "same" }))).kind).toBe(
      "verified",
    )
  })

  it.each(["ES256", "EdDSA", "PS256"])("%s keys verify", async (alg) => {
    const key = await testKey("k", alg)
    const server = await issuer([key])
    expect((await verifier(server).verify(await server.token(key))).kind).toBe("verified")
  })
})

describe("life of keys", () => {
  it("a verified token is answered at once from then on, and never past its end", async () => {
    const server = await issuer()
    const clock = { wall: Date.now(), mono: 0 }
    const checked = verifier(
      server,
      { clockSkewSeconds: 0 },
      { now: () => clock.wall, monotonic: () => clock.mono },
    )
    const token = await server.token(first, { exp: Math.floor(clock.wall / 1000) + 5 })
    expect(checked.verify(token)).toBeInstanceOf(Promise)
    await checked.verify(token)
    expect(checked.verify(token)).toMatchObject({ kind: "verified" })
    clock.wall += 6000
    clock.mono += 6000
    expect(await checked.verify(token)).toMatchObject({ kind: "invalid", reason: "the token has expired" })
  })

  it("a rotated key works on first use; the old one ends with the set", async () => {
    const server = await issuer()
    const checked = verifier(server)
    const old = await server.token(first)
    expect((await checked.verify(old)).kind).toBe("verified")
    server.keys = { keys: [second.jwk] }
    const rotated = await server.token(second)
    // At the first use, unless the machine is so busy that the issuer takes longer than a token waits for it.
    await expect.poll(async () => (await checked.verify(rotated)).kind).toBe("verified")
    expect((await checked.verify(old)).kind).toBe("invalid")
  })

  it("a flood of unknown key ids fetches three times at most, and known tokens stay good", async () => {
    const server = await issuer()
    const checked = verifier(server, {}, { monotonic: () => 1 })
    const good = await server.token(first)
    await checked.verify(good)
    const forged = await Promise.all(
      Array.from({ length: 100 }, (_, index) => server.token(second, {}, { kid: `kid-${index}` })),
    )
    for (const token of forged) expect((await checked.verify(token)).kind).toBe("invalid")
    expect(server.fetches.jwks).toBeLessThanOrEqual(4)
    expect((await checked.verify(good)).kind).toBe("verified")
  })

  it.each<[string, unknown]>([
    ["an empty set", { keys: [] }],
    ["no set", { nothing: true }],
    ["too many keys", { keys: Array.from({ length: 101 }, () => ({ kty: "RSA" })) }],
  ])("%s does not take the good keys away", async (_, keys) => {
    const server = await issuer()
    const clock = { mono: 0 }
    const checked = verifier(server, {}, { monotonic: () => clock.mono })
    await checked.verify(await server.token(first))
    server.keys = keys
    const fetched = server.fetches.jwks
    clock.mono += 11 * 60_000
    void checked.verify(await server.token(first))
    await expect.poll(() => checked.state().lastError).toBeDefined()
    // The old keys are shown with the time since they were confirmed.
    expect(checked.state()).toMatchObject({ ready: true, ageMs: 11 * 60_000 })
    expect(checked.state().keys.map(({ algorithms }) => algorithms)).toEqual([["RS256"]])
    expect(server.fetches.jwks).toBeGreaterThan(fetched)
    expect((await checked.verify(await server.token(first, { sub: "bob" }))).kind).toBe("verified")
  })

  it("an issuer that goes away leaves its keys good for a day, then 503", async () => {
    const server = await issuer()
    const clock = { mono: 0 }
    const checked = verifier(server, {}, { monotonic: () => clock.mono })
    const token = await server.token(first, { exp: seconds() + 10_000_000 })
    await checked.verify(token)
    await server.stop()
    stops.length = 0
    clock.mono += 23 * 3_600_000
    expect((await checked.verify(token)).kind).toBe("verified")
    clock.mono += 3_600_001
    expect((await checked.verify(token)).kind).toBe("unavailable")
  })

  it("a cold start with a dead issuer is 503 at once, without a fetch for each request, and recovers", async () => {
    const server = await issuer()
    const { port, url } = server
    const token = await server.token(first)
    await server.stop()
    const clock = { mono: 0 }
    const checked = verifier(url, {}, { monotonic: () => clock.mono })
    const answers = await Promise.all(Array.from({ length: 50 }, () => checked.verify(token)))
    expect(new Set(answers.map((answer) => answer.kind))).toEqual(new Set(["unavailable"]))
    expect(checked.state()).toMatchObject({
      ready: false,
      lastError: expect.stringContaining("ECONNREFUSED"),
    })
    const again = await new IssuerServer([first]).start(port)
    stops.push(() => again.stop())
    expect((await checked.verify(token)).kind).toBe("unavailable")
    expect(again.fetches.discovery).toBe(0)
    clock.mono += 1_001
    expect((await checked.verify(token)).kind).toBe("verified")
    expect(again.fetches.discovery).toBe(1)
  })
})

describe("discovery that must not be believed", () => {
  const rows: [string, (server: IssuerServer) => void, RegExp][] = [
    [
      "HTML",
      (server) => {
        server.discovery = (_, response) => void response.end("<html>login</html>")
      },
      /looks like HTML/,
    ],
    [
      "an error status",
      (server) => {
        server.discovery = (_, response) => void response.writeHead(500).end()
      },
      /responds with 500/,
    ],
    [
      "a redirect",
      (server) => {
        server.discovery = (_, response) => void response.writeHead(302, { location: "/jwks" }).end()
      },
      /redirect/,
    ],
    [
      "another issuer",
      (server) => {
        server.discovery = (_, response) =>
          void response.end(JSON.stringify({ issuer: "http://evil", jwks_uri: `${server.url}/jwks` }))
      },
      /names the issuer .*exact/,
    ],
    [
      "no jwks_uri",
      (server) => {
        server.discovery = (_, response) => void response.end(JSON.stringify({ issuer: server.url }))
      },
      /no `jwks_uri`/,
    ],
    [
      "a file URL",
      (server) => {
        server.discovery = (_, response) =>
          void response.end(JSON.stringify({ issuer: server.url, jwks_uri: "file:///etc/passwd" }))
      },
      /not an http/,
    ],
    [
      "a huge document",
      (server) => {
        server.discovery = (_, response) => void response.end(" ".repeat(600_000))
      },
      /larger than/,
    ],
    [
      "a huge key set",
      (server) => {
        server.jwks = (_, response) => void response.end(" ".repeat(600_000))
      },
      /larger than/,
    ],
    [
      "a reset",
      (server) => {
        server.jwks = (request) => void request.socket.destroy()
      },
      /is not available/,
    ],
  ]
  it.each(rows)("%s", async (_, spoil, message) => {
    const server = await issuer()
    spoil(server)
    const checked = verifier(server)
    expect((await checked.verify(await server.token(first))).kind).toBe("unavailable")
    expect(checked.state().lastError).toMatch(message)
  })
})

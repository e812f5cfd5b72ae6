import { createHmac, generateKeyPairSync } from "node:crypto"
import { resolve } from "node:path"
import { exportJWK, type JWK, SignJWT } from "jose"
import { describe, expect, it } from "vitest"
import { type IssuerKey, readInlineKeys } from "../../runtime/identity/inline-keys.ts"
import { createVerifier, type IssuerSettings } from "../../runtime/identity/issuer.ts"
import type { TokenRules, Verification } from "../../runtime/identity/verifier.ts"
import { testKey } from "./issuer-server.ts"

const secret = Buffer.alloc(32, 7)
const other = Buffer.alloc(64, 8)
const seconds = () => Math.floor(Date.now() / 1000)

function verifier(keys: readonly IssuerKey[], settings: Partial<IssuerSettings> = {}) {
  return createVerifier({
    name: "inline",
    source: { keys, issuer: "https://inline" },
    audiences: ["api"],
    clockSkewSeconds: 0,
    algorithms: ["HS256", "HS384", "HS512"],
    ...settings,
  })
}

const secretKey = (bytes: Buffer, id: string | null = null): IssuerKey => ({
  id,
  secret: bytes.toString("base64url"),
})

async function hmacToken(
  bytes: Buffer,
  claims: Record<string, unknown> = {},
  header: { alg?: string; kid?: string } = {},
): Promise<string> {
  const all = { iss: "https://inline", aud: "api", exp: seconds() + 60, ...claims }
  const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256", ...header }).sign(bytes)
}

function faultOf(verification: Verification): string {
  return verification.kind === "invalid" ? verification.fault : verification.kind
}

describe("shared secrets", () => {
  it("verify HMAC signatures of any key id, and the header is told", async () => {
    const answer = await verifier([secretKey(secret)]).verify(await hmacToken(secret, {}, { kid: "x" }))
    expect(answer).toMatchObject({ kind: "verified", header: { alg: "HS256", kid: "x" } })
  })

  it("with an id only for tokens that name it or none", async () => {
    const checked = verifier([secretKey(secret, "a")])
    expect(faultOf(await checked.verify(await hmacToken(secret, {}, { kid: "a" })))).toBe("verified")
    expect(faultOf(await checked.verify(await hmacToken(secret)))).toBe("verified")
    expect(faultOf(await checked.verify(await hmacToken(secret, {}, { kid: "b" })))).toBe(
      "TokenSignatureKeyNotFound",
    )
  })

  it("are tried one after the other", async () => {
    const checked = verifier([secretKey(other), secretKey(secret)])
    expect(faultOf(await checked.verify(await hmacToken(secret)))).toBe("verified")
    expect(faultOf(await checked.verify(await hmacToken(Buffer.alloc(32, 9))))).toBe("TokenSignatureInvalid")
  })

  it("are used for no algorithm they are too short for", async () => {
    const checked = verifier([secretKey(secret)])
    const forged = await new SignJWT({ iss: "https://inline", aud: "api", exp: seconds() + 60 })
      .setProtectedHeader({ alg: "HS512" })
      .sign(secret)
    expect(faultOf(await checked.verify(forged))).toBe("TokenSignatureKeyNotFound")
    await expect(readInlineKeys([secretKey(Buffer.alloc(31))], ["HS256"])).rejects.toThrow(/at least 32/)
    await expect(readInlineKeys([secretKey(secret)], ["RS256"])).rejects.toThrow(/cannot verify/)
  })
})

describe("algorithm confusion", () => {
  it("a public key is no HMAC secret, in whatever spelling", async () => {
    const key = await testKey("k")
    const rsa = { n: key.jwk.n as string, e: key.jwk.e as string }
    const checked = verifier([{ id: "k", jwk: { kty: "RSA", ...rsa } }], { algorithms: ["RS256"] })
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const claims = encode({ iss: "https://inline", aud: "api", exp: seconds() + 60 })
    for (const alg of ["HS256", "none"]) {
      for (const bytes of [JSON.stringify(key.jwk), rsa.n, Buffer.from(rsa.n, "base64url")]) {
        const body = `${encode({ alg, kid: "k" })}.${claims}`
        const token = `${body}.${createHmac("sha256", bytes).update(body).digest("base64url")}`
        expect(faultOf(await checked.verify(token))).toBe("TokenSignatureInvalid")
      }
    }
  })

  it("even a list that allowed HMAC would find no key for it among public ones", async () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const jwk = (await exportJWK(publicKey)) as JWK
    const keys = await readInlineKeys([{ id: null, jwk: { ...jwk } }], ["RS256", "HS256"])
    expect(keys.flatMap(({ algorithms }) => [...algorithms])).toEqual(["RS256"])
    await expect(
      readInlineKeys([{ id: null, jwk: { kty: "oct", k: secret.toString("base64url") } }], ["HS256"]),
    ).rejects.toThrow(/no key for HS256/)
  })
})

describe("public keys in the plan", () => {
  it("RSA by modulus and exponent", async () => {
    const key = await testKey("k")
    const { n, e } = key.jwk
    const checked = verifier([{ id: null, jwk: { kty: "RSA", n, e } }], { algorithms: ["RS256"] })
    const token = await new SignJWT({ iss: "https://inline", aud: "api", exp: seconds() + 60 })
      .setProtectedHeader({ alg: "RS256", kid: "whatever" })
      .sign(key.privateKey)
    expect(faultOf(await checked.verify(token))).toBe("verified")
  })

  it("a certificate's; what is none is said", async () => {
    const folder = resolve(import.meta.dirname, "../gateway/certificates")
    const file = (name: string): IssuerKey => ({ id: null, certificateFile: resolve(folder, name) })
    await expect(readInlineKeys([file("ca.pem")], ["RS256", "ES256", "ES384"])).resolves.not.toHaveLength(0)
    await expect(readInlineKeys([file("missing.pem")], ["RS256"])).rejects.toThrow(/cannot be read/)
  })
})

describe("what a place demands", () => {
  const rows: [string, Record<string, unknown>, TokenRules, string][] = [
    ["its own audience", { aud: "b" }, { audiences: ["b"] }, "verified"],
    ["instead of the issuer's", {}, { audiences: ["b"] }, "TokenAudienceNotAllowed"],
    ["no audience", { aud: undefined }, { audiences: null }, "verified"],
    ["its own issuers", { iss: "https://b" }, { issuers: ["https://a", "https://b"] }, "verified"],
    ["instead of the known one", {}, { issuers: ["https://a"] }, "TokenIssuerNotAllowed"],
    ["any issuer", { iss: undefined }, { issuers: null }, "verified"],
    ["a skew", { exp: seconds() - 10 }, { clockSkewSeconds: 60 }, "verified"],
    ["no skew", { exp: seconds() - 10 }, {}, "TokenExpired"],
    ["no end", { exp: undefined }, { requireExpiration: false }, "verified"],
    ["an end", { exp: undefined }, {}, "JwtInvalid"],
  ]
  it.each(rows)("%s", async (_, claims, rules, expected) => {
    const checked = verifier([secretKey(secret)])
    const token = await hmacToken(secret, claims)
    expect(faultOf(await checked.verify(token, rules))).toBe(expected)
    // Once more: a token that is known is judged anew.
    expect(faultOf(await checked.verify(token, rules))).toBe(expected)
  })

  it("a verified token is still refused where something else is demanded", async () => {
    const checked = verifier([secretKey(secret)])
    const token = await hmacToken(secret)
    expect(faultOf(await checked.verify(token))).toBe("verified")
    expect(faultOf(await checked.verify(token, { audiences: ["elsewhere"] }))).toBe("TokenAudienceNotAllowed")
  })
})

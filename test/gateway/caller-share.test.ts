import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { CallerShare } from "../../runtime/gateway/canary/caller-share.ts"
import { ClientAddresses } from "../../runtime/gateway/exchange/client-address.ts"
import type { IncomingRequest } from "../../runtime/http/server/incoming.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"

function planOf(auth: string): Plan {
  const text = `
gateway test { listen 127.0.0.1:8000; trust 10.0.0.1 }
issuer users { discovery "https://id.example/.well-known/openid-configuration"; audience shop }
secret ann_key = env(ANN_KEY)
subscription ann { api shop; key ann_key }
api shop { path "/shop"; ${auth}; GET "/" { respond 200 } }`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return plan
}

const byKey = planOf("auth subscription")
const byToken = planOf("auth jwt users")
const addresses = new ClientAddresses(["10.0.0.1"])

function request(headers: Record<string, string>, remoteAddress = "192.0.2.1"): IncomingRequest {
  return { headers, socket: { remoteAddress } } as unknown as IncomingRequest
}

const base64 = (text: string) => Buffer.from(text).toString("base64url")
const jwt = (claims: object) =>
  `Bearer ${base64("{}")}.${base64(JSON.stringify(claims))}.${base64("signature")}`

/** In which of these shares a caller is: equal for two requests of one caller, and with all but certainty different for two callers. */
function placeOf(headers: Record<string, string>, target = "/shop", peer?: string, plans = [byKey, byToken]) {
  const shares = Array.from({ length: 40 }, (_, at) => new CallerShare(plans, `salt ${at}`, 50))
  return shares.map((share) => (share.has(request(headers, peer), target, addresses) ? "1" : "0")).join("")
}

test.each([
  [
    "a subscription key, wherever it is shown and whatever else is",
    () => placeOf({ "x-api-key": "one" }),
    () => placeOf({ "x-api-key": "one", authorization: jwt({ sub: "ann" }) }, "/shop", "198.51.100.7"),
  ],
  [
    "whom a token is for, not the token",
    () => placeOf({ authorization: jwt({ iss: "users", sub: "ann", exp: 1 }) }),
    () => placeOf({ authorization: jwt({ iss: "users", sub: "ann", exp: 2, jti: "x" }) }, "/shop", "::1"),
  ],
  [
    "the name of a password",
    () => placeOf({ authorization: `Basic ${Buffer.from("ann:one").toString("base64")}` }),
    () => placeOf({ authorization: `basic ${Buffer.from("ann:two").toString("base64")}` }),
  ],
  [
    "an opaque token",
    () => placeOf({ authorization: "Bearer abc" }),
    () => placeOf({ authorization: "bearer abc" }),
  ],
  [
    "an address, with its trusted proxy",
    () => placeOf({}),
    () => placeOf({ "x-forwarded-for": "192.0.2.1" }, "/shop", "10.0.0.1"),
  ],
  [
    "an IPv6 network",
    () => placeOf({}, "/shop", "2001:db8::1"),
    () => placeOf({}, "/shop", "2001:db8::ffff"),
  ],
])("a caller is known by %s", (_, one, again) => {
  expect(again()).toBe(one())
})

test.each([
  ["another key", { "x-api-key": "one" }, { "x-api-key": "two" }],
  ["another subject", { authorization: jwt({ sub: "ann" }) }, { authorization: jwt({ sub: "bob" }) }],
  [
    "the same subject of another issuer",
    { authorization: jwt({ iss: "a", sub: "ann" }) },
    { authorization: jwt({ iss: "b", sub: "ann" }) },
  ],
  ["a token without a subject", { authorization: jwt({ a: 1 }) }, { authorization: jwt({ a: 2 }) }],
  ["a payload that is not JSON", { authorization: "Bearer a.b.c" }, { authorization: "Bearer a.d.c" }],
  ["a key that is a token", { "x-api-key": "abc" }, { authorization: "Bearer abc" }],
  ["nothing and something", {}, { authorization: "Bearer abc" }],
])("other callers: %s", (_, one, another) => {
  expect(placeOf(another)).not.toBe(placeOf(one))
})

test("only keys of these plans are read", () => {
  expect(placeOf({ "x-api-key": "one" }, "/shop", undefined, [byToken])).toBe(placeOf({}))
  expect(placeOf({ "x-forwarded-for": "203.0.113.9" })).toBe(placeOf({}))
})

test("the share is that of the callers, and a larger one contains it", () => {
  const [small, large] = [5, 20].map((percent) => new CallerShare([byKey], "a plan", percent))
  const callers = Array.from({ length: 20_000 }, (_, at) => request({ "x-api-key": `key-${at}` }))
  const of = (share = small) => callers.filter((caller) => share?.has(caller, "/shop", addresses))
  // Four standard deviations.
  expect(Math.abs(of(small).length - 1_000)).toBeLessThan(124)
  expect(Math.abs(of(large).length - 4_000)).toBeLessThan(227)
  expect(of(small).filter((caller) => !large?.has(caller, "/shop", addresses))).toEqual([])
})

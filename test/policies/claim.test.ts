import { expect, test } from "vitest"
import { claimAt } from "../../runtime/identity/claim-at.ts"
import type { ClaimRule } from "../../runtime/plan/step-values.ts"
import { compileClaimRules } from "../../runtime/policies/credentials/claim.ts"
import type { Exchange } from "../../runtime/policies/exchange.ts"
import type { Provision } from "../../runtime/policies/policy.ts"

const claims = {
  scope: "orders.read orders.write",
  roles: ["admin", 7, { nested: true }],
  level: 3,
  email_verified: true,
  nothing: null,
  realm_access: { roles: ["staff"] },
  "https://acme.example/tier": "gold",
  empty: "",
}

const rows: [ClaimRule["test"], string, string[], boolean][] = [
  ["present", "scope", [], true],
  ["present", "empty", [], true],
  ["present", "nothing", [], false],
  ["present", "missing", [], false],
  ["present", "toString", [], false],
  ["present", "__proto__", [], false],
  ["has-any", "scope", ["orders.read"], true],
  ["has-any", "scope", ["orders"], false],
  ["has-any", "scope", ["x", "orders.write"], true],
  ["has-any", "scope", [""], false],
  ["has-any", "roles", ["admin"], true],
  ["has-any", "roles", ["7"], true],
  ["has-any", "roles", ["[object Object]"], false],
  ["has-all", "scope", ["orders.read", "orders.write"], true],
  ["has-all", "scope", ["orders.read", "orders.delete"], false],
  ["has-any", "realm_access.roles", ["staff"], true],
  ["has-any", "realm_access.constructor", ["x"], false],
  ["equals-any", "https://acme.example/tier", ["gold"], true],
  ["equals-any", "level", ["3"], true],
  ["equals-any", "email_verified", ["true"], true],
  ["equals-any", "scope", ["orders.read"], false],
  ["equals-any", "roles", ["admin"], false],
  ["equals-any", "missing", ["undefined"], false],
]

/** Constant values are compared without looking at an exchange. */
function faultOf(rule: ClaimRule) {
  return compileClaimRules([rule], {} as Provision)(claims, {} as Exchange)
}

test.each(rows)("%s %s %j → %s", (rule, claim, values, expected) => {
  expect(faultOf({ claim, test: rule, values }) === undefined).toBe(expected)
})

test("what is wrong has a word: not there, or another value", () => {
  expect(faultOf({ claim: "missing", test: "present", values: [] })).toEqual({
    fault: "TokenClaimNotFound",
    claim: "missing",
  })
  expect(faultOf({ claim: "level", test: "has-any", values: ["4"] })).toEqual({
    fault: "TokenClaimValueNotAllowed",
    claim: "level",
  })
})

test.each([
  [undefined, "orders.read", true],
  [",", "orders.read", false],
  [",", "orders.read orders.write", true],
  ["", "orders.read orders.write", true],
  ["", "orders.read", false],
])("a string split by %j has %j: %s", (separator, value, expected) => {
  const rule: ClaimRule = { claim: "scope", test: "has-any", values: [value] }
  expect(faultOf(separator === undefined ? rule : { ...rule, separator }) === undefined).toBe(expected)
})

test("a name with dots is a name first and a way second", () => {
  expect(claimAt({ "a.b": 1, a: { b: 2 } }, "a.b")).toBe(1)
  expect(claimAt({ a: { b: 2 } }, "a.b")).toBe(2)
  expect(claimAt({ a: [{ b: 2 }] }, "a.0.b")).toBeUndefined()
})

import { describe, expect, test } from "vitest"
import type { PlanConsent } from "../../runtime/control/api.ts"
import { idleClasses, missingConsents } from "../../runtime/control/consent.ts"
import type { Operator } from "../../runtime/control/operators.ts"
import type { ReviewedChange } from "../../runtime/control/ports.ts"
import type { ChangeClass, ConsentRule } from "../../runtime/plan/change-rules.ts"

const change = (classes: readonly ChangeClass[], routes: readonly string[] = []): ReviewedChange => ({
  ...{ classes, routes, text: "what changes" },
})
const ann: Operator = { kind: "person", name: "ann", role: "publisher", issuer: "staff" }
const consent = (
  who: string,
  allow: readonly ChangeClass[],
  over: Partial<PlanConsent> = {},
): PlanConsent => ({
  ...{ who, kind: "person", issuer: "staff", role: "viewer", groups: [], allow: [...allow] },
  ...{ message: null, at: "2026-01-02T03:04:05.678Z" },
  ...over,
})
const routes = (count: number) => Array.from({ length: count }, (_, at) => `GET /${at}`)

/** Whether a plan with the changes, brought by `ann`, is missing a consent by the rule. The running plan has 100 routes. */
function isMissing(
  rule: ConsentRule,
  changes: readonly ReviewedChange[],
  given: readonly PlanConsent[] = [],
  { everything = false, author = undefined as string | undefined, operator = ann } = {},
): boolean {
  return missingConsents([rule], { changes, routes: 100, everything }, given, { operator, author }).length > 0
}

describe("which changes need consent", () => {
  test("those with an effect of the class, also beside a worse one", () => {
    expect(isMissing({ class: "opens" }, [change(["opens"])])).toBe(true)
    expect(isMissing({ class: "closes" }, [change(["opens", "closes"])])).toBe(true)
    expect(isMissing({ class: "breaking" }, [change(["opens", "closes"])])).toBe(false)
    expect(isMissing({ class: "opens" }, [])).toBe(false)
  })

  test("above a share of the routes, together and without counting one twice", () => {
    const rule: ConsentRule = { class: "closes", abovePercent: 5 }
    expect(isMissing(rule, [change(["closes"], routes(5))])).toBe(false)
    expect(isMissing(rule, [change(["closes"], routes(6))])).toBe(true)
    expect(isMissing(rule, [change(["closes"], routes(3)), change(["closes"], routes(5))])).toBe(false)
    expect(isMissing(rule, [change(["closes"], ["GET /x", "GET /y"]), change(["closes"], routes(4))])).toBe(
      true,
    )
    expect(isMissing(rule, [change(["opens"], routes(50)), change(["closes"], routes(2))])).toBe(false)
    // Not limited to routes: a listener, a model that no route asks.
    expect(isMissing(rule, [change(["closes"])])).toBe(true)
    expect(isMissing({ class: "closes", abovePercent: 0 }, [change(["closes"], ["GET /x"])])).toBe(true)
  })

  test("all, where the plan changes the rules themselves", () => {
    expect(isMissing({ class: "opens", abovePercent: 50 }, [], [], { everything: true })).toBe(true)
    const bob = consent("bob", ["opens"], { role: "admin" })
    expect(isMissing({ class: "opens", abovePercent: 50 }, [], [bob], { everything: true })).toBe(false)
  })
})

describe("whose consent counts", () => {
  const opening = [change(["opens"])]
  const given = (rule: Partial<ConsentRule>, each: PlanConsent, bringers = {}) =>
    !isMissing({ class: "opens", ...rule }, opening, [each], bringers)

  test("of those who may apply, of a role, or of a group", () => {
    expect(given({}, consent("bob", ["opens"]))).toBe(false)
    expect(given({}, consent("bob", ["opens"], { role: "publisher" }))).toBe(true)
    expect(given({}, consent("bob", ["closes", "breaking"], { role: "admin" }))).toBe(false)
    expect(given({ of: "admin" }, consent("bob", ["opens"], { role: "publisher" }))).toBe(false)
    expect(given({ of: "operator" }, consent("bob", ["opens"], { role: "admin" }))).toBe(true)
    expect(given({ of: "security" }, consent("bob", ["opens"], { role: "admin" }))).toBe(false)
    expect(given({ of: "security" }, consent("bob", ["opens"], { groups: ["security"] }))).toBe(true)
  })

  test("by another: not who applies, not who made the plan, and no token", () => {
    const rule: Partial<ConsentRule> = { another: true }
    const of = (who: string, over: Partial<PlanConsent> = {}) =>
      consent(who, ["opens"], { role: "admin", ...over })
    expect(given(rule, of("bob"))).toBe(true)
    expect(given(rule, of("ann"))).toBe(false)
    // The same person by another issuer.
    expect(given(rule, of("ann", { issuer: "guests" }))).toBe(false)
    expect(given(rule, of("bob"), { author: "bob" })).toBe(false)
    expect(given(rule, of("deploy", { kind: "token" }))).toBe(false)
    expect(given(rule, of("control token", { kind: "shared" }))).toBe(false)
    const shared: Operator = { kind: "shared", name: "control token", role: "admin" }
    expect(given(rule, of("bob"), { operator: shared })).toBe(true)
  })

  test("a consent that no rule asks for is told at once", () => {
    const rules: ConsentRule[] = [{ class: "opens", of: "security", another: true }, { class: "closes" }]
    const bob = { role: "publisher", groups: ["security"] } as const
    expect(idleClasses(rules, consent("bob", ["opens", "closes"], { ...bob, groups: ["security"] }))).toEqual(
      [],
    )
    expect(idleClasses(rules, consent("bob", ["opens", "breaking"], { role: "admin" }))).toEqual([
      "opens",
      "breaking",
    ])
    const token = consent("deploy", ["opens", "closes"], { ...bob, groups: ["security"], kind: "token" })
    expect(idleClasses(rules, token)).toEqual(["opens"])
  })
})

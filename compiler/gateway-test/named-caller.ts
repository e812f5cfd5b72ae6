import type { Plan } from "../../runtime/plan/plan.ts"
import type { TestCaller, TestGiven } from "./gateway-suite.ts"

/** A caller of the tests, a declared subscription, or anybody with a token that has these claims: `sub` is the name unless they say otherwise. */
export function callerNamed(
  name: string,
  claims: Readonly<Record<string, unknown>> | undefined,
  given: Pick<TestGiven, "callers">,
  plan: Plan["plan"],
): TestCaller {
  const known = given.callers.get(name)
  const { sub: _, ...more } = claims ?? {}
  if (known !== undefined && known.token !== undefined)
    return { ...known, token: { ...known.token, claims: { ...known.token.claims, ...more } } }
  if (known !== undefined) return known
  if (Object.hasOwn(plan.subscriptions, name)) return { headers: [], subscription: name }
  const token = { issuer: undefined, claims: { sub: name, ...claims }, relative: {}, isForged: false }
  return Object.keys(plan.issuers).length === 0 ? { headers: [] } : { headers: [], token }
}

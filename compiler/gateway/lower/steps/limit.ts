import type { LimitKey } from "../../../../runtime/plan/steps.ts"
import { type Bound, headSpan } from "../../bind/bound.ts"
import { listed } from "../../schema/slots.ts"
import type { AuthWay } from "../place.ts"
import type { Lowered, StepContext } from "../step.ts"
import { checkClaim } from "./auth.ts"

/** Whether the limit counts by address alone: it can refuse before signatures are checked. */
export function isAnonymous(bound: Bound): boolean {
  return keysOf(bound)[0]?.by === "ip"
}

/**
 * `limit N per DURATION by KEY else KEY`. The counter's name is made of the scope it is written in, its keys and its period: counts go on
 * when a new plan changes the number, and all routes of the scope share them.
 */
export function lowerLimit(
  bound: Bound,
  scope: string,
  { place, report, steps }: StepContext,
): Lowered | undefined {
  const callsMax = bound.args.value<number>("calls")
  const periodMs = bound.args.value<number>("period")
  const keys = keysOf(bound)
  if (bound.broken || callsMax === undefined || periodMs === undefined) return undefined
  const { ways } = place.auth
  for (const { slot, argument, value } of bound.args.filled) {
    const key = value as LimitKey
    if (slot.kind !== "limit-key" || key.by !== "claim") continue
    for (const { claims } of ways)
      if (claims !== undefined) checkClaim(key.claim, claims, argument.span, report)
  }
  const lacking = ways.find((way) => !keys.some((key) => provides(way, key)))
  if (lacking !== undefined) {
    const names = listed(
      keys.map((key) => `\`${nameOf(key)}\``),
      "or",
    )
    report.add(
      "SP3008",
      headSpan(bound.statement),
      `with \`auth ${lacking.kind}\` a caller has no ${names}`,
      {
        related: [{ span: place.auth.span ?? place.routeSpan, message: "the `auth` of the route" }],
      },
    )
    return undefined
  }
  const periodSeconds = periodMs / 1000
  const counter = counterName(scope, keys, periodSeconds)
  return steps.add({ kind: "rate-limit", counter, callsMax, periodSeconds, keys }, headSpan(bound.statement))
}

/** `api orders: subscription else ip, 60s`, at most 512 characters. */
export function counterName(scope: string, keys: readonly LimitKey[], periodSeconds: number): string {
  return `${scope.slice(0, 360)}: ${keys.map(nameOf).join(" else ").slice(0, 120)}, ${periodSeconds}s`
}

function keysOf(bound: Bound): LimitKey[] {
  return [...bound.args.values<LimitKey>("key")]
}

function nameOf(key: LimitKey): string {
  return key.by === "claim" ? `jwt.${key.claim}` : key.by
}

/** Whether a caller who came in this way has the key. */
function provides(way: AuthWay, key: LimitKey): boolean {
  if (key.by === "ip") return true
  return key.by === "subscription" ? way.kind === "subscription" : way.kind === "jwt"
}

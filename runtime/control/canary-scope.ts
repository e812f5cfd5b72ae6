import { canonicalJson } from "../plan/canonical.ts"
import type { PlanBody } from "../plan/plan.ts"

/** Settings of `limits` that are those of a connection or of the process: they count before the caller is known. */
const connectionLimits = [
  "headerBytesMax",
  "headMs",
  "bodyRate",
  "connectionsPerAddressMax",
  "newConnectionsPerAddressMax",
  "limitKeysMax",
  "ipv6Prefix",
] as const

/**
 * What a plan changes that a canary cannot try, in the words of gateway.conf: both plans share it, because it is in force before the caller is known, or
 * because writes of one plan would be seen by the callers of the other. Empty: nothing.
 */
export function outsideCanary(running: PlanBody, next: PlanBody): string[] {
  const [before, after] = [running, next].map(sharedParts)
  return Object.keys(after ?? {}).filter(
    (name) => canonicalJson(before?.[name] ?? null) !== canonicalJson(after?.[name] ?? null),
  )
}

function sharedParts({ gateway, authz, models, control, change, certificates }: PlanBody) {
  const { listen = [], trust = [], metrics, limits } = gateway ?? {}
  const ofListeners = listen.flatMap(({ tls }) => tls ?? [])
  const text = canonicalJson(ofListeners)
  const used = Object.entries(certificates ?? {}).filter(([name]) => text.includes(JSON.stringify(name)))
  const parts: Readonly<Record<string, unknown>> = {
    "`listen`": [gateway !== null, listen, Object.fromEntries(used)],
    "`trust`": trust,
    "`limits` of connections": connectionLimits.map((name) => limits?.[name] ?? null),
    "`metrics`": metrics,
    "`authz`": authz,
    "a model": models,
    "`control`": control,
    "`change`": change,
  }
  return parts
}

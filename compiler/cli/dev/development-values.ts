import { realm } from "../../../runtime/dev/realm.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"

/** A variable that is not set, and its development value. */
export interface DevelopmentValue {
  readonly name: string
  readonly value: string
}

/**
 * Values for the secrets of a plan whose variable is not set. A new user has no secrets yet, and an obviously guessable value is better
 * than one that looks like a secret: `ACME_CI_KEY` gets `dev-acme-ci-key`. Secrets of clients that the development identity provider knows
 * get its value, so that people can sign in.
 */
export function developmentValues(
  plan: PlanBody,
  env: Readonly<Record<string, string | undefined>>,
): DevelopmentValue[] {
  const demanded = demandedValues(plan)
  const values = new Map<string, string>()
  for (const [name, reference] of Object.entries(plan.secrets)) {
    if (!("env" in reference) || reference.default !== undefined || env[reference.env] !== undefined) continue
    const value = `dev-${reference.env.toLowerCase().replaceAll("_", "-")}`
    const own = demanded.get(name)
    if (own !== undefined || !values.has(reference.env)) values.set(reference.env, own?.(value) ?? value)
  }
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value }))
}

/** Secrets that cannot have any value, by name: how to make theirs of the usual one. */
function demandedValues({ oidcClients, portal }: PlanBody): ReadonlyMap<string, (value: string) => string> {
  const demanded = new Map<string, (value: string) => string>()
  for (const { client, secret, sessionKeys } of [
    ...Object.values(oidcClients ?? {}),
    ...(portal?.signIn === undefined ? [] : [portal.signIn.client]),
  ]) {
    for (const key of sessionKeys) demanded.set(key.secret, longEnough)
    const known = typeof client === "string" ? realm.clients[client] : undefined
    if (secret !== undefined && known !== undefined) demanded.set(secret, () => known)
  }
  return demanded
}

/** The key of a session needs 32 bytes. */
function longEnough(value: string): string {
  return Array(Math.ceil(33 / (value.length + 1)))
    .fill(value)
    .join("-")
}

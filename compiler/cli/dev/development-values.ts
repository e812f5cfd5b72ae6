import type { PlanBody } from "../../../runtime/plan/plan.ts"

/** A variable that is not set, and its development value. */
export interface DevelopmentValue {
  readonly name: string
  readonly value: string
}

/** The development value of a variable: `ACME_CI_KEY` gets `dev-acme-ci-key`. */
export function standInFor(name: string): string {
  return `dev-${name.toLowerCase().replaceAll("_", "-")}`
}

/**
 * Values for the secrets of a plan whose variable is not set. A new user has no secrets yet, and an obviously guessable value is better
 * than one that looks like a secret.
 */
export function developmentValues(
  plan: PlanBody,
  env: Readonly<Record<string, string | undefined>>,
): DevelopmentValue[] {
  const sessionKeys = Object.values(plan.oidcClients ?? {}).flatMap((client) => client.sessionKeys)
  const long = new Set(sessionKeys.map(({ secret }) => secret))
  const values = new Map<string, string>()
  for (const [name, reference] of Object.entries(plan.secrets)) {
    if (!("env" in reference) || reference.default !== undefined || env[reference.env] !== undefined) continue
    const value = standInFor(reference.env)
    // The key of a session is refused when it is short.
    if (!values.has(reference.env) || long.has(name))
      values.set(reference.env, long.has(name) ? [value, value, value].join("-") : value)
  }
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value }))
}

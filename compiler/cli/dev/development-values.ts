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
  const names = Object.values(plan.secrets).flatMap((reference) =>
    "env" in reference && reference.default === undefined && env[reference.env] === undefined
      ? [reference.env]
      : [],
  )
  return [...new Set(names)].sort().map((name) => ({ name, value: standInFor(name) }))
}

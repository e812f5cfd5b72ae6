import type { PlanBody } from "../../plan/plan.ts"
import { namedBy } from "../../plan/steps.ts"
import type { Reference } from "../../plan/text.ts"

/** A plan as it runs without a server, its environment, and the variables that had to be made up. */
export interface ServerlessPlan {
  readonly body: PlanBody
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly unset: readonly string[]
}

/**
 * Leaves out what only listeners and running processes need: certificates of listeners, and checks of health, so that every target counts as healthy. A
 * variable without a value gets one that is the same in every run: secrets as Base64 of at least 32 bytes, long enough for keys of signatures.
 */
export function withoutServer(
  plan: PlanBody,
  given: Readonly<Record<string, string | undefined>>,
): ServerlessPlan {
  const backends = Object.fromEntries(
    Object.entries(plan.backends).map(([name, { health: _, ...backend }]) => [name, backend]),
  )
  const used = new Set(namedBy(Object.values(plan.steps), "certificates"))
  for (const { tls } of [...Object.values(plan.backends), ...Object.values(plan.pdps ?? {})])
    if (tls.certificate !== undefined) used.add(tls.certificate)
  const certificates = Object.fromEntries(
    Object.entries(plan.certificates ?? {}).filter(([name]) => used.has(name)),
  )
  const environment: Record<string, string | undefined> = { ...given }
  const unset: string[] = []
  const fill = (reference: Reference, made: (name: string) => string) => {
    if (!("env" in reference) || (environment[reference.env] ?? reference.default) !== undefined) return
    unset.push(reference.env)
    environment[reference.env] = made(reference.env)
  }
  for (const secret of Object.values(plan.secrets))
    fill(secret, (name) => Buffer.from(`test-${name}`.padEnd(33, "-")).toString("base64"))
  for (const value of Object.values(plan.values))
    if ("from" in value)
      fill(value.from, (name) => `http://${name.toLowerCase().replaceAll("_", "-")}.invalid`)
  return { body: { ...plan, backends, certificates }, environment, unset: [...new Set(unset)].sort() }
}

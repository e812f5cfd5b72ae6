import type { PlanBody } from "../../plan/plan.ts"
import { namedBy } from "../../plan/steps.ts"

/** The parts of a plan that the gateway role needs. */
export interface GatewayParts {
  readonly secrets: ReadonlySet<string>
  readonly issuers: ReadonlySet<string>
}

/** All secrets and issuers except those used only by the engine's listener: a process without that role needs neither its keys nor its issuers. */
export function gatewayParts(plan: PlanBody): GatewayParts {
  const { authz, issuers, secrets } = plan
  const used = usedBy(plan)
  const without = (names: object, engine: object | undefined, kept: ReadonlySet<string>) =>
    new Set(Object.keys(names).filter((name) => kept.has(name) || !Object.hasOwn(engine ?? {}, name)))
  return {
    secrets: without(secrets, authz?.auth?.keys, used.secrets),
    issuers: without(issuers, authz?.auth?.issuers, used.issuers),
  }
}

/** The secrets and issuers that steps use, directly or through what they name. */
export function usedBy(plan: PlanBody): GatewayParts {
  const { issuers, subscriptions, steps } = plan
  const used = { secrets: new Set<string>(), issuers: new Set<string>() }
  for (const { key, secondary } of Object.values(subscriptions)) {
    used.secrets.add(key)
    if (secondary !== undefined) used.secrets.add(secondary)
  }
  collectSecrets(plan.certificates, used.secrets)
  if (plan.gateway?.shared !== undefined) used.secrets.add(plan.gateway.shared.redis)
  collectSecrets(plan.gateway?.tracing?.headers, used.secrets)
  collectSecrets(plan.gateway?.metrics?.headers, used.secrets)
  collectSecrets(plan.gateway?.record?.protectedBy, used.secrets)
  for (const issuer of namedBy(Object.values(steps), "issuers")) used.issuers.add(issuer)
  for (const { issuer, secret, sessionKeys } of Object.values(plan.oidcClients ?? {})) {
    used.issuers.add(issuer)
    if (secret !== undefined) used.secrets.add(secret)
    collectSecrets(sessionKeys, used.secrets)
  }
  for (const step of Object.values(steps)) {
    collectSecrets(step, used.secrets)
  }
  const clients = [...Object.values(plan.tokenClients ?? {}), ...Object.values(plan.introspections ?? {})]
  const users = Object.values(plan.users ?? {}).flatMap((each) => each.users)
  for (const { secret } of [...clients, ...users]) used.secrets.add(secret)
  for (const { authentication } of [...Object.values(plan.backends), ...Object.values(plan.pdps ?? {})]) {
    if (authentication?.scheme === "basic") used.secrets.add(authentication.password)
    else if (authentication?.scheme === "bearer") used.secrets.add(authentication.token)
  }
  for (const name of used.issuers) collectSecrets(issuers[name]?.source, used.secrets)
  return used
}

/** The secrets that are keys of `hmac` in expressions. */
export function secretKeysOf({ steps }: Pick<PlanBody, "steps">): ReadonlySet<string> {
  const found = new Set<string>()
  const collect = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return
    if ("lang" in node && "secrets" in node) collectSecrets(node.secrets, found)
    for (const inner of Object.values(node)) collect(inner)
  }
  collect(steps)
  return found
}

/** Every `{secret: name}` in a part of a plan. */
export function collectSecrets(node: unknown, found: Set<string>): void {
  if (typeof node !== "object" || node === null) return
  if ("secret" in node && typeof node.secret === "string") found.add(node.secret)
  for (const inner of Object.values(node)) collectSecrets(inner, found)
}

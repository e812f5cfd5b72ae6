import type { ChangeClass, ConsentRule } from "../plan/change-rules.ts"
import { controlRoles, includesRole } from "../plan/control.ts"
import type { PlanConsent } from "./api.ts"
import type { Operator } from "./operators.ts"
import type { ReviewedChange } from "./ports.ts"

/** A rule whose consent is missing, with the changes that need it. */
export interface MissingConsent {
  readonly rule: ConsentRule
  readonly changes: readonly ReviewedChange[]
}

/** Who brings a plan: the operator that applies it, and the author in its seal. Their own consent is not that of another. */
export interface Bringers {
  readonly operator: Operator
  readonly author: string | undefined
}

/** What a plan changes: all its changes, of a plan with this number of routes. `everything`: it changes the rules, so each rule must be kept. */
export interface Reviewed {
  readonly changes: readonly ReviewedChange[]
  readonly routes: number
  readonly everything: boolean
}

/** The rules that a plan must keep and whose consent is not among those given. */
export function missingConsents(
  rules: readonly ConsentRule[],
  reviewed: Reviewed,
  given: readonly PlanConsent[],
  bringers: Bringers,
): MissingConsent[] {
  return rules.flatMap((rule) => {
    const changes = reviewed.changes.filter(({ classes }) => classes.includes(rule.class))
    if (!reviewed.everything && !isAsked(rule, changes, reviewed.routes)) return []
    return given.some((each) => counts(each, rule) && isOfAnother(each, rule, bringers))
      ? []
      : [{ rule, changes }]
  })
}

/** A change that is not limited to routes concerns them all. */
function isAsked({ abovePercent }: ConsentRule, changes: readonly ReviewedChange[], routes: number): boolean {
  if (changes.length === 0 || abovePercent === undefined) return changes.length > 0
  if (changes.some((change) => change.routes.length === 0)) return true
  const concerned = new Set(changes.flatMap((change) => change.routes)).size
  return 100 * concerned > abovePercent * routes
}

/** Whether a consent is one that the rule asks for: of somebody who may give it, to this class. */
function counts(consent: Omit<PlanConsent, "at" | "message">, rule: ConsentRule): boolean {
  return consent.allow.includes(rule.class) && isOfRule(consent, rule)
}

function isOfRule(
  { role, groups }: Pick<PlanConsent, "role" | "groups">,
  { of = "publisher" }: ConsentRule,
): boolean {
  const needed = controlRoles.find((each) => each === of)
  return groups.includes(of) || (needed !== undefined && includesRole(role, needed))
}

/** Nobody knows who holds a token, so only the consent of a person is that of another one. */
function isOfAnother(
  consent: PlanConsent,
  { another }: ConsentRule,
  { operator, author }: Bringers,
): boolean {
  if (another !== true) return true
  if (consent.kind !== "person" || consent.who === author) return false
  const isSame = operator.kind === "person" && operator.name === consent.who
  return !isSame
}

/** The consent of an operator, who gives it now. */
export function consentOf(
  operator: Operator,
  allow: readonly ChangeClass[],
  message: string | null = null,
): PlanConsent {
  const { kind, name, issuer = null, role, groups = [] } = operator
  const at = new Date().toISOString()
  return {
    who: name.slice(0, 200),
    kind,
    issuer,
    role,
    groups: [...groups],
    allow: [...new Set(allow)],
    message,
    at,
  }
}

/** The classes to which no rule asks for the consent of this operator. */
export function idleClasses(rules: readonly ConsentRule[], consent: PlanConsent): ChangeClass[] {
  return consent.allow.filter(
    (each) =>
      !rules.some(
        (rule) =>
          rule.class === each &&
          isOfRule(consent, rule) &&
          (rule.another !== true || consent.kind === "person"),
      ),
  )
}

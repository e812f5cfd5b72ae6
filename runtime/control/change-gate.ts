import {
  type ChangeClass,
  type ChangeRules,
  type ConsentRule,
  changeRules,
  consentRuleText,
  type PlanSigner,
} from "../plan/change-rules.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { keyIdOf, type PlanSeal, readSignerKey, type SealSignature, signerOf } from "../plan/seal.ts"
import { listConsents } from "../store/consents.ts"
import {
  type ControlProblem,
  type PlanAnswer,
  type PlanConsent,
  type PlanRecord,
  type Provenance,
  readConsent,
} from "./api.ts"
import { consentOf, missingConsents } from "./consent.ts"
import type { Operator } from "./operators.ts"
import { consentBase } from "./plan-base.ts"
import type { ControlPorts, ReviewedChange } from "./ports.ts"
import type { ProblemKind } from "./problem.ts"

/** A plan that shall replace the running one. */
export interface Proposal {
  readonly plan: Plan
  readonly seal: PlanSeal | undefined
  readonly signature: SealSignature | undefined
  /** It is of the history: its seal is that with which it was applied then. */
  readonly isRollback: boolean
  readonly operator: Operator
  /** What the operator consents to by applying it. */
  readonly allow: readonly ChangeClass[]
  /** It changes who may operate or what a change needs. */
  readonly changesTrust: boolean
}

/** The plan that would be replaced, with its rules. Undefined: no plan was applied yet, so there are no rules. */
export interface Replaced {
  readonly record: PlanRecord
  readonly rules: ChangeRules
}

/** Why a plan may not replace the running one; `detail` is for operators. */
export class ChangeRefused extends Error {
  override readonly name = "ChangeRefused"
  readonly kind: ProblemKind
  readonly extra: Pick<ControlProblem, "missing">

  constructor(kind: ProblemKind, detail: string, extra: Pick<ControlProblem, "missing"> = {}) {
    super(detail)
    this.kind = kind
    this.extra = extra
  }
}

/**
 * Checks that a plan keeps the rules of the plan that it would replace, and returns what is known about its origin. The rules of the new plan do not
 * count: it cannot allow itself.
 * @throws ChangeRefused
 */
export async function admitChange(
  ports: ControlPorts,
  proposal: Proposal,
  running: PlanAnswer | undefined,
): Promise<Provenance | undefined> {
  const rules = running !== undefined && ports.enforcesChangeRules ? rulesOf(running.plan) : {}
  const replaced = running && { record: running.record, rules }
  const sealed = checkSeal(proposal, replaced, await ports.historyIdentity())
  if (running === undefined || rules.consents === undefined) return sealed
  const consents = await checkConsents(ports, proposal, running, rules.consents)
  return consents.length === 0 ? sealed : { ...sealed, consents }
}

/** Returns the consents to the plan, those that no rule needs, too. */
async function checkConsents(
  ports: ControlPorts,
  proposal: Proposal,
  running: PlanAnswer,
  rules: readonly ConsentRule[],
): Promise<PlanConsent[]> {
  const { plan, operator, allow, seal, changesTrust } = proposal
  if (plan.digest === running.record.digest) return []
  const stored = await listConsents(ports.consents.database, consentBase(running.record))
  const given = [
    ...stored
      .filter(({ digest }) => digest === plan.digest)
      .flatMap(({ consent }) => readConsent(consent) ?? []),
    ...(allow.length === 0 ? [] : [consentOf(operator, allow)]),
  ]
  const changes = await reviewed(ports, running.plan, plan)
  const routes = Object.keys(running.plan.plan.routes).length
  const bringers = { operator, author: seal?.author.who }
  const missing = missingConsents(rules, { changes, routes, everything: changesTrust }, given, bringers)
  if (missing.length === 0) return given
  throw new ChangeRefused(
    "consent-required",
    `consent is missing, by the rules of the running plan: ${missing.map(({ rule }) => `\`${consentRuleText(rule)}\``).join(", ")}`,
    {
      missing: missing.map(({ rule, changes }) => ({
        class: rule.class,
        rule: consentRuleText(rule),
        changes: changes.slice(0, changesShown).map(({ text }) => text),
      })),
    },
  )
}

/** Enough to know what the consent is to; `sallyport plan` shows all. */
const changesShown = 20

/** Without a comparison nobody knows which rules ask, so nothing is applied. */
async function reviewed(ports: ControlPorts, before: Plan, after: Plan): Promise<readonly ReviewedChange[]> {
  if (ports.reviewPlans === undefined)
    throw new ChangeRefused(
      "no-review",
      "the running plan has rules for classes of changes, and this process was started without what compares plans",
    )
  const read = readPlan(before)
  if ("problems" in read)
    throw new ChangeRefused(
      "no-review",
      "this version of Sallyport cannot read the running plan, so it cannot compare it",
    )
  return ports.reviewPlans(read.plan.plan, after.plan).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ChangeRefused("no-review", `the comparison with the running plan failed: ${reason}`)
  })
}

/**
 * The rules of a stored plan. Another version may have written it: rules that this one cannot read allow nothing.
 * @throws ChangeRefused
 */
export function rulesOf(stored: unknown): ChangeRules {
  const body = (stored as Partial<Plan> | null)?.plan
  if (body?.change === undefined) return {}
  const read = changeRules.safeParse(body.change)
  if (read.success) return read.data
  throw new ChangeRefused(
    "plan-refused",
    "the running plan has rules for changes that this version of Sallyport cannot read: apply with the version that wrote them",
  )
}

/**
 * What is known about the origin of a plan.
 * @throws ChangeRefused when its seal is not as the replaced plan demands
 */
function checkSeal(
  proposal: Proposal,
  replaced: Replaced | undefined,
  history: string,
): Provenance | undefined {
  const { plan, seal, signature } = proposal
  const signers = replaced?.rules.signers ?? []
  if (seal !== undefined && seal.digest !== plan.digest)
    throw new ChangeRefused("plan-invalid", "the seal is that of another plan")
  if (signers.length === 0) return seal === undefined ? undefined : { seal, signature }
  if (seal === undefined || signature === undefined)
    throw unsigned(
      signers,
      proposal.isRollback ? "that plan was applied without a signature" : "it has no signature",
    )
  const signer = signerOf(seal, signature, signers)
  if (signer === undefined)
    throw unsigned(signers, "its signature is not one of them, or its seal was changed")
  // A signature is valid for one place of one history, so it cannot be used a second time, or in another database.
  if (!proposal.isRollback) checkPlace(seal, replaced?.record, history)
  return { seal, signature, signer: nameOf(signer) }
}

function checkPlace(
  { base, history: named }: PlanSeal,
  record: PlanRecord | undefined,
  history: string,
): void {
  if (named !== history)
    throw new ChangeRefused(
      "plan-unsigned",
      named === null
        ? "the signed seal names no history: sign a plan that was compared with the running one"
        : "the plan was signed for the history of another database",
    )
  if (base?.serial === record?.serial && base?.stamp === record?.stamp && base?.digest === record?.digest)
    return
  throw new ChangeRefused(
    "plan-unsigned",
    "the plan was signed for a change of another plan than the running one",
  )
}

function unsigned(signers: readonly PlanSigner[], why: string): ChangeRefused {
  return new ChangeRefused(
    "plan-unsigned",
    `the running plan accepts only plans signed by ${signers.map((each) => `\`${nameOf(each)}\``).join(" or ")}: ${why}`,
  )
}

/** Its name; else the id of its key. */
function nameOf({ name, key }: PlanSigner): string {
  if (name !== undefined) return name
  const read = readSignerKey(key)
  return read === undefined ? key : keyIdOf(read)
}

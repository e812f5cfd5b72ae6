import { type ChangeRules, changeRules, type PlanSigner } from "../plan/change-rules.ts"
import type { Plan } from "../plan/plan.ts"
import { keyIdOf, type PlanSeal, readSignerKey, type SealSignature, signerOf } from "../plan/seal.ts"
import type { PlanRecord, Provenance } from "./api.ts"
import type { ProblemKind } from "./problem.ts"

/** A plan that shall replace the running one. */
export interface Proposal {
  readonly plan: Plan
  readonly seal: PlanSeal | undefined
  readonly signature: SealSignature | undefined
  /** It is of the history: its seal is that with which it was applied then. */
  readonly isRollback: boolean
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

  constructor(kind: ProblemKind, detail: string) {
    super(detail)
    this.kind = kind
  }
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
export function checkSeal(
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

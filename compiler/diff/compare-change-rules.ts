import type { ChangeRules, PlanSigner } from "../../runtime/plan/change-rules.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

const scope = { kind: "change", name: "" } as const

/** Compares what a change of the plan needs. */
export function compareChangeRules(
  before: ChangeRules | undefined,
  after: ChangeRules | undefined,
): UnplacedChange[] {
  return signerChanges(before?.signers ?? [], after?.signers ?? [])
}

type Signers = readonly PlanSigner[]

function signerChanges(before: Signers, after: Signers): UnplacedChange[] {
  if (same(before, after)) return []
  return [
    changeOf(
      {
        action: before.length === 0 ? "added" : after.length === 0 ? "removed" : "changed",
        ...{ subject: { kind: "change", name: "signers" }, scope, path: "change.signers" },
        ...(before.length === 0 ? {} : { before: signersText(before) }),
        ...(after.length === 0 ? {} : { after: signersText(after) }),
      },
      signerFindings(before, after),
    ),
  ]
}

function signerFindings(before: Signers, after: Signers): Finding[] {
  if (after.length === 0) return [opens("plans are accepted without a signature")]
  if (before.length === 0) return [closes(`plans that are not signed by ${namesOf(after)} are refused`)]
  const [added, removed] = [without(after, before), without(before, after)]
  const found = [
    ...(added.length === 0 ? [] : [opens(`plans signed by ${namesOf(added)} are accepted`)]),
    ...(removed.length === 0 ? [] : [closes(`plans signed by ${namesOf(removed)} are refused`)]),
  ]
  return found.length === 0 ? [neutral("the same keys have other names")] : found
}

function without(list: Signers, other: Signers): Signers {
  return list.filter(({ key }) => !other.some((each) => each.key === key))
}

/** A name is only for people: two keys may have the same, so the end of the key is shown, too. */
function namesOf(signers: Signers): string {
  return signers.map(({ key, name = "the key" }) => `\`${name}\` (…${key.slice(-8)})`).join(" or ")
}

function signersText(signers: Signers): string {
  return `signers ${signers.map(({ key, name }) => JSON.stringify(name === undefined ? key : `${key} ${name}`)).join(" ")}`
}

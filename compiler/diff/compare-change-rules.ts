import {
  type ChangeClass,
  type ChangeRules,
  type ConsentRule,
  changeClasses,
  consentRuleText,
  type PlanSigner,
} from "../../runtime/plan/change-rules.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

const scope = { kind: "change", name: "" } as const

/** Compares what a change of the plan needs. */
export function compareChangeRules(
  before: ChangeRules | undefined,
  after: ChangeRules | undefined,
): UnplacedChange[] {
  return [
    ...signerChanges(before?.signers ?? [], after?.signers ?? []),
    ...changeClasses.flatMap((each) => consentChanges(each, rulesOf(before, each), rulesOf(after, each))),
  ]
}

function rulesOf(rules: ChangeRules | undefined, of: ChangeClass): readonly ConsentRule[] {
  return (rules?.consents ?? []).filter((rule) => rule.class === of)
}

/** A rule beside another adds a demand: both must be kept. */
function consentChanges(
  of: ChangeClass,
  before: readonly ConsentRule[],
  after: readonly ConsentRule[],
): UnplacedChange[] {
  if (same(before, after)) return []
  const added = after.filter((rule) => !before.some((each) => demands(each, rule)))
  const removed = before.filter((rule) => !after.some((each) => demands(each, rule)))
  const found = [
    ...removed.map((rule) => opens(`${subjectOf(rule)} no longer need ${consentOf(rule)}`)),
    ...added.map((rule) => closes(`${subjectOf(rule)} need ${consentOf(rule)}`)),
  ]
  return [
    changeOf(
      {
        action: before.length === 0 ? "added" : after.length === 0 ? "removed" : "changed",
        ...{ subject: { kind: "change", name: of }, scope, path: "change.consents" },
        ...(before.length === 0 ? {} : { before: before.map(consentRuleText).join("; ") }),
        ...(after.length === 0 ? {} : { after: after.map(consentRuleText).join("; ") }),
      },
      found.length === 0 ? neutral("the other rules of this class already demand it") : found,
    ),
  ]
}

/** Whether every consent that keeps one rule keeps the other, and the rule asks wherever the other does. */
function demands(rule: ConsentRule, other: ConsentRule): boolean {
  const [share, otherShare] = [rule.abovePercent ?? -1, other.abovePercent ?? -1]
  return rule.of === other.of && share <= otherShare && (rule.another === true || other.another !== true)
}

function subjectOf(rule: ConsentRule): string {
  const share = rule.abovePercent === undefined ? "" : ` on more than ${rule.abovePercent} % of the routes`
  return `plans that ${{ opens: "open", closes: "close", breaking: "break" }[rule.class]} something${share}`
}

function consentOf({ of, another }: ConsentRule): string {
  const who = of === undefined ? "somebody who may apply plans" : `\`${of}\``
  return `the consent of ${who}${another === true ? ", given by another person" : ""}`
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

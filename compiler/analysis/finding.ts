import { same } from "./same.ts"

/**
 * What a change may do to callers. `opens`: something is now allowed, reachable or visible that was not. `closes`: something is now refused
 * or hidden. `breaking`: something that callers or stored tuples rely on is removed or changes its meaning. `neutral`: none of these.
 */
export type Risk = "opens" | "breaking" | "closes" | "neutral"

/** In descending order: the order of changes under one heading. */
export const risks: readonly Risk[] = ["opens", "breaking", "closes", "neutral"]

/** One effect of a difference. */
export interface Finding {
  readonly risk: Risk
  readonly why: string
}

/** Something is now allowed, reachable or visible that was not. */
export const opens = (why: string): Finding => ({ risk: "opens", why })
/** Something that was allowed is now refused or hidden. */
export const closes = (why: string): Finding => ({ risk: "closes", why })
/** Something that callers or stored tuples rely on is removed or changes its meaning. */
export const breaking = (why: string): Finding => ({ risk: "breaking", why })
/** None of these. */
export const neutral = (why: string): Finding => ({ risk: "neutral", why })

/** The combined effects of a change. */
export interface RiskAssessment {
  /** The worst risk of its reasons. */
  readonly risk: Risk
  readonly why: string
  readonly reasons: readonly { readonly risk: Risk; readonly why: string }[]
}

/** Combines findings: the worst risk, and the reasons without duplicates in order of risk. */
export function joined(findings: readonly Finding[]): RiskAssessment {
  const ordered = risks.flatMap((risk) => findings.filter((finding) => finding.risk === risk))
  const reasons = ordered.filter(({ why }, at) => ordered.findIndex((each) => each.why === why) === at)
  return {
    risk: reasons[0]?.risk ?? "neutral",
    why: reasons.map(({ why }) => why).join("; "),
    reasons: reasons.map(({ risk, why }) => ({ risk, why })),
  }
}

/** What a difference in each field means. Every field needs a row, so that a new field without a rule does not compile. */
export type FieldRules<Item> = {
  readonly [Key in keyof Item]-?: (
    before: Item[Key],
    after: Item[Key],
    items: { readonly before: Item; readonly after: Item },
  ) => readonly Finding[] | Finding
}

/**
 * The findings for all fields that differ. A rule returns nothing if the rule of another field reports the difference. If all rules return
 * nothing, the difference is still reported as neutral.
 */
export function compareFields<Item extends object>(
  rules: FieldRules<Item>,
  before: Item,
  after: Item,
): Finding[] {
  const findings: Finding[] = []
  const different: string[] = []
  for (const key of Object.keys(rules) as (keyof Item & string)[]) {
    if (same(before[key], after[key])) continue
    different.push(key)
    findings.push(...[rules[key](before[key], after[key], { before, after })].flat())
  }
  if (findings.length === 0 && different.length > 0) return [neutral(`another ${different.join(" and ")}`)]
  return findings
}

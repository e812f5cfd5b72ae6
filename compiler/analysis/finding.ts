import { same } from "./same.ts"

/**
 * What a change may do to those who call.
 * `opens`: something is allowed, reached or shown that was not. `closes`: something that was is refused or hidden.
 * `breaking`: what callers or stored tuples rely on is gone or means something else. `neutral`: none of these.
 */
export type Risk = "opens" | "breaking" | "closes" | "neutral"

/** Worst first: the order of the changes under one heading. */
export const risks: readonly Risk[] = ["opens", "breaking", "closes", "neutral"]

/** One reason why a difference matters, or does not. */
export interface Finding {
  readonly risk: Risk
  readonly why: string
}

/** Something is allowed, reached or shown that was not. */
export const opens = (why: string): Finding => ({ risk: "opens", why })
/** Something that was allowed is refused or hidden. */
export const closes = (why: string): Finding => ({ risk: "closes", why })
/** Something that callers or stored tuples rely on is gone or means something else. */
export const breaking = (why: string): Finding => ({ risk: "breaking", why })
/** None of these. */
export const neutral = (why: string): Finding => ({ risk: "neutral", why })

/** What all reasons together come to. */
export interface RiskAssessment {
  /** The worst of what it does. */
  readonly risk: Risk
  readonly why: string
  readonly reasons: readonly { readonly risk: Risk; readonly why: string }[]
}

/** All reasons in one: the worst risk, reasons in order of risk, each once. */
export function joined(findings: readonly Finding[]): RiskAssessment {
  const ordered = risks.flatMap((risk) => findings.filter((finding) => finding.risk === risk))
  const reasons = ordered.filter(({ why }, at) => ordered.findIndex((each) => each.why === why) === at)
  return {
    risk: reasons[0]?.risk ?? "neutral",
    why: reasons.map(({ why }) => why).join("; "),
    reasons: reasons.map(({ risk, why }) => ({ risk, why })),
  }
}

/** What a difference in each field means: a row for every field, so that a new one does not compile before somebody has said it. */
export type FieldRules<Item> = {
  readonly [Key in keyof Item]-?: (
    before: Item[Key],
    after: Item[Key],
    items: { readonly before: Item; readonly after: Item },
  ) => readonly Finding[] | Finding
}

/** Findings for the fields that differ. A rule finds nothing where another field's tells it; where none does, the difference is told all the same. */
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

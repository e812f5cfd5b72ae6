import type { Step } from "../../runtime/plan/steps.ts"
import { holdsBlocks } from "../../runtime/plan/steps.ts"
import type { Finding } from "../analysis/finding.ts"
import { blockTextOf, hasText } from "../gateway/step-texts.ts"

/** What it means that a step stands inside of `holder` now; `removed`: what it would mean if it were gone. */
export function wrapping(holder: Step, removed: readonly Finding[]): readonly Finding[] {
  if (hasText(holder) && holdsBlocks(holder)) return blockTextOf(holder).wrapping(holder, removed)
  const lacking = (why: string) => removed.map((each) => ({ risk: each.risk, why: `${why}, ${each.why}` }))
  switch (holder.kind) {
    case "cache-value":
      return lacking("only where the cache has no value now; without it")
    default:
      return lacking("only under a condition now; without it")
  }
}

/** The other way; `added`: what it would mean if it were new. */
export function unwrapping(holder: Step, added: readonly Finding[]): readonly Finding[] {
  if (hasText(holder) && holdsBlocks(holder)) return blockTextOf(holder).unwrapping(holder, added)
  const always = (why: string) => added.map((each) => ({ risk: each.risk, why: `${why}: ${each.why}` }))
  switch (holder.kind) {
    case "cache-value":
      return always("whatever the cache has")
    default:
      return always("not only under a condition any more")
  }
}

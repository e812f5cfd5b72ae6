import type { Step } from "../../runtime/plan/steps.ts"
import { holdsBlocks } from "../../runtime/plan/steps.ts"
import { type Finding, neutral } from "../analysis/finding.ts"
import { blockTextOf, hasText } from "../gateway/step-texts.ts"

/** What it means that a step stands inside of `holder` now; `removed`: what it would mean if it were gone. */
export function wrapping(holder: Step, removed: readonly Finding[]): readonly Finding[] {
  if (hasText(holder) && holdsBlocks(holder)) return blockTextOf(holder).wrapping(holder, removed)
  const lacking = (why: string) => removed.map((each) => ({ risk: each.risk, why: `${why}, ${each.why}` }))
  switch (holder.kind) {
    case "retry":
      return [neutral("it is repeated now while the test holds")]
    case "parallel":
      return holder.until === "all"
        ? [neutral("it runs beside other branches now")]
        : lacking("only until another branch has ended well; without it")
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
    case "retry":
      return [neutral("it is not repeated any more")]
    case "parallel":
      return holder.until === "all"
        ? [neutral("it does not run beside other branches any more")]
        : always("whatever other branches do")
    case "cache-value":
      return always("whatever the cache has")
    default:
      return always("not only under a condition any more")
  }
}

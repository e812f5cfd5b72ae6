import { nestedSteps } from "../../plan/nested-steps.ts"
import type { Step } from "../../plan/steps.ts"
import { putInside } from "./unfold.ts"

/**
 * The words of a step's own expressions, those of steps inside of it left out: names of variables it reads are among them, and `jwt` and `subscription` where it
 * asks for the caller. More words than are read are no harm: what only looks like a name is then not told.
 */
export function ownWords(step: Step): ReadonlySet<string> {
  const own = structuredClone(step)
  for (const { place } of nestedSteps(step)) putInside(own, place, [])
  const words = new Set<string>()
  collect(own, words)
  return words
}

function collect(node: unknown, words: Set<string>): void {
  if (typeof node !== "object" || node === null) return
  const fields = node as Record<string, unknown>
  if (typeof fields["lang"] === "string") {
    for (const word of JSON.stringify(fields).match(/\w+/g) ?? []) words.add(word)
    return
  }
  if (fields["by"] === "claim") words.add("jwt")
  if (fields["by"] === "subscription") words.add("subscription")
  for (const inner of Object.values(fields)) collect(inner, words)
}

import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import { isFalse, isTrue, type KnownSets } from "../evaluate/question.ts"

/** A part's truth on an object as far as it follows from whole sets, else -1. */
export function decideByKnown(known: KnownSets, object: number, part: ProgramPart): number {
  if (part.op === "any") return decideAny(known, object, part)
  if (part.op === "but") {
    const base = decideByKnown(known, object, part.base)
    if (base === isFalse) return isFalse
    const subtract = decideByKnown(known, object, part.subtract)
    if (subtract === isTrue) return isFalse
    return base < 0 || subtract < 0 ? -1 : isTrue
  }
  let outcome: number = isTrue
  for (const child of part.children) {
    const value = decideByKnown(known, object, child)
    if (value === isFalse) return isFalse
    if (value < 0) outcome = -1
  }
  return outcome
}

function decideAny(known: KnownSets, object: number, part: AnyPart): number {
  const whole = known.truth(object, part.number)
  if (whole >= 0) return whole
  const { branches, self, tests, hops, refs } = part
  let outcome = self || tests.length > 0 || hops.length > 0 || refs.length > 0 ? -1 : isFalse
  for (const branch of branches) {
    const value = decideByKnown(known, object, branch)
    if (value === isTrue) return isTrue
    if (value < 0) outcome = -1
  }
  return outcome
}

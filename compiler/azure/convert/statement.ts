import type { Count } from "../../../runtime/plan/step-values.ts"
import type { StepKind, StepOf } from "../../../runtime/plan/steps.ts"
import { durationText } from "../../gateway/bind/quantities.ts"
import { none } from "./translation.ts"
import { parenthesized } from "./write-text.ts"

/** The lines of a statement. @throws NoCounterpart where the step has no statement. */
export type Print<Kind extends StepKind> = (step: StepOf<Kind>) => string[]

/** A statement with a block where there is something to put into it. */
export function block(head: string, lines: readonly (readonly string[])[]): string[] {
  const inner = lines.flat()
  return inner.length === 0 ? [head] : [`${head} {`, ...inner, "}"]
}

/** A number that is written out. */
export function fixed(count: number | object | undefined, what: string): number {
  if (typeof count === "number") return count
  const said =
    typeof count === "object" && "expression" in count ? (count.expression as { text: string }).text : ""
  return none(
    /^int\([A-Za-z_]\w*\)$/.test(said)
      ? `${what} that a named value says; \`--value NAME=TEXT\` puts it in`
      : `${what} that is found per request`,
  )
}

/** A number, or the expression that finds it per request. */
export function found(count: Count): string {
  return typeof count === "number" ? String(count) : parenthesized(count.expression.text)
}

/** A time in seconds, or the expression that finds it per request. */
export function foundTime(count: Count): string {
  return typeof count === "number" ? timeOf(count) : found(count)
}

/** Whole days, hours or minutes where it is some: `7d` for 604800 seconds. */
export function timeOf(seconds: number): string {
  return seconds === 0 ? "0s" : durationText(seconds * 1000)
}

/** Yes or no, written out. */
export function certain(flag: boolean | object, what: string): boolean {
  return typeof flag === "boolean" ? flag : none(`${what} that is found per request`)
}

import type { Step } from "./steps.ts"
import type { Expression } from "./text.ts"

/** The expressions of a step, those of steps inside of it not counted, in the order of its canonical JSON: their numbers are the same on any machine. */
export function expressionsOf(step: Step): readonly Expression[] {
  const found: Expression[] = []
  collect(step, found)
  return found
}

function collect(value: unknown, found: Expression[]): void {
  if (typeof value !== "object" || value === null) return
  if (Array.isArray(value)) for (const each of value) collect(each, found)
  else if ("lang" in value && "text" in value) found.push(value as Expression)
  else
    for (const key of Object.keys(value).sort())
      collect((value as Readonly<Record<string, unknown>>)[key], found)
}

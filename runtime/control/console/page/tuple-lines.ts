import type { TupleKey } from "../../../check/ports.ts"

/** A tuple that shall be written or deleted. */
export interface TupleStep {
  readonly kind: "add" | "remove"
  readonly tuple: TupleKey
}

/**
 * The steps of an edit, one in a line: `+user:ann viewer document:1`, `-…` to delete, and perhaps ` with CONDITION {"context": …}` at the end. The
 * address of an edit has them in this form. Other lines are ignored.
 */
export function stepsOf(text: string): readonly TupleStep[] {
  const steps = new Map<string, TupleStep>()
  for (const line of text.split("\n")) {
    const [, sign, user = "", relation = "", object = "", condition, json] =
      /^([+-])(\S+) (\S+) (\S+)(?: with (\S+)(?: (.+))?)?$/.exec(line.trim()) ?? []
    if (sign === undefined) continue
    const context = json === undefined ? undefined : contextIn(json)
    const tuple: TupleKey = {
      ...{ user, relation, object },
      ...(condition === undefined ? {} : { condition: { name: condition, ...(context && { context }) } }),
    }
    // A tuple is in an edit once: the last line counts.
    steps.set(`${user} ${relation} ${object}`, { kind: sign === "+" ? "add" : "remove", tuple })
  }
  return [...steps.values()]
}

/** The text of steps, as `stepsOf` reads it. */
export function textOfSteps(steps: readonly TupleStep[]): string {
  return steps
    .map(({ kind, tuple: { user, relation, object, condition } }) => {
      const context = condition?.context === undefined ? "" : ` ${JSON.stringify(condition.context)}`
      const under = condition == null ? "" : ` with ${condition.name}${context}`
      return `${kind === "add" ? "+" : "-"}${user} ${relation} ${object}${kind === "add" ? under : ""}`
    })
    .join("\n")
}

function contextIn(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

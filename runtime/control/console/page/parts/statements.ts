import { type Signal, signal } from "@preact/signals"
import { printSteps, type ShownStep } from "./plan-desk.ts"

type Statement = Signal<string | undefined>

/** By the step as JSON. Routes of a plan share most of their steps, and a page has few different ones. */
const known = new Map<string, Statement>()
const knownMax = 5_000
const waiting: (readonly [ShownStep, Statement])[] = []

/** The statement of a step; undefined until it is printed, and when it cannot be. All steps of a page are printed together, in a second thread. */
export function statementOf(step: ShownStep): Statement {
  const key = JSON.stringify(step)
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= knownMax) known.clear()
  const statement = signal<string | undefined>(undefined)
  known.set(key, statement)
  if (waiting.length === 0) queueMicrotask(printWaiting)
  waiting.push([step, statement])
  return statement
}

function printWaiting(): void {
  const now = waiting.splice(0)
  printSteps(now.map(([step]) => step)).then(
    (statements) => {
      for (const [at, [, statement]] of now.entries()) statement.value = statements[at] ?? undefined
    },
    // The kinds of the steps stay on the page.
    () => undefined,
  )
}

import { closes, neutral, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import { scopeName } from "../lower/counting.ts"
import { idsOf, type Lowered, type StepContext } from "../lower/step.ts"
import { statement } from "../print.ts"
import { type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

const concurrencyArgs = [slot("max", "count", { min: 1, max: 1_000_000 }), word("by"), slot("key", "text")]

/** The statement in a scope. */
export const concurrency: StatementRow = {
  keyword: "concurrency",
  several: true,
  forms: [{ args: concurrencyArgs }],
  docs: "At most N requests with one key run at a time; more get 429.",
  example: 'concurrency 10 by "${request.ip}"',
}

/** `concurrency N by "key" { … }` in `inbound`, optionally with a block. */
export const concurrencyBlock: StatementDefinition = {
  row: {
    ...concurrency,
    forms: [{ args: concurrencyArgs, block: "inbound" }],
    docs: "At most N requests with one key run inside the block (without a block: are served) at a time; more get 429.",
  },
  lower: (bound, context) => {
    const inside = context.block(bound.block, context.place)
    return concurrencyStep(bound, `${scopeName(context.scope)}: ${keyWords(bound)}`, inside, context)
  },
}

/** `concurrency N by "key"` of a scope: counts a request until its response is sent. */
export function lowerConcurrency(
  bound: BoundStatement,
  scope: string,
  context: StepContext,
): Lowered | undefined {
  return concurrencyStep(bound, `${scopeName(scope)}: ${keyWords(bound)}`, [], context)
}

/** `counter` is limited to 512 characters, as the plan's schema demands. `inside`: the steps while which a request counts. */
function concurrencyStep(
  bound: BoundStatement,
  counter: string,
  inside: readonly Lowered[],
  { texts, place, steps }: StepContext,
): Lowered | undefined {
  const max = bound.args.value<number>("max")
  const keyAt = bound.args.text("key")
  const key = keyAt === undefined ? undefined : texts.lower(keyAt, place)
  if (max === undefined || key === undefined) return undefined
  const step = {
    kind: "limit-concurrency" as const,
    counter: counter.slice(0, 512),
    key,
    max,
    steps: idsOf(inside),
  }
  return steps.add(step, headSpan(bound.statement), { steps: inside })
}

/** The key as written. It names the counter, which survives a new plan with the same key. */
function keyWords({ args }: BoundStatement): string {
  const span = args.get("key")?.argument.span
  return span === undefined ? "" : span.file.text.slice(span.start, span.end)
}

/** Printing and comparison of a step that limits the number of concurrent requests. */
export const limitConcurrency: StepText<"limit-concurrency"> = {
  print: ({ max, key, steps }, printing) =>
    statement(`concurrency ${max} by ${textWords(key)}`, printing.inside(steps)),
  identities: ({ counter }) => [`concurrency ${counter}`, "concurrency"],
  added: (step, effects) => [
    closes(refused(step.max)),
    ...(step.steps.length === 0 ? [] : effects.inside(step)),
  ],
  removed: (step, effects) => [opens(unbounded), ...(step.steps.length === 0 ? [] : effects.inside(step))],
  changed: {
    counter: () => neutral("concurrent requests are counted from zero"),
    key: () => opens("concurrent requests are counted by another key"),
    max: (before, after) => {
      const words = `${after} instead of ${before} requests may run at a time`
      return after > before ? opens(words) : closes(words)
    },
    // Reported with the inner steps.
    steps: () => [],
  },
  block: {
    place: () => "concurrency",
    wrapping: ({ max }) => [closes(refused(max))],
    unwrapping: () => [opens(unbounded)],
  },
}

const refused = (max: number) => `requests beyond ${max} at a time get 429`
const unbounded = "any number of requests may be served at a time"

import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Lowered, StepContext } from "./step.ts"

/** Default maximum size of a validated body, in bytes. */
export const bytesDefault = 1_000_000

/** The action for invalid messages. */
export function actionOf({ args }: BoundStatement): ViolationAction {
  return args.value<ViolationAction>("action") ?? "prevent"
}

/** The variable that receives the validation errors. */
export function errorsOf({ block }: BoundStatement): { readonly errors?: string } {
  const errors = statementOf(block, "errors")?.args.value<string>("variable")
  return errors === undefined ? {} : { errors }
}

/** Adds a validation step. Later statements can read its errors. */
export function addJudging(
  step: Parameters<StepContext["steps"]["add"]>[0] & { readonly errors?: string | undefined },
  { statement }: BoundStatement,
  { steps }: StepContext,
): Lowered {
  const lowered = steps.add(step, headSpan(statement))
  return step.errors === undefined ? lowered : { ...lowered, declares: { [step.errors]: "dyn" } }
}

/** Reads the names in a block by keyword, and reports duplicates. */
export class NamesOnce {
  readonly #seen = new Set<string>()
  readonly #bound: BoundStatement
  readonly #slot: string
  readonly #report: StepContext["report"]

  constructor(bound: BoundStatement, slot: string, { report }: StepContext) {
    this.#bound = bound
    this.#slot = slot
    this.#report = report
  }

  /** The values of all statements with a keyword. A value in two lists is reported: only one of them can apply. */
  of(keyword: string): string[] {
    return statementsOf(this.#bound.block, keyword).flatMap(({ args }) =>
      args.all(this.#slot).flatMap(({ value, argument }) => {
        if (typeof value !== "string") return []
        if (this.#seen.has(value)) this.#report.add("SP2016", argument.span, `\`${value}\` is already listed`)
        this.#seen.add(value)
        return [value]
      }),
    )
  }
}

import type { BlockStep, Step } from "../../../runtime/plan/steps.ts"
import type { Printed, Printing } from "../../gateway/print.ts"
import { printStep as statementOf } from "../../gateway/step-texts.ts"
import { none, refuse } from "./translation.ts"
import { headerCase, textLines } from "./write-text.ts"

/** The statement that creates this step, without the steps inside. @throws NoCounterpart */
export function printStep(step: Step): string[] {
  // A `case` for each backend of the gateway: here only the backends that the document names are known.
  if (step.kind === "set-backend" && "by" in step.target)
    return none("a backend whose id is computed per request: list the backends with `backend by`")
  return printedLines(step)
}

/** The same with the steps inside it. @throws NoCounterpart */
export function printWith(step: Step, inside: readonly Step[]): string[] {
  return printedLines(step, inside)
}

/** The first line of the statement of a step with blocks. @throws NoCounterpart */
export function headOf(step: BlockStep): string {
  return printed(step).head
}

/** Reasons why the language cannot express a step. */
export function lackingOf(step: Step): readonly string[] {
  return printTo(step).lacking
}

/** The lines of a step, if the language can express it. @throws NoCounterpart */
function printedLines(step: Step, inside: readonly Step[] = []): string[] {
  return linesOf(printed(step, inside))
}

function printed(step: Step, inside: readonly Step[] = []): Printed {
  const { statement, lacking } = printTo(step, inside)
  const [why] = lacking
  return why === undefined ? statement : refuse(why)
}

/** The statement of a step, and what of the step it cannot express. */
function printTo(
  step: Step,
  inside: readonly Step[] = [],
): { statement: Printed; lacking: readonly string[] } {
  const lacking: string[] = []
  const printing: Printing = {
    body: undefined,
    inSection: true,
    inside: () => inside.map((each) => statementOf(each, printing)),
    header: headerCase,
    lacks: (what) => lacking.push(`there is no counterpart for ${what}`),
    refuses: (why) => lacking.push(why),
  }
  return { statement: statementOf(step, printing), lacking }
}

function linesOf({ head, text, block }: Printed): string[] {
  const own = text === undefined ? [head] : textLines(head, text)
  if (block.length === 0) return own
  return [...own.slice(0, -1), `${own.at(-1)} {`, ...block.flatMap(linesOf), "}"]
}

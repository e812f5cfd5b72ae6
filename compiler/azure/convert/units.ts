import type { Step } from "../../../runtime/plan/steps.ts"
import type { Element, PolicyDocument } from "../ast.ts"

/** A part of a block of the text, in document order. */
export type Unit =
  | { readonly kind: "comment"; readonly lines: readonly string[] }
  | ConvertedStatement
  | ConversionLoss

/** A policy with a statement. */
export interface ConvertedStatement {
  readonly kind: "statement"
  readonly element: Element
  /** The steps of the statement in the plan. */
  readonly steps: readonly Step[]
  /** For `check any`: the checks, of which one must pass. */
  readonly ways?: readonly Step[]
  /** All lines, or the lines up to the first block. */
  readonly lines: readonly string[]
  /** Lists of steps inside. Each begins with a line that ends in `{`, after the `}` of the previous one. */
  readonly blocks: readonly ConvertedBlock[]
}

/** A block of a statement; `open` is its first line. A `choose` has one block for each branch. */
export interface ConvertedBlock {
  readonly open: string
  readonly units: readonly Unit[]
  /** For a `choose`: the branch. */
  readonly element?: Element
}

/** A policy without a statement, or with an incomplete one. */
export interface ConversionLoss {
  readonly kind: "loss"
  readonly element: Element
  readonly document: PolicyDocument
  readonly reason: string
  /** Requests get a 501 response in its place, because it may be a guard or change what the backend may see. */
  readonly closed: boolean
  /** Variables it would have set. Only when requests end here: later readers are still converted and find the variables set. */
  readonly sets?: readonly Step[]
  /** For a `choose`: the branch whose condition is not translated, and the replacement text. */
  readonly branch?: { readonly element: Element; readonly rest: Unit }
}

/** A line of the text and its source policy. */
export interface ConvertedLine {
  readonly text: string
  readonly element?: Element
}

/** The 501 response in place of a policy that must be written by hand. */
export function stand(loss: ConversionLoss): string {
  const { document, element, branch } = loss
  const { line } = document.file.position((branch?.element ?? element).span.start)
  return `respond 501 { body text ${JSON.stringify(`To be written by hand: ${element.name}, ${document.file.path} line ${line}`)} }`
}

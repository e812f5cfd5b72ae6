import type { Step } from "../../../runtime/plan/steps.ts"
import type { Element, PolicyDocument } from "../ast.ts"

/** What stands in a block of the text, in the order of the document. */
export type Unit =
  | { readonly kind: "comment"; readonly lines: readonly string[] }
  | ConvertedStatement
  | ConversionLoss

/** A policy that has a statement. */
export interface ConvertedStatement {
  readonly kind: "statement"
  readonly element: Element
  /** What the statement becomes in the plan. */
  readonly steps: readonly Step[]
  /** Of `check any`: the checks of which one is enough. */
  readonly ways?: readonly Step[]
  /** All lines, or those up to its first block. */
  readonly lines: readonly string[]
  /** Lists of steps inside: each opens with a line that ends in `{`, behind the `}` of the one before. */
  readonly blocks: readonly ConvertedBlock[]
}

/** `place` is the field of the step that holds the list; `choose` has one step for each `when`. */
export interface ConvertedBlock {
  readonly open: string
  readonly units: readonly Unit[]
  /** Of a `choose`: the branch. */
  readonly element?: Element
}

/** A policy that has no statement, or whose statement is not all of it. */
export interface ConversionLoss {
  readonly kind: "loss"
  readonly element: Element
  readonly document: PolicyDocument
  readonly reason: string
  /** Calls are answered 501 in its place: it may be what refuses them, or what makes them what the backend may see. */
  readonly closed: boolean
  /** Variables it would have set, where calls end: what reads them behind is converted all the same, and finds them set. */
  readonly sets?: readonly Step[]
  /** Of a `choose`: the branch whose condition is still to be written, and what stands in the text until then. */
  readonly branch?: { readonly element: Element; readonly rest: Unit }
}

/** A line of the text and the policy it comes from. */
export interface ConvertedLine {
  readonly text: string
  readonly element?: Element
}

/** The status and sentence of the answer in the place of what is still to be written. */
export function stand(loss: ConversionLoss): string {
  const { document, element, branch } = loss
  const { line } = document.file.position((branch?.element ?? element).span.start)
  return `respond 501 { body text ${JSON.stringify(`To be written by hand: ${element.name}, ${document.file.path} line ${line}`)} }`
}

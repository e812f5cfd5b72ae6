import type { Step } from "../../../runtime/plan/steps.ts"
import { attributeOf, type Element, elementsOf, type PolicyDocument } from "../ast.ts"
import { policiesIn } from "./holders.ts"

/** Tokens that every request has passed a check for: those of `validate-jwt` directly in `inbound`, by the header they came in. */
export class CheckedTokens {
  readonly #byHeader = new Map<string, Element>()
  readonly #always: ReadonlySet<Element>
  /** Checks whose token an expression reads, so that they must store it in a variable. */
  readonly #read: Set<Element>

  /** `read`: the checks that earlier drafts found to be read. This draft adds to it. */
  constructor({ root }: PolicyDocument, read: Set<Element>) {
    const inbound = root === undefined ? undefined : elementsOf(root).find(({ name }) => name === "inbound")
    this.#always = new Set(inbound === undefined ? [] : elementsOf(inbound))
    this.#read = read
  }

  /** The step with an output variable, when its token is read. */
  withOutput(step: Step, element: Element): Step {
    if (step.kind !== "validate-jwt" || step.output !== undefined || !this.#read.has(element)) return step
    return { ...step, output: this.#variableOf(element) }
  }

  /** Whether every request passes a policy: it is directly in `inbound`. */
  runsAlways(element: Element): boolean {
    return this.#always.has(element)
  }

  /** Records a check that every request has passed. */
  see(step: Step, element: Element): void {
    if (step.kind !== "validate-jwt" || !this.#always.has(element) || !("header" in step.from)) return
    const { header, scheme } = step.from
    if (scheme === null || scheme.toLowerCase() === "bearer") this.#byHeader.set(header, element)
  }

  /** A policy that changes a header invalidates its checked token. */
  forget(element: Element): void {
    for (const policy of policiesIn(element)) {
      // Authentication policies overwrite Authorization, except those that write the token to a variable.
      const isOurs =
        policy.name.startsWith("authentication-") &&
        attributeOf(policy, "output-token-variable-name") === undefined
      if (isOurs) this.#byHeader.delete("authorization")
      if (policy.name !== "set-header") continue
      const raw = attributeOf(policy, "name")?.raw
      const name = raw?.kind === "text" ? raw.span.file.text.slice(raw.span.start, raw.span.end) : undefined
      if (name === undefined) this.#byHeader.clear()
      else this.#byHeader.delete(name.toLowerCase())
    }
  }

  /** The variable with the token of a header, by its name in the document. Undefined when no check covers that header. */
  of(header: string): string | undefined {
    const element = this.#byHeader.get(header.toLowerCase())
    if (element === undefined) return undefined
    const raw = attributeOf(element, "output-token-variable-name")?.raw.span
    if (raw !== undefined) return raw.file.text.slice(raw.start, raw.end)
    this.#read.add(element)
    return this.#variableOf(element)
  }

  #variableOf(element: Element): string {
    const at = [...this.#always].filter(({ name }) => name === "validate-jwt").indexOf(element)
    return at > 0 ? `checked_token_${at + 1}` : "checked_token"
  }
}

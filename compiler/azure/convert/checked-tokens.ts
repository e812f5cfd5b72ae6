import type { Step } from "../../../runtime/plan/steps.ts"
import { attributeOf, type Element, elementsOf, type PolicyDocument } from "../ast.ts"
import { policiesIn } from "./holders.ts"

/** The tokens that every call has shown when a policy runs: of `validate-jwt`s that stand in `inbound` itself, by the header they came in. */
export class CheckedTokens {
  readonly #byHeader = new Map<string, Element>()
  readonly #always: ReadonlySet<Element>
  /** Checks whose token is read from its header, so that they leave it in a variable. */
  readonly #read: Set<Element>

  /** `read`: what earlier drafts have found to be read, and this one adds to. */
  constructor({ root }: PolicyDocument, read: Set<Element>) {
    const inbound = root === undefined ? undefined : elementsOf(root).find(({ name }) => name === "inbound")
    this.#always = new Set(inbound === undefined ? [] : elementsOf(inbound))
    this.#read = read
  }

  /** The step, with the variable its token is read from. */
  withOutput(step: Step, element: Element): Step {
    if (step.kind !== "validate-jwt" || step.output !== undefined || !this.#read.has(element)) return step
    return { ...step, output: this.#variableOf(element) }
  }

  /** Whether every call comes through a policy: it stands in `inbound` itself. */
  runsAlways(element: Element): boolean {
    return this.#always.has(element)
  }

  /** A check of every call is behind us. */
  see(step: Step, element: Element): void {
    if (step.kind !== "validate-jwt" || !this.#always.has(element) || !("header" in step.from)) return
    const { header, scheme } = step.from
    if (scheme === null || scheme.toLowerCase() === "bearer") this.#byHeader.set(header, element)
  }

  /** What a policy does to headers: then they are no longer what was checked. */
  forget(element: Element): void {
    for (const policy of policiesIn(element)) {
      // Whoever we are to the backend is said in Authorization, but for a token that goes into a variable.
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

  /** The variable with the token of a header, by its name in the document; undefined where nothing has checked it. */
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

import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { BlockStep, CredentialStep, Step, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { FieldRules, Finding } from "../analysis/finding.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import type { LowerStep } from "./lower/step.ts"
import type { Printed, Printing } from "./print.ts"
import type { Form, StatementRow } from "./schema/row.ts"

/** A statement of the language: what the binder accepts, and how it is lowered to a step. */
export interface StatementDefinition {
  readonly row: StatementRow
  readonly lower: LowerStep
}

/** One form of a statement whose forms produce steps of different kinds. */
export interface StatementForm {
  readonly form: Form
  readonly lower: LowerStep
}

/** Lowers a statement by its form, which is selected by the first word. */
export function byFirstWord(forms: Readonly<Record<string, StatementForm>>): LowerStep {
  return (bound, context) => {
    const [first] = bound.statement.args
    return first?.kind === "word" ? forms[first.text]?.lower(bound, context) : undefined
  }
}

/** The fields of a kind of step. */
export type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** The context of a step for the assessment of its effects. */
export interface Effects {
  readonly steps: PlanBody["steps"]
  /** Whether the route accepts OPTIONS. Then preflights that no step handles reach its backend. */
  readonly takesOptions: boolean
  /** The effects of the inner steps of a step, if they are added or removed with it. */
  inside(step: Step): Finding[]
}

/** The plans whose steps are compared. */
export interface ComparedPlans {
  readonly before: PlanBody
  readonly after: PlanBody
  readonly schemas: SchemaComparison
  /** The effects for requests that ran the steps of `gone` before, and run those of `come` now. */
  effectsOf(gone: readonly string[], come: readonly string[]): Finding[]
}

/** How a kind of step is printed and compared. The statements that produce it are defined separately. */
interface CommonText<Kind extends StepKind> {
  /** The statement that produces the step, without settings that have their default. */
  readonly print: (step: StepOf<Kind>, printing: Printing) => Printed
  /** Keys that identify the statement, the most specific first. Steps of two plans are paired level by level, also across kinds. */
  readonly identities: (step: StepOf<Kind>) => readonly string[]
  /** What it means that the step is added. */
  readonly added: (step: StepOf<Kind>, effects: Effects) => readonly Finding[] | Finding
  /** What it means that the step is removed. */
  readonly removed: (step: StepOf<Kind>, effects: Effects) => readonly Finding[] | Finding
  /** What a difference means: a rule for each field, or one function for the whole step. */
  readonly changed:
    | FieldRules<Fields<Kind>>
    | ((before: StepOf<Kind>, after: StepOf<Kind>, plans: ComparedPlans) => readonly Finding[])
}

/** How a step with blocks of statements is compared. */
export interface BlockText<Kind extends StepKind> {
  /** The description of a block: `else of when (…)`. `place` is the field that holds it. */
  readonly place: (step: StepOf<Kind>, place: string) => string
  /** What it means that a step was moved into this block; `removed`: what its removal would mean. */
  readonly wrapping: (step: StepOf<Kind>, removed: readonly Finding[]) => readonly Finding[]
  /** What it means that a step was moved out of this block; `added`: what its addition would mean. */
  readonly unwrapping: (step: StepOf<Kind>, added: readonly Finding[]) => readonly Finding[]
}

/** How a step that authenticates callers is described and compared. */
export interface CredentialText<Kind extends StepKind> {
  /** The credential in words: `a subscription key`. */
  readonly credential: (step: StepOf<Kind>) => string
  /** Its alternatives, each as a separate step: one for each issuer of a token. */
  readonly ways: (step: StepOf<Kind>) => readonly StepOf<Kind>[]
  /** The OpenAPI security schemes that represent it, with their names. */
  readonly schemes: (step: StepOf<Kind>) => readonly (readonly [name: string, scheme: object])[]
}

/** How a kind of step is printed and compared. Kinds with blocks, and kinds that authenticate callers, have more entries. */
export type StepText<Kind extends StepKind> = CommonText<Kind> &
  (Kind extends BlockStep["kind"] ? { readonly block: BlockText<Kind> } : unknown) &
  (Kind extends CredentialStep["kind"] ? { readonly way: CredentialText<Kind> } : unknown)

/** Identities of a statement about something with a name. */
export function namedIdentities(what: string, name: unknown, action: string): string[] {
  const of = `${what} ${canonicalJson(name)}`
  return [`${of} ${action}`, of]
}

/** Findings for a step that no longer runs for all requests. Each begins with `why`. */
export function lacking(why: string, removed: readonly Finding[]): Finding[] {
  return removed.map((each) => ({ risk: each.risk, why: `${why}, ${each.why}` }))
}

/** Findings for a step that now runs for all requests. Each begins with `why`. */
export function always(why: string, added: readonly Finding[]): Finding[] {
  return added.map((each) => ({ risk: each.risk, why: `${why}: ${each.why}` }))
}

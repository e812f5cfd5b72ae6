import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { BlockStep, CredentialStep, Step, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { FieldRules, Finding } from "../analysis/finding.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import type { LowerStep } from "./lower/step.ts"
import type { Printed, Printing } from "./print.ts"
import type { Form, StatementRow } from "./schema/row.ts"

/** A statement of the language: what the binder accepts, and how it becomes a step. */
export interface StatementDefinition {
  readonly row: StatementRow
  readonly lower: LowerStep
}

/** One of the forms of a statement that makes steps of several kinds. */
export interface StatementForm {
  readonly form: Form
  readonly lower: LowerStep
}

/** Lowers a statement by the form it is written in, whose first word is its key. */
export function byFirstWord(forms: Readonly<Record<string, StatementForm>>): LowerStep {
  return (bound, context) => {
    const [first] = bound.statement.args
    return first?.kind === "word" ? forms[first.text]?.lower(bound, context) : undefined
  }
}

/** The fields of a kind of step. */
export type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** What the meaning of a step may depend on besides the step. */
export interface Effects {
  readonly steps: PlanBody["steps"]
  /** Whether the route takes OPTIONS: preflights that nobody answers go on to its backend. */
  readonly takesOptions: boolean
  /** What the steps inside of a step mean, were they added or removed with it. */
  inside(step: Step): Finding[]
}

/** The plans whose steps are compared. */
export interface ComparedPlans {
  readonly before: PlanBody
  readonly after: PlanBody
  readonly schemas: SchemaComparison
  /** Steps of these lists are gone, and of those there are more requests to do them for. */
  effectsOf(gone: readonly string[], come: readonly string[]): Finding[]
}

/** What the compiler knows of a kind of step, besides the statements that make it. */
interface CommonText<Kind extends StepKind> {
  /** The statement that makes the step. What the statement leaves to its default is left out. */
  readonly print: (step: StepOf<Kind>, printing: Printing) => Printed
  /** What makes two steps the same statement, the surest first; steps of two plans are paired level by level, of one kind or of several. */
  readonly identities: (step: StepOf<Kind>) => readonly string[]
  /** What it means that the step is there now. */
  readonly added: (step: StepOf<Kind>, effects: Effects) => readonly Finding[] | Finding
  /** What it means that the step is gone. */
  readonly removed: (step: StepOf<Kind>, effects: Effects) => readonly Finding[] | Finding
  /** What a difference means: a rule for each field, or one for the whole. */
  readonly changed:
    | FieldRules<Fields<Kind>>
    | ((before: StepOf<Kind>, after: StepOf<Kind>, plans: ComparedPlans) => readonly Finding[])
}

/** What is known of a step that holds blocks of statements. */
export interface BlockText<Kind extends StepKind> {
  /** A block as a place: `else of when (…)`. `place` is the field that holds it. */
  readonly place: (step: StepOf<Kind>, place: string) => string
  /** What it means that a step stands inside of it now; `removed`: what it would mean if that were gone. */
  readonly wrapping: (step: StepOf<Kind>, removed: readonly Finding[]) => readonly Finding[]
  /** The other way; `added`: what it would mean if the step were new. */
  readonly unwrapping: (step: StepOf<Kind>, added: readonly Finding[]) => readonly Finding[]
}

/** What is known of a step that lets in who shows a credential. */
export interface CredentialText<Kind extends StepKind> {
  /** The credential in words: `a subscription key`. */
  readonly credential: (step: StepOf<Kind>) => string
  /** Its ways in, each as a step of its own: one for each issuer of a token. */
  readonly ways: (step: StepOf<Kind>) => readonly StepOf<Kind>[]
  /** Security schemes of OpenAPI that stand for it, by the names they get. */
  readonly schemes: (step: StepOf<Kind>) => readonly (readonly [name: string, scheme: object])[]
}

/** What the compiler knows of a kind of step. A kind that holds blocks, or lets callers in, has more to say. */
export type StepText<Kind extends StepKind> = CommonText<Kind> &
  (Kind extends BlockStep["kind"] ? { readonly block: BlockText<Kind> } : unknown) &
  (Kind extends CredentialStep["kind"] ? { readonly way: CredentialText<Kind> } : unknown)

/** Identities of a statement about something named. */
export function namedIdentities(what: string, name: unknown, action: string): string[] {
  const of = `${what} ${canonicalJson(name)}`
  return [`${of} ${action}`, of]
}

/** Findings that hold where a step is not done for all requests any more: each begins with `why`. */
export function lacking(why: string, removed: readonly Finding[]): Finding[] {
  return removed.map((each) => ({ risk: each.risk, why: `${why}, ${each.why}` }))
}

/** Findings that hold where a step is done for all requests now: each begins with `why`. */
export function always(why: string, added: readonly Finding[]): Finding[] {
  return added.map((each) => ({ risk: each.risk, why: `${why}: ${each.why}` }))
}

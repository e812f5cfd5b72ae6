import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import type { SourceFile, Span } from "../core/source.ts"

/** A model that a store file names: loaded for questions, with the places of its parts. */
export interface TestedModel {
  /** With its parts in the order of plans, so that equal models have equal digests. */
  readonly loaded: LoadedModel
  /** Display name: the path of its file. */
  readonly name: string
  /** The place where a relation is declared, or without `relation` the type. Undefined for a model in JSON. */
  placeOf(type: string, relation?: string): Span | undefined
  /** Where a condition is declared. */
  placeOfCondition(name: string): Span | undefined
}

/** A tuple and its place. */
export interface PlacedTuple {
  readonly key: TupleKey
  readonly span: Span
  /** The places of its parts, where they are known. */
  readonly places?: Readonly<Partial<Record<"user" | "relation" | "object", Span | undefined>>>
}

/** Common to all questions. `span` is the assertion, `places` are the places of the question's words. */
interface Asked {
  readonly relation: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly span: Span
  readonly places: Readonly<Partial<Record<"user" | "object" | "type" | "filter", Span>>>
}

/** Does the user have the relation on the object? */
export interface CheckQuestion extends Asked {
  readonly kind: "check"
  readonly user: string
  readonly object: string
  readonly expected: boolean
}

/** On which objects of the type does the user have the relation? */
export interface ListObjectsQuestion extends Asked {
  readonly kind: "list_objects"
  readonly user: string
  readonly type: string
  /** Objects as `type:id`, in any order. */
  readonly expected: readonly string[]
}

/** Which users of the filter's kind have the relation on the object? */
export interface ListUsersQuestion extends Asked {
  readonly kind: "list_users"
  readonly object: string
  readonly filter: { readonly type: string; readonly relation?: string | undefined }
  /** Users as `type:id`, `type:*` or `type:id#relation`, in any order. */
  readonly expected: readonly string[]
}

/** One assertion: a question and the expected answer. */
export type TestAssertion = CheckQuestion | ListObjectsQuestion | ListUsersQuestion

/** An entry of `tests`. */
export interface ModelTest {
  readonly name: string
  readonly description: string | undefined
  readonly span: Span
  /** The tuples of the store and of the test. Tests without own tuples share one list. */
  readonly tuples: readonly TupleKey[]
  readonly questions: readonly TestAssertion[]
}

/** One store of a store file (a file may hold several, as YAML documents): a model, tuples, and tests. */
export interface TestSuite {
  readonly file: SourceFile
  readonly name: string
  /** The place that names or contains the model. */
  readonly modelSpan: Span
  readonly model: TestedModel
  /** The tuples of the store, without those of single tests. */
  readonly tuples: readonly TupleKey[]
  readonly tests: readonly ModelTest[]
}

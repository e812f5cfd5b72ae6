import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import type { SourceFile, Span } from "../core/source.ts"

/** A model as a store file names it: ready for questions, and where its parts stand. */
export interface TestedModel {
  /** Its parts in the order of plans, so that equal models have equal digests. */
  readonly loaded: LoadedModel
  /** What people call it: the path of its file. */
  readonly name: string
  /** Where a relation or, without `relation`, a type is declared; undefined for a model in JSON. */
  placeOf(type: string, relation?: string): Span | undefined
  /** Where a condition is declared. */
  placeOfCondition(name: string): Span | undefined
}

/** A tuple and where it stands. */
export interface PlacedTuple {
  readonly key: TupleKey
  readonly span: Span
}

/** What all questions have; `span` is the assertion, `places` where the words of the question stand. */
interface Asked {
  readonly relation: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly span: Span
  readonly places: Readonly<Partial<Record<"user" | "object" | "type" | "filter", Span>>>
}

/** Has the user the relation on the object? */
export interface CheckQuestion extends Asked {
  readonly kind: "check"
  readonly user: string
  readonly object: string
  readonly expected: boolean
}

/** On which objects of the type has the user the relation? */
export interface ListObjectsQuestion extends Asked {
  readonly kind: "list_objects"
  readonly user: string
  readonly type: string
  /** Objects as `type:id`; their order means nothing. */
  readonly expected: readonly string[]
}

/** Which users of the filter's kind have the relation on the object? */
export interface ListUsersQuestion extends Asked {
  readonly kind: "list_users"
  readonly object: string
  readonly filter: { readonly type: string; readonly relation?: string | undefined }
  /** Users as `type:id`, `type:*` or `type:id#relation`; their order means nothing. */
  readonly expected: readonly string[]
}

/** One assertion: a question and the answer that is expected. */
export type TestAssertion = CheckQuestion | ListObjectsQuestion | ListUsersQuestion

/** An entry of `tests`. */
export interface ModelTest {
  readonly name: string
  readonly description: string | undefined
  readonly span: Span
  /** The store's tuples and its own; one list for all tests that have none of their own. */
  readonly tuples: readonly TupleKey[]
  readonly questions: readonly TestAssertion[]
}

/** One store of a store file (a file may hold several, as YAML documents): a model, tuples, and tests. */
export interface TestSuite {
  readonly file: SourceFile
  readonly name: string
  /** Where the model is named, or written. */
  readonly modelSpan: Span
  readonly model: TestedModel
  readonly tests: readonly ModelTest[]
}

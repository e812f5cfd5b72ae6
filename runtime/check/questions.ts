import type { CheckError, CheckRequest, Commit, Explanation, TupleKey } from "./ports.ts"

/** The required freshness of an answer. */
export interface Freshness {
  /** `higher-consistency` first asks the database for its revision and catches up to it. */
  readonly consistency?: "minimize-latency" | "higher-consistency" | undefined
  /** A commit (the token of a write) that the answer must include. */
  readonly atLeast?: Commit | undefined
  /** Exactly this commit, past or present: the commit of a cursor. */
  readonly exactly?: Commit | undefined
}

/** The optional parts of every question. */
export interface Circumstances {
  /** Count as stored for this question and hide stored ones with the same key; validated like writes. */
  readonly contextualTuples?: readonly TupleKey[] | undefined
  /** Values for conditions. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** The requested part of a list. Without `pageSize`: the whole list. */
export interface Paging {
  /** Maximum number of items, in order of name. */
  readonly pageSize?: number | undefined
  /** The last name of the previous page; the list contains only names after it (compared byte by byte in UTF-8). */
  readonly after?: string | undefined
  /** Maximum items of one answer, with or without pages; a list that it cuts has `truncated: "limit"`. Absent: no maximum. */
  readonly resultsMax?: number | undefined
  /** Time for the list in milliseconds; a list that it cuts has `truncated: "deadline"`. */
  readonly deadlineMs?: number | undefined
}

/** Whether a list is complete, and the one commit at which all items are true. */
export interface ListEnd extends Commit {
  /** The position of the next page (its `after`); absent when the list is complete. */
  readonly next?: string | undefined
  /** Why the list is incomplete although no page size ended it. */
  readonly truncated?: "limit" | "deadline" | undefined
}

/** Which objects of a type has the user the relation on? */
export interface ListObjectsRequest extends Circumstances, Paging {
  /** `type:id`, `type:*` or `type:id#relation`. */
  readonly user: string
  readonly relation: string
  readonly type: string
}

/** The JSON form of a name: a string, or inside a value. */
export interface JsonForm {
  /** The text before and after the name, including the quotes of its string. */
  readonly before: string
  readonly behind: string
  /** Bytes to skip at the beginning of the name. */
  readonly skip: number
  /** Omits the common suffix of all names as well. */
  readonly bare?: boolean
  /** The JSON for a name of which only `*` is left. */
  readonly wildcard?: string
  /** Names with a form that differs from the stored one. */
  readonly rewritten?: Rewriting
}

/** Rewrites some names, without their skipped bytes. Two with the same `name` are equivalent. */
export interface Rewriting {
  readonly name: string
  /** An ASCII character that every rewritten name contains. */
  readonly having: string
  readonly decoded: (name: string) => string
}

/** Objects as `type:id`, each once; in order of name when a page size, a limit or a deadline applied. */
export interface ListObjectsAnswer extends ListEnd {
  readonly objects: readonly string[]
}

/** Which users have the relation on the object? Only users of the filter's type, or usersets `type#relation` when it names a relation. */
export interface ListUsersRequest extends Circumstances, Paging {
  readonly object: string
  readonly relation: string
  readonly filter: { readonly type: string; readonly relation?: string | undefined }
}

/**
 * `users` are `type:id`, `type:id#relation` and `type:*`. Without `type:*` they are all single users that the check allows. `type:*` covers
 * the others; then a single user is listed only when the check allows it and a tuple that is not a wildcard names it on a true branch.
 * `excluded` are users named in the store that the wildcard in `users` does not cover, because the check denies them.
 */
export interface ListUsersAnswer extends ListEnd {
  readonly users: readonly string[]
  readonly excluded: readonly string[]
}

/** Which relations has the user on the object? All of its type when `relations` is absent. */
export interface ListRelationsRequest extends Circumstances {
  readonly user: string
  readonly object: string
  readonly relations?: readonly string[] | undefined
}

/** In the order of the request, or of the model. `errors` contains the relations that could not be decided. */
export interface ListRelationsAnswer extends Commit {
  readonly relations: readonly string[]
  readonly errors: readonly { readonly relation: string; readonly error: CheckError }[]
}

/** One check of a batch, with its own context. */
export type BatchItem = Omit<CheckRequest, "consistency" | "atLeast">

/** Results in the order of the checks, all at one revision; an error in one check affects no other. */
export interface BatchCheckAnswer extends Commit {
  readonly results: readonly (BatchResult | CheckError)[]
}

/** The result of one check of a batch. */
export interface BatchResult {
  readonly allowed: boolean
  /** With `ternary`: the sorted names of the context values that would decide it; `allowed` is then false. */
  readonly missingContext?: readonly string[] | undefined
  readonly explanation?: Explanation | undefined
}

/** Each user × each relation × each object; objects may have different types. */
export interface MatrixRequest extends Circumstances {
  readonly users: readonly string[]
  readonly relations: readonly string[]
  readonly objects: readonly string[]
}

/** `cells[user][relation][object]`. A relation that the object's type does not have is false. */
export interface MatrixAnswer extends Commit {
  readonly cells: readonly (readonly (readonly (boolean | CheckError)[])[])[]
}

/** One level of the ways in which a relation on an object can hold, as in OpenFGA's `expand`. */
export interface ExpandRequest extends Circumstances {
  readonly object: string
  readonly relation: string
}

/** A node of OpenFGA's `UsersetTree`: `name` is `object#relation`, and exactly one of the other fields is present. */
export interface UsersetTreeNode {
  readonly name: string
  readonly leaf?:
    | { readonly users: { readonly users: readonly string[] } }
    | { readonly computed: { readonly userset: string } }
    | {
        readonly tupleToUserset: {
          readonly tupleset: string
          readonly computed: readonly { readonly userset: string }[]
        }
      }
    | undefined
  readonly union?: { readonly nodes: readonly UsersetTreeNode[] } | undefined
  readonly intersection?: { readonly nodes: readonly UsersetTreeNode[] } | undefined
  readonly difference?: { readonly base: UsersetTreeNode; readonly subtract: UsersetTreeNode } | undefined
}

/** The tree, and the commit of its tuples. */
export interface ExpandAnswer extends Commit {
  readonly root: UsersetTreeNode
}

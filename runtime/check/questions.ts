import type { CheckError, CheckRequest, Commit, Explanation, TupleKey } from "./ports.ts"

/** How fresh an answer must be. */
export interface Freshness {
  /** `higher-consistency` asks the database for the revision first and catches up to it. */
  readonly consistency?: "minimize-latency" | "higher-consistency" | undefined
  /** A commit (the token of a write) at or after which the answer must be true. */
  readonly atLeast?: Commit | undefined
  /** Exactly this commit, past or present: that of a cursor. */
  readonly exactly?: Commit | undefined
}

/** What every question may bring along. */
export interface Circumstances {
  /** Count as stored for this question and hide stored ones of the same key; validated as writes. */
  readonly contextualTuples?: readonly TupleKey[] | undefined
  /** Values for conditions. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** How much of a list is wanted. Without `pageSize` all of it. */
export interface Paging {
  /** At most so many items, in order of name. */
  readonly pageSize?: number | undefined
  /** The last name of the page before; only names after it (compared byte by byte in UTF-8) are given. */
  readonly after?: string | undefined
  /** The most items one answer may have whether paged or not; what is cut by it says `truncated: "limit"`. No bound when absent. */
  readonly resultsMax?: number | undefined
  /** Time for the list, in milliseconds; what is cut by it says `truncated: "deadline"`. */
  readonly deadlineMs?: number | undefined
}

/** What a list says of its own completeness, and the one commit all items are true at. */
export interface ListEnd extends Commit {
  /** Where the next page begins (its `after`); absent when the list is complete. */
  readonly next?: string | undefined
  /** Why the list ends before its end though no page size asked for that. */
  readonly truncated?: "limit" | "deadline" | undefined
}

/** Which objects of a type has the user the relation on? */
export interface ListObjectsRequest extends Circumstances, Paging {
  /** `type:id`, `type:*` or `type:id#relation`. */
  readonly user: string
  readonly relation: string
  readonly type: string
}

/** How a name is told in JSON: as a string, or inside a value. */
export interface JsonForm {
  /** What stands before the name and behind it, the quotes of its string included. */
  readonly before: string
  readonly behind: string
  /** Bytes of the name that are left out at its beginning. */
  readonly skip: number
  /** The suffix that all names have is left out as well. */
  readonly bare?: boolean
  /** What a name is told as of which only `*` is left. */
  readonly wildcard?: string
  /** Names that are told otherwise than they are stored. */
  readonly rewritten?: Rewriting
}

/** How some names are told, without what is skipped of them. Two of the same `name` do the same. */
export interface Rewriting {
  readonly name: string
  /** The ASCII character that every name has which is told otherwise. */
  readonly having: string
  readonly told: (name: string) => string
}

/** Objects as `type:id`, each once; in order of name where a page size, a limit or a deadline had a say. */
export interface ListObjectsAnswer extends ListEnd {
  readonly objects: readonly string[]
}

/** Who has the relation on the object? Only users of the filter's type, or usersets `type#relation` when it names a relation. */
export interface ListUsersRequest extends Circumstances, Paging {
  readonly object: string
  readonly relation: string
  readonly filter: { readonly type: string; readonly relation?: string | undefined }
}

/**
 * `users` are `type:id`, `type:id#relation` and `type:*`. Without `type:*` they are all single users whom the check allows. Beside `type:*`, which covers the others, a single
 * user is listed when the check allows it and a tuple that is not a wildcard names it on a branch that is true. `excluded` are users named in the store whom the wildcard in
 * `users` does not cover, because the check denies them.
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

/** In the order of the request, or of the model. `errors` are relations that could not be decided. */
export interface ListRelationsAnswer extends Commit {
  readonly relations: readonly string[]
  readonly errors: readonly { readonly relation: string; readonly error: CheckError }[]
}

/** One check of a batch; its own circumstances. */
export type BatchItem = Omit<CheckRequest, "consistency" | "atLeast">

/** Answers in the order of the checks, all at one revision; what one of them lacks is its own error and nobody else's. */
export interface BatchCheckAnswer extends Commit {
  readonly results: readonly (BatchResult | CheckError)[]
}

/** What one check of a batch came to. */
export interface BatchResult {
  readonly allowed: boolean
  /** With `ternary`: the sorted names of the context's values that would decide it; then `allowed` is false. */
  readonly missingContext?: readonly string[] | undefined
  readonly explanation?: Explanation | undefined
}

/** Each user × each relation × each object, all objects of types that may differ. */
export interface MatrixRequest extends Circumstances {
  readonly users: readonly string[]
  readonly relations: readonly string[]
  readonly objects: readonly string[]
}

/** `cells[user][relation][object]`. A relation that the object's type does not have is false. */
export interface MatrixAnswer extends Commit {
  readonly cells: readonly (readonly (readonly (boolean | CheckError)[])[])[]
}

/** One level of how a relation on an object comes about, as OpenFGA's `expand` answers. */
export interface ExpandRequest extends Circumstances {
  readonly object: string
  readonly relation: string
}

/** A node of OpenFGA's `UsersetTree`: `name` is `object#relation`, and one of the other fields is there. */
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

/** The tree, and the commit its tuples were read at. */
export interface ExpandAnswer extends Commit {
  readonly root: UsersetTreeNode
}

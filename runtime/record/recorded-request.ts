/** A name in lower case, and a value. */
export type RecordedField = readonly [name: string, value: string]

/** The head of a response of a backend. */
export interface RecordedResponse {
  /** Name of the backend in the plan. */
  readonly backend: string
  readonly status: number
  readonly headers: readonly RecordedField[]
}

/**
 * A request as the record has it, and what became of it. It has no credentials: neither their values nor anything that was made from them, except keyed
 * digests.
 */
export interface RecordedRequest {
  /** Arrival by the wall clock, in milliseconds since the epoch. */
  readonly atMs: number
  /** Digest of the plan that served it. */
  readonly plan: string
  readonly method: string
  /** Path and query as sent, without what was left out. */
  readonly target: string
  /** Host as the client sent it, with its port. */
  readonly host: string
  readonly headers: readonly RecordedField[]
  /** What was left out: `header:x-api-key`, `query:key`, and of responses `response:set-cookie`. */
  readonly left: readonly string[]
  /** Length of the body; null: unknown. */
  readonly bodyBytes: number | null
  /** The address of the client, or its network (/24 or /48) with zeros. */
  readonly ip: string
  /** `ip` is the whole address. */
  readonly wholeIp: boolean
  /** Pseudonym of the caller, the same in every request: a keyed digest of subscription, subject or address. */
  readonly caller: string
  /** Claims that the plan lists, and those that say who issued them, for whom and when. Absent: the caller has none. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Names of the other claims. `sub`: the recorded one is a pseudonym. */
  readonly claimsLeft?: readonly string[]
  readonly subscription?: { readonly name: string; readonly product: string | null }
  /** Answers to questions about relations: the mark of the question, and whether the caller is allowed. Null: there was no answer. */
  readonly answers: readonly (readonly [mark: string, allowed: boolean | null])[]
  /** Responses of backends, in order. */
  readonly responses: readonly RecordedResponse[]
  readonly outcome: {
    /** `METHOD /pattern` of the plan; null: no route. */
    readonly route: string | null
    /** 0: the client disconnected before. */
    readonly status: number
    readonly problem: string | null
    readonly reason: string | null
    /** Kind of the step that responded instead of a backend, and its place; null: no step did. */
    readonly by: readonly [kind: string, place: string] | null
  }
}

/** A question about a relation. */
export interface MarkedQuestion {
  readonly store: string
  readonly user: string
  readonly relation: string
  readonly object: string
}

/** The text whose keyed digest identifies a question. */
export function questionText({ store, user, relation, object }: MarkedQuestion): string {
  return JSON.stringify(["question", store, user, relation, object])
}

import { CheckError } from "../../runtime/check/ports.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { AccessAnswer, AccessRequest, Authorizer } from "../../runtime/policies/policy.ts"
import { questionText, type RecordedRequest } from "../../runtime/record/recorded-request.ts"

/** Why a question has no answer, in words for the person who replays. */
const newQuestion = "a question about a relation was not asked when it was recorded"

/** Answers questions about relations as the record does, for one plan. */
export class RecordedAnswers {
  /** Why a question of this request has no answer; undefined: all had one. */
  lack: string | undefined
  /** What questions were asked with: by question, the digest of its context and tuples. */
  readonly asked = new Map<string, string>()
  readonly #mark: (text: string) => string
  /** Stores whose models differ between the plans. */
  readonly #changedStores: ReadonlySet<string>
  #answers: ReadonlyMap<string, boolean | null> = new Map()
  #before: ReadonlyMap<string, string> | undefined

  constructor(mark: (text: string) => string, changedStores: ReadonlySet<string>) {
    this.#mark = mark
    this.#changedStores = changedStores
  }

  /** Begins a request. `before`: how the other plan asked its questions; undefined: it has not asked yet. */
  begin({ answers }: RecordedRequest, before: ReadonlyMap<string, string> | undefined): void {
    this.lack = undefined
    this.asked.clear()
    this.#before = before
    this.#answers = new Map(answers)
  }

  /** The authorizer of the stores, or of a decision point. */
  authorizer(pdp?: string): Authorizer {
    const check = (store: string, request: AccessRequest): AccessAnswer => {
      const allowed = this.#answer(pdp === undefined ? store : `pdp ${pdp}`, request)
      if (allowed === null) throw new CheckError("unavailable", "there was no answer when it was recorded")
      return { allowed, ...(pdp === undefined ? { revision: 0, stamp: "" } : {}) }
    }
    return {
      check,
      batch: (store, requests) => ({
        results: requests.map((request) => orError(() => check(store, request))),
      }),
      change: async () => undefined,
    }
  }

  #answer(
    store: string,
    { user, relation, object, context, contextualTuples, properties }: AskedRequest,
  ): boolean | null {
    const mark = this.#mark(questionText({ store, user, relation, object }))
    const found = this.#answers.get(mark)
    if (this.#changedStores.has(store))
      this.lack ??= `the model of the store \`${store}\` differs between the plans`
    if (found === undefined) {
      this.lack ??= newQuestion
      return null
    }
    const rest = { context, contextualTuples, properties }
    const used = Object.values(rest).every((each) => each === undefined)
      ? ""
      : digestOf(JSON.parse(JSON.stringify(rest)))
    this.asked.set(mark, used)
    const before = this.#before?.get(mark)
    if (before !== undefined && before !== used)
      this.lack ??= "a question about a relation is asked with another context"
    return found
  }
}

type AskedRequest = AccessRequest & { readonly context?: unknown; readonly contextualTuples?: unknown }

function orError(check: () => AccessAnswer): AccessAnswer | CheckError {
  try {
    return check()
  } catch (error) {
    if (error instanceof CheckError) return error
    throw error
  }
}

import type { AnswerNotes } from "../../policies/exchange.ts"
import type { RecordedField, RecordedResponse } from "../../record/recorded-request.ts"

/** An answer to a question about a relation; `allowed` undefined: there was none. */
export interface NotedAnswer {
  readonly store: string
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly allowed: boolean | undefined
}

/** What is kept of a request while it runs, because it will be recorded. */
export class Recording implements AnswerNotes {
  readonly answers: NotedAnswer[] = []
  readonly responses: RecordedResponse[] = []

  answered(
    store: string,
    { user, relation, object }: Pick<NotedAnswer, "user" | "relation" | "object">,
    allowed: boolean | undefined,
  ): void {
    // A filter asks about every item of a list.
    if (this.answers.length < answersMax) this.answers.push({ store, user, relation, object, allowed })
  }

  /** `flat`: names and values alternate. */
  responded(backend: string, status: number, flat: readonly string[]): void {
    const headers: RecordedField[] = []
    for (let at = 0; at < flat.length; at += 2)
      headers.push([(flat[at] as string).toLowerCase(), flat[at + 1] as string])
    if (this.responses.length < responsesMax) this.responses.push({ backend, status, headers })
  }
}

const answersMax = 1_000
const responsesMax = 16

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
    if (this.responses.length < responsesMax)
      this.responses.push({ backend, status, headers: rawFieldsOf(flat) })
  }
}

const answersMax = 1_000
const responsesMax = 16

/** Names and values of a message, the names in lower case. `raw`: they alternate. */
export function rawFieldsOf(raw: readonly string[]): RecordedField[] {
  const fields: RecordedField[] = []
  for (let at = 0; at < raw.length; at += 2)
    fields.push([(raw[at] as string).toLowerCase(), raw[at + 1] as string])
  return fields
}

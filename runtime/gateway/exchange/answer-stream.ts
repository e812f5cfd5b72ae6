import type { Problem } from "../../policies/messages/answer.ts"
import type { Deadlines } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"

/** The connection an answer comes from. */
export interface AnswerSource {
  /** Goes on after a `push` that answered false. */
  resume(): void
  /** Breaks the answer off: nobody wants the rest. */
  cut(): void
}

/** What comes behind the head of an answer. */
export interface AnswerStream {
  /** Sends status, header and the rest to the client, as the response is now. Answers what went wrong instead, when nothing was sent yet. */
  relay(): Problem | undefined
  /** Reads the whole body. Rejects with Refused when it is larger than `bytesMax` or breaks off. */
  collect(bytesMax: number): Promise<Buffer>
  /** Nobody wants the rest. */
  discard(): void
  /** It broke off. */
  fail(found: Problem): void
}

/** What exchanges wait with. */
export interface Waiting {
  readonly deadlines: Deadlines
  readonly patience: Patience
}

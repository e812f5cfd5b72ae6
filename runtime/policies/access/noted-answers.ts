import { CheckError } from "../../check/ports.ts"
import type { AnswerNotes } from "../exchange.ts"
import type { AccessAnswer, AccessRequest, AskedFor, Authorizer } from "../policy.ts"

/** The same authorizer, whose answers are noted for requests that are recorded. `asked`: as `AnswerNotes` has it. */
export function withNotes(authorizer: Authorizer, asked: string): Authorizer {
  return {
    ...(authorizer.remote === undefined ? {} : { remote: authorizer.remote }),
    check: (store, request, asker) =>
      asker.recording === undefined
        ? authorizer.check(store, request, asker)
        : notedCheck(authorizer, { store, request, asker, asked }, asker.recording),
    async batch(store, requests, asker) {
      const answers = await authorizer.batch(store, requests, asker)
      answers.results.forEach((answer, at) => {
        const request = requests[at]
        if (request !== undefined) note(asker.recording, asked, request, answer)
      })
      return answers
    },
    change: (...change) => authorizer.change(...change),
  }
}

interface Asked {
  readonly store: string
  readonly request: AccessRequest
  readonly asker: AskedFor
  readonly asked: string
}

function notedCheck(
  authorizer: Authorizer,
  { store, request, asker, asked }: Asked,
  notes: AnswerNotes,
): AccessAnswer | Promise<AccessAnswer> {
  const answered = (answer: AccessAnswer): AccessAnswer => {
    note(notes, asked, request, answer)
    return answer
  }
  const failed = (error: unknown): never => {
    note(notes, asked, request, undefined)
    throw error
  }
  try {
    const answer = authorizer.check(store, request, asker)
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer)
  } catch (error) {
    return failed(error)
  }
}

function note(
  notes: AnswerNotes | undefined,
  asked: string,
  request: AccessRequest,
  answer: AccessAnswer | CheckError | undefined,
): void {
  const allowed = answer === undefined || answer instanceof CheckError ? undefined : answer.allowed
  notes?.answered(asked, request, allowed)
}

import type { AskableQuestion, AskedAt } from "../service/engine-questions.ts"
import type { CodeLens } from "../service/lenses.ts"

/**
 * Asks a running engine. Resolves to the answer in a few words; rejects with the reason if it cannot be asked, e.g. because nothing runs.
 */
export type EngineAsker = (question: AskableQuestion) => Promise<string>

/** The questions that a person has asked a running engine, with the newest answers. Nothing is sent before a question is clicked. */
export class EngineAnswers {
  readonly #ask: EngineAsker
  readonly #answers = new Map<string, string>()

  constructor(ask: EngineAsker) {
    this.#ask = ask
  }

  /** Asks now, and keeps the answer, or why there is none. Never rejects. */
  async ask(question: AskableQuestion): Promise<string> {
    const answer = await this.#ask(question).catch(
      (error: unknown) => `no answer: ${error instanceof Error ? error.message : String(error)}`,
    )
    this.#answers.set(JSON.stringify(question), answer)
    return answer
  }

  /** The lens of a question: what to click, or the answer, which can be asked for again. */
  lensOf({ span, question }: AskedAt): CodeLens {
    const answer = this.#answers.get(JSON.stringify(question))
    return { span, title: answer === undefined ? unasked(question) : `${asked(question)}: ${answer}` }
  }
}

/** With the relation: an assertion of several relations has a question for each in one line. */
function unasked(question: AskableQuestion): string {
  return question.kind === "check"
    ? `Ask the running engine: ${question.relation}`
    : `Ask the running engine who is ${question.relation} of ${question.object}`
}

function asked(question: AskableQuestion): string {
  return question.kind === "check"
    ? `Running engine, ${question.relation}`
    : `Running engine, ${question.relation} of ${question.object}`
}

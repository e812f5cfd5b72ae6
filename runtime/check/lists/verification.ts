import type { EvaluationOptions } from "../evaluate/evaluation.ts"
import { fixpointOfAll } from "../evaluate/fixpoint.ts"
import { Machine, suspended } from "../evaluate/machine.ts"
import type { EvaluationProblem } from "../evaluate/problem.ts"
import { EngineQuestion, isError, isMiss, type QuestionParts } from "../evaluate/question.ts"

/** The outcomes of nodes, each by its position in the list of requested nodes. */
export interface Outcomes {
  readonly values: Uint8Array
  /** Problems of the nodes with errors. */
  readonly problems: ReadonlyMap<number, EvaluationProblem>
}

/** Tables of questions up to this size are kept for the next question. */
const stepsKept = 10_000
const idleMax = 16
const idle: CandidateVerification[] = []

/**
 * Checks of one subject in one context on many objects, by the machine that also runs single checks; it keeps its results from one to the
 * next. Nodes that the machine cannot decide are decided together on the slow path.
 */
export class CandidateVerification {
  readonly question = new EngineQuestion()
  readonly #machine = new Machine()
  #limits!: EvaluationOptions

  /** One that is ready for a subject; call `release` at the end. */
  static of(parts: QuestionParts, limits: EvaluationOptions): CandidateVerification {
    const verification = idle.pop() ?? new CandidateVerification()
    verification.begin(parts, limits)
    return verification
  }

  /** Starts another subject. */
  begin(parts: QuestionParts, limits: EvaluationOptions): void {
    this.#limits = limits
    this.question.begin(parts, limits.partialConditions)
    this.#machine.begin(this.question, limits)
  }

  release(): void {
    if (this.question.steps >= stepsKept) {
      this.question.again()
      this.#machine.release()
    }
    if (idle.length < idleMax) idle.push(this)
  }

  /** The truth of nodes, given as pairs of object and relation (or part). */
  *decide(nodes: readonly number[]): Generator<void, Outcomes> {
    const { question } = this
    const machine = this.#machine
    const { stepsPerLook } = this.#limits
    const values = new Uint8Array(nodes.length >> 1)
    const problems = new Map<number, EvaluationProblem>()
    const unsure: number[] = []
    let look = question.steps + stepsPerLook
    for (let at = 0; at < values.length; at++) {
      let value = machine.ask(nodes[2 * at] as number, nodes[2 * at + 1] as number)
      while (value === suspended) {
        value = machine.run(stepsPerLook)
        if (value === suspended) yield
      }
      if (machine.flagged || (value === isError && machine.tooDeep)) {
        if (machine.flagged) machine.abandon()
        unsure.push(at)
        continue
      }
      values[at] = value
      if (value === isError) problems.set(at, question.problems[question.problem] as EvaluationProblem)
      if (question.steps < look) continue
      look = question.steps + stepsPerLook
      yield
    }
    if (unsure.length > 0) yield* this.#slowly(nodes, unsure, values, problems)
    return { values, problems }
  }

  *#slowly(
    nodes: readonly number[],
    unsure: readonly number[],
    values: Uint8Array,
    problems: Map<number, EvaluationProblem>,
  ): Generator<void> {
    const { question } = this
    const roots = unsure.flatMap((at) => [nodes[2 * at] as number, nodes[2 * at + 1] as number])
    const slow = fixpointOfAll(question, roots, this.#limits.depthMax)
    let look = question.steps + this.#limits.stepsPerLook
    for (;;) {
      const step = slow.next()
      question.steps++
      if (step.done === true) {
        unsure.forEach((at, index) => {
          const value = step.value?.value(index) ?? isMiss
          values[at] = value
          if (value === isError)
            problems.set(at, question.problems[step.value?.problem(index) ?? -1] as EvaluationProblem)
        })
        return
      }
      if (question.steps < look) continue
      look = question.steps + this.#limits.stepsPerLook
      yield
    }
  }
}

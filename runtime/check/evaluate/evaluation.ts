import { type CheckAnswer, CheckError, type Commit } from "../ports.ts"
import { done, type Progress, suspended as unfinished } from "../work.ts"
import { fixpoint } from "./fixpoint.ts"
import { Machine, suspended } from "./machine.ts"
import { errorOfProblem } from "./problem.ts"
import { EngineQuestion, isError, isMiss, isTrue, type QuestionParts } from "./question.ts"
import type { MachineLimits } from "./searches.ts"

export interface EvaluationOptions extends MachineLimits {
  /** Maximum work of one question in steps (a read list element, a visited node); more is the same error. */
  readonly stepsMax: number
  /** Steps between two readings of the clock. */
  readonly stepsPerLook: number
  /**
   * A condition may grant without a parameter that does not affect its result (`x < 1 || y < 1` with only x = 0). OpenFGA requires all
   * parameters that a condition reads, and its conformance suite checks that.
   */
  readonly partialConditions: boolean
  /** Default time of a question, in milliseconds. */
  readonly deadlineMs?: number | undefined
}

/** Tables of questions up to this size are kept for the next question. */
const stepsKept = 10_000

/**
 * One question in progress: first the machine, then the slow path when the machine cannot decide. Reused from question to question; its
 * stack and tables have grown to the size that questions need.
 */
export class Evaluation {
  readonly question = new EngineQuestion()
  readonly #machine = new Machine()
  #parts!: QuestionParts
  #limits: EvaluationOptions = {
    depthMax: 25,
    walkSteps: 256,
    stepsMax: 0,
    stepsPerLook: 128,
    partialConditions: false,
  }
  #slow: Generator<void, number> | undefined
  #started = false
  #allowed = false

  begin(parts: QuestionParts, limits: EvaluationOptions): void {
    this.#parts = parts
    this.#limits = limits
    this.question.begin(parts, limits.partialConditions)
    this.restart()
  }

  /** Starts the same question again, because the graph has changed or got missing pages. */
  restart(): void {
    this.question.again()
    this.#slow = undefined
    this.#started = false
    this.#machine.begin(this.question, this.#limits)
  }

  /** Frees the memory of a large question, once its answer has been read. */
  release(): void {
    if (this.question.steps < stepsKept) return
    this.#slow = undefined
    this.question.again()
    this.#machine.release()
  }

  /**
   * Works until it is decided, or until `isLate` ends the slice.
   * @throws CheckError when there is no answer
   */
  run(isLate: () => boolean): Progress {
    for (;;) {
      const value = this.#slow === undefined ? this.#runMachine() : this.#runSlowPath(this.#slow)
      if (value !== suspended) {
        const progress = this.#finish(value)
        if (progress !== undefined) return progress
      }
      if (this.question.steps > this.#limits.stepsMax) throw this.#tooComplex()
      if (isLate()) return unfinished
    }
  }

  /** The result, once it is decided. */
  get allowed(): boolean {
    return this.#allowed
  }

  /** The result as an answer at a commit. */
  answer({ revision, stamp }: Commit): CheckAnswer {
    return { allowed: this.#allowed, revision, stamp }
  }

  #runMachine(): number {
    const machine = this.#machine
    let value: number
    if (this.#started) value = machine.run(this.#limits.stepsPerLook)
    else {
      this.#started = true
      value = machine.ask(this.#parts.object, this.#parts.relation)
      if (value === suspended) value = machine.run(this.#limits.stepsPerLook)
    }
    return value
  }

  #runSlowPath(slow: Generator<void, number>): number {
    const until = this.question.steps + this.#limits.stepsPerLook
    while (this.question.steps < until) {
      const { done, value } = slow.next()
      this.question.steps++
      if (done === true) return value
    }
    return suspended
  }

  #finish(value: number): Progress | undefined {
    const machine = this.#machine
    if (this.#slow === undefined) {
      // Only the slow path knows shortest distances and decides cycles through negation.
      const unsure = machine.flagged || (machine.tooDeep && value === isError)
      if (unsure) {
        this.#slow = fixpoint(this.question, this.#parts.object, this.#parts.relation, this.#limits.depthMax)
        return undefined
      }
    }
    if (value === isMiss) return { kind: "miss", keys: [...this.question.misses.values()] }
    if (value === isError) throw errorOfProblem(this.question.problems[this.question.problem])
    this.#allowed = value === isTrue
    return done
  }

  #tooComplex(): CheckError {
    return new CheckError(
      "authorization_model_resolution_too_complex",
      `Authorization Model resolution required more than ${this.#limits.stepsMax} steps. Check your authorization model and tuples for too many alternatives`,
    )
  }
}

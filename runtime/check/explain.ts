import { Evaluation, type EvaluationOptions } from "./evaluate/evaluation.ts"
import { yes } from "./evaluate/fixpoint.ts"
import { type Inquiry, reasonsDeadline, workOf } from "./evaluate/inquiry.ts"
import { EngineQuestion, type QuestionParts } from "./evaluate/question.ts"
import { readRequest } from "./evaluate/request.ts"
import { Blocks } from "./explain/blocks.ts"
import { missingNames, untrueConditions } from "./explain/conditions.ts"
import { decide, MissSearch } from "./explain/misses.ts"
import { type Decided, DecisionProof } from "./explain/proof.ts"
import { firstTemporaryId } from "./graph/overlay.ts"
import type { LoadedModel } from "./loaded-model.ts"
import {
  type CheckAnswer,
  CheckError,
  type CheckRequest,
  type Commit,
  type Explanation,
  type PageKey,
} from "./ports.ts"
import type { EngineWork, View } from "./work.ts"

/** Nodes a proof is looked for in: near ones first, because most proofs are short. */
const nearMax = 3_000
const farMax = 200_000
/** The check, what is missing, and the reasons each take as many steps as a check at most, and a little more. */
const stepsPerCheck = 4

/**
 * A check that says why (`request.explain`), and with `request.ternary` what it would have to know instead of failing. The truth is that of the check; the explanation is
 * read from it. Looking for near misses is bounded by itself and not by the check's bounds. Its answer has `explanation` and `missingContext`.
 */
export function explain(
  model: LoadedModel,
  request: CheckRequest,
  bounds: EvaluationOptions,
): EngineWork<CheckAnswer> {
  const limits = { stepsMax: stepsPerCheck * bounds.stepsMax, deadlineMs: reasonsDeadline(bounds) }
  return workOf(limits, (view) => explainOn(view, model, request, bounds))
}

/** The same on one view, as a part of larger work. @throws CheckError when the request does not fit the model. */
export function explainOn(
  view: View,
  model: LoadedModel,
  request: CheckRequest,
  bounds: EvaluationOptions,
): Inquiry<CheckAnswer> {
  return new ExplainInquiry(withWildcard(readRequest(view, model, request)), request, bounds)
}

/** So that the wildcard may be proposed where no tuple names it yet. */
function withWildcard(parts: QuestionParts): QuestionParts {
  if (parts.wildcard >= 0 || !parts.program.asksWildcard) return parts
  const id = firstTemporaryId + (parts.temporaryNames?.size ?? 0)
  const names = new Map([...(parts.temporaryNames ?? []), [id, `${parts.program.kind}:*`] as const])
  return { ...parts, wildcard: id, temporaryNames: names }
}

/** What there is to say beside the outcome. */
type Reasons = Omit<Explanation, "version" | "allowed" | "user" | "relation" | "object" | "revision">

class ExplainInquiry implements Inquiry<CheckAnswer> {
  readonly misses = new Map<string, PageKey>()
  readonly #parts: QuestionParts
  readonly #request: CheckRequest
  readonly #limits: EvaluationOptions
  readonly #evaluation = new Evaluation()
  #allowed: boolean | undefined
  #missing: readonly string[] | undefined
  #reasons: Reasons = { complete: false }
  #work: readonly { readonly steps: number }[] = []

  constructor(parts: QuestionParts, request: CheckRequest, bounds: EvaluationOptions) {
    this.#parts = parts
    this.#request = request
    // What would have to be known is asked of each condition as far as it matters.
    this.#limits = request.ternary === true ? { ...bounds, partialConditions: true } : bounds
  }

  get steps(): number {
    return this.#work.reduce((sum, { steps }) => sum + steps, 0)
  }

  answer({ revision, stamp }: Commit): CheckAnswer {
    const { user, relation, object } = this.#request
    const allowed = this.#allowed === true
    const missing = this.#missing
    return {
      allowed,
      revision,
      stamp,
      ...(missing === undefined ? {} : { missingContext: missing }),
      ...(this.#request.explain === true
        ? { explanation: { version: 1, allowed, user, relation, object, revision, ...this.#reasons } }
        : {}),
    }
  }

  /** The answer is known before its reasons are. */
  cut(at: Commit): CheckAnswer | undefined {
    return this.#allowed === undefined ? undefined : this.answer(at)
  }

  close(): void {
    this.#evaluation.release()
    this.#work = []
  }

  *run(): Generator<void, boolean> {
    this.#work = [this.#evaluation.question]
    const problem = yield* this.#check()
    if (problem === undefined && this.#allowed === undefined) return false
    if (problem !== undefined && !(yield* this.#missingOf(problem))) return false
    return this.#request.explain === true ? yield* this.#explain() : true
  }

  /** Reasons are given as far as the bounds let them be found: the answer does not hang on them. */
  *#explain(): Generator<void, boolean> {
    const stepsMax = this.steps + this.#limits.stepsMax
    const explaining = this.#allowed === true ? this.#explainAllow() : this.#explainDeny()
    for (;;) {
      const step = explaining.next()
      if (step.done === true) return step.value
      if (this.steps > stepsMax) return true
      yield
    }
  }

  /** The check itself. An error is returned, a miss noted. */
  *#check(): Generator<void, CheckError | undefined> {
    const evaluation = this.#evaluation
    try {
      evaluation.begin(this.#parts, this.#limits)
      let progress = evaluation.run(always)
      while (progress.kind === "suspended") {
        yield
        progress = evaluation.run(always)
      }
      if (progress.kind === "done") this.#allowed = evaluation.allowed
      else this.#note(evaluation.question.misses)
      return undefined
    } catch (error) {
      if (error instanceof CheckError) return error
      throw error
    }
  }

  /** An error because of values that are missing is an answer, where that was asked for. False when something was not in memory. */
  *#missingOf(problem: CheckError): Generator<void, boolean> {
    if (this.#request.ternary !== true || problem.code !== "validation_error") throw problem
    const decided = yield* this.#decide(farMax)
    if (decided === undefined) return false
    const names = decided.collector.overflowed ? [] : missingNames(decided)
    if (names.length === 0) throw problem
    this.#allowed = false
    this.#missing = names
    return true
  }

  *#decide(nodesMax: number): Generator<void, Decided | undefined> {
    const question = new EngineQuestion()
    question.begin(this.#parts, this.#limits.partialConditions)
    this.#work = [...this.#work, question]
    const decided = yield* decide(question, this.#parts, nodesMax)
    if (decided === undefined) this.#note(question.misses)
    return decided
  }

  #note(keys: ReadonlyMap<string, PageKey>): void {
    for (const [key, page] of keys) this.misses.set(key, page)
  }

  *#explainAllow(): Generator<void, boolean> {
    for (const nodesMax of [nearMax, farMax]) {
      const decided = yield* this.#decide(nodesMax)
      if (decided === undefined) return false
      const [root] = decided.collector.nodes
      if (root?.formula === undefined || decided.solver.truth(root.formula) !== yes) continue
      const proof = new DecisionProof(decided)
      yield* proof.ofNode(0)
      const { tuples, tree } = proof
      this.#reasons = { proof: tree, tuples, complete: proof.complete }
      return true
    }
    return true
  }

  *#explainDeny(): Generator<void, boolean> {
    const near = yield* this.#decide(nearMax)
    if (near === undefined) return false
    const decided = near.collector.overflowed ? yield* this.#decide(farMax) : near
    if (decided === undefined) return false
    const { collector, solver } = decided
    const root = collector.nodes[0]?.formula
    // The reachable part alone says whether it is a cycle through an exclusion that leaves it open.
    const undecided =
      root !== undefined && !collector.overflowed && solver.truth(root) < 1 && solver.possible(root) === yes
    const blocks = new Blocks(decided)
    yield* blocks.find()
    const conditions = untrueConditions(decided)
    const about: Omit<Reasons, "complete"> = {
      ...(blocks.proofs.length > 0 ? { blocked_by: blocks.proofs } : {}),
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(this.#missing === undefined ? {} : { missing_context: this.#missing }),
      ...(undecided ? { undecided } : {}),
    }
    this.#reasons = { ...about, misses: [], complete: false }
    const search = new MissSearch(this.#parts, this.#limits)
    this.#work = [...this.#work, search]
    if (!(yield* search.run(near))) {
      this.#note(search.misses)
      return false
    }
    const misses = search.nearest
    this.#reasons = { ...about, misses, complete: blocks.complete && search.complete }
    return true
  }
}

const always = () => true

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

/** Number of nodes in which a proof is searched first: most proofs are short. */
const nearMax = 3_000
const farMax = 200_000
/** The check, the missing values, and the reasons each take at most as many steps as a check, and a little more. */
const stepsPerCheck = 4

/**
 * A check that explains its result (`request.explain`), and with `request.ternary` returns the missing values instead of failing. The
 * result is that of the check; the explanation is derived from it. The search for near misses has limits of its own, apart from the
 * check's. Its answer contains `explanation` and `missingContext`.
 */
export function explain(
  model: LoadedModel,
  request: CheckRequest,
  bounds: EvaluationOptions,
): EngineWork<CheckAnswer> {
  const limits = { stepsMax: stepsPerCheck * bounds.stepsMax, deadlineMs: reasonsDeadline(bounds) }
  return workOf(limits, (view) => explainOn(view, model, request, bounds))
}

/**
 * The same on one view, as a part of larger work.
 * @throws CheckError when the request does not fit the model
 */
export function explainOn(
  view: View,
  model: LoadedModel,
  request: CheckRequest,
  bounds: EvaluationOptions,
): Inquiry<CheckAnswer> {
  return new ExplainInquiry(withWildcard(readRequest(view, model, request)), request, bounds)
}

/** Adds the wildcard, so that it can be proposed where no tuple contains it yet. */
function withWildcard(parts: QuestionParts): QuestionParts {
  if (parts.wildcard >= 0 || !parts.program.asksWildcard) return parts
  const id = firstTemporaryId + (parts.temporaryNames?.size ?? 0)
  const names = new Map([...(parts.temporaryNames ?? []), [id, `${parts.program.kind}:*`] as const])
  return { ...parts, wildcard: id, temporaryNames: names }
}

/** The fields in addition to the result. */
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
    // To find missing values, conditions are evaluated even when some are missing.
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

  /** The answer may be known before its reasons. */
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

  /** Finds reasons within the limits; the answer does not depend on them. */
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

  /** The check itself. Returns an error, and records a miss. */
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

  /** With `ternary`, an error because of missing values is an answer. Returns false when something was not in memory. */
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
    // Only the reachable part shows whether a cycle through an exclusion leaves it undecided.
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

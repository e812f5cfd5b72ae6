import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { boundsOfList, type Inquiry, reasonsDeadline, workOf } from "./evaluate/inquiry.ts"
import { type QuestionContext, readNames, readSurroundings, subjectParts } from "./evaluate/request.ts"
import { explainOn } from "./explain.ts"
import { SubjectChecks, type SubjectNodes } from "./lists/subject-checks.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { type CheckAnswer, CheckError, type Commit, type PageKey } from "./ports.ts"
import type { BatchCheckAnswer, BatchItem, BatchResult } from "./questions.ts"
import type { Subject } from "./tuple.ts"
import type { EngineWork, View } from "./work.ts"

/**
 * Many checks at one revision. Checks of one user with the same context and contextual tuples share intermediate results. An error or a
 * missing value affects only its own check: the work itself does not throw for it. Checks with `explain` or `ternary` run one by one.
 */
export function batchCheck(
  model: LoadedModel,
  items: readonly BatchItem[],
  bounds: EvaluationOptions,
): EngineWork<BatchCheckAnswer> {
  const deadlineMs = items.some(isReasoned) ? reasonsDeadline(bounds) : undefined
  return workOf(boundsOfList(bounds, deadlineMs), (view) => new Batch(view, model, items, bounds))
}

/** Checks of one user with the same context; `places` are their positions among the items. */
interface Group {
  readonly subject: Subject
  readonly surroundings: QuestionContext
  readonly first: BatchItem
  readonly nodes: number[]
  readonly places: number[]
}

/** A check with `explain` or `ternary`. */
interface Reasoned {
  readonly inquiry: Inquiry<CheckAnswer>
  readonly place: number
}

class Batch implements Inquiry<BatchCheckAnswer> {
  readonly #checks: SubjectChecks
  readonly #view: View
  readonly #model: LoadedModel
  readonly #results: (BatchResult | CheckError | undefined)[]
  readonly #bounds: EvaluationOptions
  readonly #groups = new Map<string, Group>()
  readonly #reasoned: Reasoned[] = []
  readonly #reasonedMisses = new Map<string, PageKey>()
  readonly #surroundings = new Map<string, QuestionContext>()

  constructor(view: View, model: LoadedModel, items: readonly BatchItem[], bounds: EvaluationOptions) {
    this.#view = view
    this.#model = model
    this.#bounds = bounds
    this.#checks = new SubjectChecks(bounds)
    this.#results = items.map((item, place) => this.#add(item, place))
  }

  get steps(): number {
    return this.#reasoned.reduce((sum, { inquiry }) => sum + inquiry.steps, this.#checks.steps)
  }

  get misses(): ReadonlyMap<string, PageKey> {
    if (this.#reasonedMisses.size === 0) return this.#checks.misses
    return new Map([...this.#checks.misses, ...this.#reasonedMisses])
  }

  /** Adds an item to its group; returns the item's error, if any. */
  #add(item: BatchItem, place: number): CheckError | undefined {
    try {
      if (isReasoned(item)) {
        this.#reasoned.push({ inquiry: explainOn(this.#view, this.#model, item, this.#bounds), place })
        return undefined
      }
      const { subject, relation } = readNames(this.#model, item)
      const under = item.contextualTuples?.length ? JSON.stringify(item.contextualTuples) : ""
      const key = `${item.user} ${item.context === undefined ? "" : JSON.stringify(item.context)} ${under}`
      const group = this.#groups.get(key) ?? {
        subject,
        surroundings: this.#surroundingsOf(under, item),
        first: item,
        nodes: [],
        places: [],
      }
      this.#groups.set(key, group)
      group.nodes.push(group.surroundings.names.id(item.object), relation)
      group.places.push(place)
      return undefined
    } catch (error) {
      if (error instanceof CheckError) return error
      throw error
    }
  }

  #surroundingsOf(key: string, item: BatchItem): QuestionContext {
    const known = this.#surroundings.get(key)
    if (known !== undefined) return known
    const made = readSurroundings(this.#view, this.#model, item)
    this.#surroundings.set(key, made)
    return made
  }

  *run(): Generator<void, boolean> {
    for (const group of this.#groups.values()) {
      const { places } = group
      const outcomes = yield* this.#checks.decide(this.#asked(group))
      outcomes.forEach((outcome, at) => {
        this.#results[places[at] as number] = typeof outcome === "boolean" ? { allowed: outcome } : outcome
      })
      yield
    }
    let decided = true
    for (const { inquiry, place } of this.#reasoned) {
      const error = yield* this.#reason(inquiry)
      if (error === "missed") decided = false
      else this.#results[place] = error
      yield
    }
    for (const { places } of this.#groups.values())
      if (places.some((at) => this.#results[at] === undefined)) return false
    return decided
  }

  /** Runs to the end; the answer is read when the revision is known. */
  *#reason(inquiry: Inquiry<CheckAnswer>): Generator<void, CheckError | "missed" | undefined> {
    try {
      if (yield* inquiry.run()) return undefined
    } catch (error) {
      if (error instanceof CheckError) return error
      throw error
    }
    for (const [name, key] of inquiry.misses) this.#reasonedMisses.set(name, key)
    return "missed"
  }

  #asked({ subject, surroundings, first, nodes }: Group): SubjectNodes {
    return { parts: subjectParts(this.#view, this.#model, subject, surroundings, first.context), nodes }
  }

  answer(at: Commit): BatchCheckAnswer {
    for (const { inquiry, place } of this.#reasoned) this.#results[place] ??= resultOf(inquiry.answer(at))
    return { results: this.#results as (BatchResult | CheckError)[], ...at }
  }

  /** Omits reasons that are not found yet; an undecided check gets an error of its own. */
  cut(at: Commit): BatchCheckAnswer | undefined {
    for (const { places } of this.#groups.values())
      if (places.some((at) => this.#results[at] === undefined)) return undefined
    for (const { inquiry, place } of this.#reasoned) {
      const answer = inquiry.cut?.(at)
      this.#results[place] ??= answer === undefined ? notReached() : resultOf(answer)
    }
    return { results: this.#results as (BatchResult | CheckError)[], ...at }
  }

  close(): void {
    for (const { inquiry } of this.#reasoned) inquiry.close()
    this.#checks.close()
  }
}

const notReached = () => new CheckError("deadline_exceeded", "Request Deadline Exceeded")

const isReasoned = ({ explain, ternary }: BatchItem) => explain === true || ternary === true

function resultOf({ allowed, missingContext, explanation }: CheckAnswer): BatchResult {
  return {
    allowed,
    ...(missingContext === undefined ? {} : { missingContext }),
    ...(explanation === undefined ? {} : { explanation }),
  }
}

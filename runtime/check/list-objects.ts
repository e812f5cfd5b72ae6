import { objectsBackwards } from "./backwards.ts"
import { ClosureTruths } from "./closure-truths.ts"
import type { EvaluationOptions } from "./evaluation.ts"
import { boundsOfList, type Inquiry, workOf } from "./inquiry.ts"
import { decideByKnown } from "./known.ts"
import { Listing } from "./listing.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { NameBytes, PackedNames } from "./named-ids.ts"
import type { Problem } from "./problem.ts"
import type { Part } from "./program.ts"
import { isFalse, isTrue } from "./question.ts"
import type { ListEnd, ListObjectsAnswer, ListObjectsRequest } from "./questions.ts"
import { readSurroundings, subjectParts } from "./request.ts"
import { requireRelation, requireSubject } from "./require.ts"
import { type Outcomes, Verification } from "./verification.ts"
import type { View, Work } from "./work.ts"

/** Objects of one relation as they come, for an answer that is sent while it is read: at no time are all of them strings. */
export interface ObjectStream extends ListEnd {
  /** Each object once, as `type:id`, some thousand at a time. May be read once. */
  batches(): Iterable<readonly string[]>
}

/**
 * Which objects of a type has the user the relation on? Complete unless a page size, a limit or a deadline was set; then in order of name.
 * Begin throws CheckError: `type_not_found`, `relation_not_found`, `validation_error` for the user, `invalid_tuple` for contextual tuples.
 * An object that can't be decided (a context value it needs is missing) makes the whole list an error.
 */
export function listObjects(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
): Work<ListObjectsAnswer> {
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const names = new PackedNames(true)
    const list = new ObjectList(view, model, request, bounds, names)
    return inquiryOf(list, (end) => ({ ...end, objects: names.all() }))
  })
}

/** The same, for an answer that is sent as it is read. All of it is true at the one revision it names, whatever is written meanwhile. */
export function streamObjects(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
): Work<ObjectStream> {
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const names = new PackedNames(false)
    const list = new ObjectList(view, model, request, bounds, names)
    return inquiryOf(list, (end) => ({ ...end, batches: () => names.batches() }))
  })
}

function inquiryOf<Answer>(list: ObjectList, answerOf: (end: ListEnd) => Answer): Inquiry<Answer> {
  return {
    get steps() {
      return list.verification.question.steps
    },
    get misses() {
      return list.verification.question.misses
    },
    run: () => list.run(),
    answer: (revision) => answerOf({ revision, ...list.listing.end }),
    cut: (revision) => (list.listing.cut() ? answerOf({ revision, ...list.listing.end }) : undefined),
    close: () => list.verification.release(),
  }
}

class ObjectList {
  readonly verification: Verification
  readonly listing: Listing
  readonly #target: number
  readonly #part: Part | undefined
  readonly #truths: ClosureTruths

  constructor(
    view: View,
    model: LoadedModel,
    request: ListObjectsRequest,
    bounds: EvaluationOptions,
    names: PackedNames,
  ) {
    this.#target = requireRelation(model, request.type, request.relation)
    const subject = requireSubject(model, request.user)
    const surroundings = readSurroundings(view, model, request)
    const parts = subjectParts(view, model, subject, surroundings, request.context)
    this.#part = parts.program.parts[this.#target]
    this.verification = Verification.of(parts, bounds)
    const { question } = this.verification
    this.#truths = new ClosureTruths(question)
    this.listing = new Listing({
      paging: request,
      bytes: new NameBytes(question),
      names,
      steps: () => question.steps,
      decide: (ids) => this.#decide(ids),
    })
  }

  *run(): Generator<void, boolean> {
    const { question } = this.verification
    const objects = yield* objectsBackwards(this.#truths, question, this.#target)
    if (objects === undefined) return false
    // In proportion to the objects, so that a set far larger than they are is not looked through for their sake.
    if (this.#part !== undefined) yield* this.#truths.prepare(this.#part, 256 + 4 * objects.length)
    question.known = this.#truths
    return yield* this.listing.run(objects)
  }

  /** By whole sets where they tell, else by the machine. */
  *#decide(ids: readonly number[]): Generator<void, Outcomes> {
    const values = new Uint8Array(ids.length)
    const problems = new Map<number, Problem>()
    const nodes: number[] = []
    const places: number[] = []
    for (let at = 0; at < ids.length; at++) {
      const object = ids[at] as number
      const value = this.#known(object)
      if (value >= 0) values[at] = value
      else {
        nodes.push(object, this.#target)
        places.push(at)
      }
    }
    if (nodes.length === 0) return { values, problems }
    const outcomes = yield* this.verification.decide(nodes)
    places.forEach((place, at) => {
      values[place] = outcomes.values[at] as number
      const problem = outcomes.problems.get(at)
      if (problem !== undefined) problems.set(place, problem)
    })
    return { values, problems }
  }

  #known(object: number): number {
    const { program, subject } = this.verification.question
    // Found backwards among pure relations, or the userset itself.
    if (program.pure[this.#target] === true) return isTrue
    if (object === subject && this.#target === program.own) return isTrue
    return this.#part === undefined ? isFalse : decideByKnown(this.#truths, object, this.#part)
  }
}

import { objectsBackwards } from "./backwards.ts"
import { ClosureTruths } from "./closure-truths.ts"
import type { EvaluationOptions } from "./evaluation.ts"
import { boundsOfList, type Inquiry, workOf } from "./inquiry.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { NameBytes, NameHeap, PackedNames } from "./named-ids.ts"
import { CheckError } from "./ports.ts"
import { worseProblem } from "./problem.ts"
import type { Part } from "./program.ts"
import { isError, isFalse, isMiss, isTrue, type Problem } from "./question.ts"
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
    answer: (revision) => answerOf({ revision, ...list.end }),
    cut: (revision) => (list.cut() ? answerOf({ revision, ...list.end }) : undefined),
    close: () => list.verification.release(),
  }
}

/** Objects verified together: what is undecided among them shares one pass of the slow path. */
const chunkMin = 64
const chunkMax = 1_024
const yieldEvery = 512
/** After so many steps objects are verified in order of name, so that a deadline can cut the list. */
const unorderedSteps = 20_000

class ObjectList {
  readonly verification: Verification
  end: Omit<ListEnd, "revision"> = {}
  readonly #request: ListObjectsRequest
  readonly #target: number
  readonly #part: Part | undefined
  readonly #truths: ClosureTruths
  readonly #bytes: NameBytes
  readonly #names: PackedNames
  /** How many may still be named. */
  #left: number
  /** Found true before the list was put in order, and not named yet. */
  readonly #early: NameHeap
  readonly #undecided: NameHeap
  #ordered = false
  /** The first that is not decided while a chunk is; the last that is; the last that was named. */
  #first = -1
  #last = -1
  #named = -1
  #problem: Problem | undefined
  #missed = false

  constructor(
    view: View,
    model: LoadedModel,
    request: ListObjectsRequest,
    bounds: EvaluationOptions,
    names: PackedNames,
  ) {
    this.#request = request
    this.#names = names
    this.#target = requireRelation(model, request.type, request.relation)
    const subject = requireSubject(model, request.user)
    const surroundings = readSurroundings(view, model, request, true)
    const parts = subjectParts(view, model, subject, surroundings, request.context)
    this.#part = parts.program.parts[this.#target]
    this.verification = Verification.of(parts, bounds)
    const { question } = this.verification
    this.#truths = new ClosureTruths(question)
    this.#bytes = new NameBytes(question)
    this.#early = new NameHeap(this.#bytes, undefined)
    this.#undecided = new NameHeap(this.#bytes, request.after)
    this.#left = Math.min(
      request.pageSize ?? Number.POSITIVE_INFINITY,
      request.resultsMax ?? Number.POSITIVE_INFINITY,
    )
  }

  /** A page size, a limit or a cursor: names are wanted in order. */
  get #isPaged(): boolean {
    return this.#left !== Number.POSITIVE_INFINITY || this.#request.after !== undefined
  }

  *run(): Generator<void, boolean> {
    const { question } = this.verification
    const objects = yield* objectsBackwards(this.#truths, question, this.#target)
    if (objects === undefined) return false
    if (this.#part !== undefined && question.program.pure[this.#target] !== true)
      yield* this.#truths.prepare(this.#part, 256 + 4 * objects.length)
    question.known = this.#truths
    const rest = this.#isPaged ? objects : yield* this.#inAnyOrder(objects)
    if (rest.length > 0) yield* this.#inOrder(rest)
    if (this.#missed) return false
    if (this.#problem !== undefined) throw new CheckError(this.#problem.code, this.#problem.message)
    return true
  }

  /** Decides objects as they come and names them all in the end; what is left when that takes long is returned. */
  *#inAnyOrder(objects: readonly number[]): Generator<void, readonly number[]> {
    const { question } = this.verification
    const late = question.steps + unorderedSteps
    const found: number[] = []
    let size = chunkMin
    for (let from = 0; from < objects.length; from += size, size = Math.min(2 * size, chunkMax)) {
      if (question.steps > late) {
        for (const object of found) this.#early.add(object)
        return objects.slice(from)
      }
      const ids = objects.slice(from, from + size)
      const { values, problems } = yield* this.#decide(ids)
      for (let at = 0; at < ids.length; at++) {
        if (values[at] === isTrue) found.push(ids[at] as number)
        else this.#note(values[at] as number, problems.get(at))
      }
      yield
    }
    for (let at = 0; at < found.length; at++) {
      this.#names.add(this.#bytes.of(found[at] as number))
      if (at % yieldEvery === 0) yield
    }
    return []
  }

  /** Decides and names objects in order of name until the page is full. */
  *#inOrder(objects: readonly number[]): Generator<void> {
    for (let at = 0; at < objects.length; at++) {
      this.#undecided.add(objects[at] as number)
      if (at % yieldEvery === 0) yield
    }
    this.#ordered = true
    const size = Math.max(chunkMin, Math.min(this.#left + 1, chunkMax))
    while (this.#undecided.size > 0) {
      const ids: number[] = []
      while (ids.length < size && this.#undecided.size > 0) ids.push(this.#undecided.shift())
      this.#first = ids[0] as number
      const { values, problems } = yield* this.#decide(ids)
      for (let at = 0; at < ids.length; at++) {
        const value = values[at] as number
        if (value !== isTrue) this.#note(value, problems.get(at))
        // Of a page, what stands before the first that can't be told is told, but nothing after it.
        const ends = value === isTrue || (value === isError && this.#isPaged)
        if (ends && this.#left === 0) return this.#closePage()
        if (value === isTrue) this.#name(ids[at] as number)
        else if (ends) return
      }
      this.#last = ids[ids.length - 1] as number
      this.#first = -1
      if (this.#missed && this.#isPaged) return
      yield
    }
    while (this.#early.size > 0) this.#name(this.#early.shift())
  }

  #closePage(): void {
    const { pageSize = Number.POSITIVE_INFINITY, resultsMax = Number.POSITIVE_INFINITY } = this.#request
    this.#problem = undefined
    const next = this.verification.question.nameOf(this.#named)
    this.end = resultsMax < pageSize ? { next, truncated: "limit" } : { next }
  }

  /** Names what was found, and what was found early and stands before it. */
  #name(object: number): void {
    this.#nameBefore(object)
    this.#names.add(this.#bytes.of(object))
    this.#named = object
    this.#left--
  }

  #nameBefore(object: number): void {
    while (this.#early.size > 0 && this.#bytes.order(this.#early.first, object) < 0) {
      this.#named = this.#early.shift()
      this.#names.add(this.#bytes.of(this.#named))
    }
  }

  /** A value that is not true. */
  #note(value: number, problem: Problem | undefined): void {
    if (value === isMiss) this.#missed = true
    if (value !== isError || problem === undefined) return
    this.#problem = this.#problem === undefined ? problem : worseProblem(this.#problem, problem)
  }

  /** By whole sets where they tell, else by the machine. */
  *#decide(ids: readonly number[]): Generator<void, Outcomes> {
    const { program, subject } = this.verification.question
    const certain = program.pure[this.#target] === true
    const values = new Uint8Array(ids.length)
    const problems = new Map<number, Problem>()
    const nodes: number[] = []
    const places: number[] = []
    for (let at = 0; at < ids.length; at++) {
      const object = ids[at] as number
      const value = this.#decideBySets(
        object,
        certain || (object === subject && this.#target === program.own),
      )
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

  #decideBySets(object: number, certain: boolean): number {
    if (certain) return isTrue
    return this.#part === undefined ? isFalse : this.#truths.decide(object, this.#part)
  }

  /** Ends the list where it is decided so far; false when nothing is. */
  cut(): boolean {
    if (!this.#ordered || this.#missed || this.#problem !== undefined) return false
    const first = this.#first >= 0 ? this.#first : this.#undecided.first
    if (first < 0) return false
    this.#nameBefore(first)
    const { question } = this.verification
    let last = this.#named
    if (last < 0 || (this.#last >= 0 && this.#bytes.order(this.#last, last) > 0)) last = this.#last
    if (last < 0) return false
    this.end = { next: question.nameOf(last), truncated: "deadline" }
    return true
  }
}

import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { answered, boundsOfList, type Inquiry, workOf } from "./evaluate/inquiry.ts"
import { IntList } from "./evaluate/int-list.ts"
import type { EvaluationProblem } from "./evaluate/problem.ts"
import type { AnyPart, ProgramPart } from "./evaluate/program.ts"
import { type EngineQuestion, isFalse, isTrue } from "./evaluate/question.ts"
import { type Ids, readSurroundings, subjectParts } from "./evaluate/request.ts"
import { requireRelation, requireSubject } from "./evaluate/require.ts"
import { ClosureTruths, growAll } from "./lists/closure-truths.ts"
import { isPaged, KeptWalk, listKey } from "./lists/kept-walk.ts"
import { decideByKnown } from "./lists/known.ts"
import { Listing, type NameSink } from "./lists/listing.ts"
import { NameBytes, PackedNames } from "./lists/named-ids.ts"
import { namesOf, PackedJson, plainForm } from "./lists/packed-json.ts"
import { CandidateVerification, type Outcomes } from "./lists/verification.ts"
import type { LoadedModel } from "./loaded-model.ts"
import type { JsonForm, ListEnd, ListObjectsAnswer, ListObjectsRequest } from "./questions.ts"
import type { EngineWork, View } from "./work.ts"

/** Objects of one relation as JSON, each once: comma-separated values in chunks of about 64 KB. */
export interface PackedObjects extends ListEnd {
  readonly json: readonly Uint8Array[]
  /** Number of objects. */
  readonly count: number
}

/** Objects as JSON strings, for a response that is sent while it is read. They never exist all as strings at the same time. */
export interface ObjectStream extends PackedObjects {
  /** The same as `type:id`, some thousand at a time. */
  batches(): Iterable<readonly string[]>
}

/**
 * Which objects of a type has the user the relation on? Complete unless a page size, a limit or a deadline was set; then in order of name.
 * An undecidable object (a missing context value) makes the whole list an error. Begin throws CheckError: `type_not_found`,
 * `relation_not_found`, `validation_error` for the user, `invalid_tuple` for contextual tuples.
 */
export function listObjects(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
): EngineWork<ListObjectsAnswer> {
  const key = keyOf(model, request, bounds)
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const names = new PackedNames()
    const list = new ObjectList({ view, model, request, bounds, names, key })
    return inquiryOf(list, (end) => ({ ...end, objects: names.all() }))
  })
}

/**
 * The same, for a response that is sent as it is read. All of it is true at its one revision, whatever is written meanwhile. A complete
 * list is kept for the same question at the same revision.
 */
export function streamObjects(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
): EngineWork<ObjectStream> {
  return sentObjects(model, request, bounds, plainForm, (found) => ({
    ...found,
    batches: () => namesOf(found.json),
  }))
}

/** The same as JSON in the caller's form. */
export function packedObjects(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
  form: JsonForm,
): EngineWork<PackedObjects> {
  return sentObjects(model, request, bounds, form, (found) => found)
}

function sentObjects<Answer extends PackedObjects>(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
  form: JsonForm,
  answerOf: (found: PackedObjects) => Answer,
): EngineWork<Answer> {
  const key = keyOf(model, request, bounds)
  const wholeKey =
    key === undefined || isPaged(request) ? undefined : `objects ${key} ${JSON.stringify(form)}`
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const kept = wholeKey === undefined ? undefined : view.kept?.get(wholeKey)
    if (kept !== undefined) return answered(answerOf(kept as PackedObjects))
    const names = new PackedJson(form)
    const list = new ObjectList({ view, model, request, bounds, names, key })
    return inquiryOf(list, (end) => {
      const found = { ...end, json: names.chunks(), count: names.count }
      if (wholeKey !== undefined && end.next === undefined) view.kept?.put(wholeKey, found, names.bytes)
      return answerOf(found)
    })
  })
}

function keyOf(
  model: LoadedModel,
  request: ListObjectsRequest,
  bounds: EvaluationOptions,
): string | undefined {
  return listKey(model, request, bounds, [request.type, request.relation, request.user])
}

function inquiryOf<Answer>(list: ObjectList, answerOf: (end: ListEnd) => Answer): Inquiry<Answer> {
  return {
    get steps() {
      return list.verification.question.steps
    },
    get waits() {
      return list.waits
    },
    get misses() {
      return list.verification.question.misses
    },
    run: () => list.run(),
    answer: (at) => answerOf({ ...at, ...list.listing.end }),
    cut: (at) => (list.listing.cut() ? answerOf({ ...at, ...list.listing.end }) : undefined),
    close: () => list.close(),
  }
}

interface ObjectListParts {
  readonly view: View
  readonly model: LoadedModel
  readonly request: ListObjectsRequest
  readonly bounds: EvaluationOptions
  readonly names: NameSink
  readonly key: string | undefined
}

class ObjectList {
  readonly verification: CandidateVerification
  readonly listing: Listing
  readonly #after: string
  /** Maximum number of objects. */
  readonly #wanted: number
  readonly #bytes: NameBytes
  readonly #ids: Ids
  readonly #target: number
  readonly #part: ProgramPart | undefined
  readonly #truths: ClosureTruths
  readonly #walk: KeptWalk | undefined

  constructor({ view, model, request, bounds, names, key }: ObjectListParts) {
    this.#target = requireRelation(model, request.type, request.relation)
    const subject = requireSubject(model, request.user)
    const surroundings = readSurroundings(view, model, request)
    this.#ids = surroundings.names
    const { after = "", pageSize, resultsMax } = request
    this.#after = after
    this.#wanted = Math.min(pageSize ?? Number.POSITIVE_INFINITY, resultsMax ?? Number.POSITIVE_INFINITY)
    if (key !== undefined && view.kept !== undefined && isPaged(request)) {
      this.#walk = new KeptWalk(view.kept, key)
      this.#ids.expectMore()
    }
    const parts = subjectParts(view, model, subject, surroundings, request.context)
    this.#part = parts.program.parts[this.#target]
    this.verification = CandidateVerification.of(parts, bounds)
    const { question } = this.verification
    this.#truths = new ClosureTruths(question)
    this.#bytes = new NameBytes(question)
    this.listing = new Listing({
      paging: request,
      bytes: this.#bytes,
      names,
      steps: () => question.steps,
      decide: (ids) => this.#decide(ids),
    })
  }

  get waits(): boolean {
    return this.#walk?.waits === true
  }

  *run(): Generator<void, boolean> {
    if (this.#walk !== undefined) return yield* this.#page(this.#walk)
    const objects = yield* this.#candidates()
    if (objects === undefined) return false
    yield* this.#prepare(objects.length)
    return yield* this.listing.run(objects)
  }

  /** All pages share the candidates of one walk; each page decides its own. */
  *#page(walk: KeptWalk): Generator<void, boolean> {
    const names = yield* walk.candidates(this.#after, this.#bytes, () => this.#candidates())
    if (names === undefined) return false
    yield* this.#prepare(Math.min(names.count, this.#wanted))
    const ordered = yield* names.from(this.#after, (name) => this.#ids.id(name))
    return yield* this.listing.runOrdered(ordered)
  }

  #candidates(): Generator<void, IntList | undefined> {
    return objectsBackwards(this.#truths, this.verification.question, this.#target)
  }

  /** Limited in proportion to the objects, so that a much larger set is not searched for them. */
  *#prepare(objects: number): Generator<void> {
    const { program } = this.verification.question
    if (this.#part !== undefined && program.pure[this.#target] !== true)
      yield* this.#truths.prepare(this.#part, 256 + 4 * objects)
    this.verification.question.known = this.#truths
  }

  close(): void {
    this.#walk?.close()
    this.#truths.release()
    this.verification.release()
  }

  /** Decides by whole sets where they are known, else by the machine. */
  *#decide(ids: readonly number[]): Generator<void, Outcomes> {
    const values = new Uint8Array(ids.length)
    const problems = new Map<number, EvaluationProblem>()
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

/**
 * The objects on which a relation may hold, found backwards from the subject: all on which it holds, and others when more than tuples and
 * unions decide. An intersection is searched from all its operands in turns until one search has ended, because each of them finds every
 * relevant object. Undefined when that depends on pages that are not in memory.
 */
function* objectsBackwards(
  truths: ClosureTruths,
  { program, subject }: EngineQuestion,
  target: number,
): Generator<void, IntList | undefined> {
  const part = program.parts[target]
  const objects = part === undefined ? new IntList() : yield* race(sourcesOf(part), truths)
  if (objects !== undefined && target === program.own && !(yield* has(objects, subject)))
    objects.push(subject)
  return objects
}

function* has(list: IntList, id: number): Generator<void, boolean> {
  for (let at = 0; at < list.length; at++) {
    if (list.get(at) === id) return true
    if ((at & 0xfff) === 0xfff) yield
  }
  return false
}

/** Unions of which each one alone contains all objects of a part. */
function sourcesOf(part: ProgramPart): AnyPart[] {
  if (part.op === "any") return [part]
  return part.op === "but" ? sourcesOf(part.base) : part.children.flatMap(sourcesOf)
}

function* race(sources: readonly AnyPart[], truths: ClosureTruths): Generator<void, IntList | undefined> {
  const runners = sources.map(({ number }) => {
    const closure = truths.closure(number)
    const found = new IntList()
    return { number, closure, found, growing: growAll(closure, number, found), running: true }
  })
  for (;;) {
    let running = false
    for (const runner of runners) {
      const { closure, found, growing } = runner
      runner.running = growing.next().done !== true
      if (runner.running) running = true
      else if (closure.complete) {
        for (const other of runners) if (other.running) truths.drop(other.number)
        return found
      }
    }
    if (!running) return undefined
    yield
  }
}

import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { answered, boundsOfList, type Inquiry, workOf } from "./evaluate/inquiry.ts"
import type { IntList } from "./evaluate/int-list.ts"
import { type EvaluationProblem, errorOfProblem } from "./evaluate/problem.ts"
import type { ProgramPart } from "./evaluate/program.ts"
import { EngineQuestion, isError, isFalse, isMiss, isTrue, type QuestionParts } from "./evaluate/question.ts"
import { type QuestionContext, readSurroundings, subjectParts } from "./evaluate/request.ts"
import { requireObject, requireRelation, requireType } from "./evaluate/require.ts"
import { isPaged, KeptWalk, listKey } from "./lists/kept-walk.ts"
import { decideByKnown } from "./lists/known.ts"
import { isAside, Listing, type NameSink } from "./lists/listing.ts"
import { NameBytes, PackedNames } from "./lists/named-ids.ts"
import { PackedJson } from "./lists/packed-json.ts"
import { SubjectChecks } from "./lists/subject-checks.ts"
import { isMentioned } from "./lists/user-mention.ts"
import { UserSets } from "./lists/user-sets.ts"
import { UserWalk } from "./lists/user-walk.ts"
import { CandidateVerification, type Outcomes } from "./lists/verification.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { CheckError, type Commit, type PageKey } from "./ports.ts"
import type { JsonForm, ListEnd, ListUsersAnswer, ListUsersRequest } from "./questions.ts"
import type { Subject } from "./tuple.ts"
import type { EngineWork, View } from "./work.ts"

/**
 * Which users have the relation on the object? Single users and the wildcard of the filter's type, or usersets when the filter names a
 * relation. Complete unless a page size, a limit or a deadline was set. Then users and excluded users together are in order of name, and
 * the maximum counts both. An undecidable user (a missing context value, usersets nested too deep) makes the whole list an error. Begin
 * throws CheckError: `type_not_found`, `relation_not_found`, `validation_error` for the object, `invalid_tuple` for contextual tuples.
 */
export function listUsers(
  model: LoadedModel,
  request: ListUsersRequest,
  bounds: EvaluationOptions,
): EngineWork<ListUsersAnswer> {
  const key = keyOf(model, request, bounds)
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const users = new PackedNames()
    const excluded = new PackedNames()
    const answerOf = (end: ListEnd) => ({ ...end, users: users.all(), excluded: excluded.all() })
    return new UserList({ view, model, request, bounds, key, users, excluded, answerOf })
  })
}

/** Users and excluded users as comma-separated JSON values in chunks of about 64 KB. */
export interface PackedUsers extends ListEnd {
  readonly users: readonly Uint8Array[]
  /** Number of users. */
  readonly count: number
  readonly excluded: readonly Uint8Array[]
}

/** The same as JSON in the caller's form, for a response. A complete list is kept for the same question at the same revision. */
export function packedUsers(
  model: LoadedModel,
  request: ListUsersRequest,
  bounds: EvaluationOptions,
  form: JsonForm,
): EngineWork<PackedUsers> {
  const key = keyOf(model, request, bounds)
  const wholeKey = key === undefined || isPaged(request) ? undefined : `users ${key} ${JSON.stringify(form)}`
  return workOf(boundsOfList(bounds, request.deadlineMs), (view) => {
    const kept = wholeKey === undefined ? undefined : view.kept?.get(wholeKey)
    if (kept !== undefined) return answered(kept as PackedUsers)
    const users = new PackedJson(form)
    const excluded = new PackedJson(form)
    const answerOf = (end: ListEnd) => {
      const answer = { ...end, users: users.chunks(), count: users.count, excluded: excluded.chunks() }
      if (wholeKey !== undefined && end.next === undefined)
        view.kept?.put(wholeKey, answer, users.bytes + excluded.bytes)
      return answer
    }
    return new UserList({ view, model, request, bounds, key, users, excluded, answerOf })
  })
}

function keyOf(model: LoadedModel, request: ListUsersRequest, bounds: EvaluationOptions): string | undefined {
  const { object, relation, filter } = request
  return listKey(model, request, bounds, [object, relation, filter.type, filter.relation])
}

interface UserListParts<Answer> {
  readonly view: View
  readonly model: LoadedModel
  readonly request: ListUsersRequest
  readonly bounds: EvaluationOptions
  readonly key: string | undefined
  readonly users: NameSink
  readonly excluded: NameSink
  readonly answerOf: (end: ListEnd) => Answer
}

class UserList<Answer> implements Inquiry<Answer> {
  readonly misses = new Map<string, PageKey>()
  readonly #view: View
  readonly #model: LoadedModel
  readonly #request: ListUsersRequest
  readonly #bounds: EvaluationOptions
  readonly #surroundings: QuestionContext
  readonly #object: number
  readonly #target: number
  /** Any user of the requested kind; the object is used as the subject. */
  readonly #parts: QuestionParts
  readonly #part: ProgramPart | undefined
  readonly #verification: CandidateVerification
  /** Reads tuples that do not depend on a particular user. */
  readonly #question = new EngineQuestion()
  readonly #sets: UserSets
  readonly #wildcardCheck: SubjectChecks
  readonly #bytes: NameBytes
  readonly #listing: Listing
  readonly #answerOf: (end: ListEnd) => Answer
  /** The users of a pure relation; for other relations a walk also finds facts that are not kept. */
  readonly #kept: KeptWalk | undefined
  /** Steps of users decided before. */
  #steps = 0
  #walk: UserWalk | undefined
  #wildcardListed = false

  constructor({ view, model, request, bounds, key, users, excluded, answerOf }: UserListParts<Answer>) {
    this.#view = view
    this.#model = model
    this.#request = request
    this.#bounds = bounds
    const { type, relation } = request.filter
    if (relation === undefined) requireType(model, type)
    else requireRelation(model, type, relation)
    this.#target = requireRelation(model, requireObject(request.object), request.relation)
    this.#surroundings = readSurroundings(view, model, request)
    this.#answerOf = answerOf
    if (isPaged(request)) this.#surroundings.names.expectMore()
    this.#object = this.#surroundings.names.id(request.object)
    this.#parts = this.#partsOf(relation === undefined ? type : `${type}#${relation}`)
    this.#part = this.#parts.program.parts[this.#target]
    this.#verification = CandidateVerification.of(this.#parts, bounds)
    this.#question.begin(this.#parts, bounds.partialConditions)
    this.#sets = new UserSets(this.#question, bounds.depthMax)
    this.#wildcardCheck = new SubjectChecks(bounds)
    this.#bytes = new NameBytes(this.#question, relation === undefined ? "" : `#${relation}`)
    if (key !== undefined && view.kept !== undefined && isPaged(request) && this.#isPure)
      this.#kept = new KeptWalk(view.kept, `users ${key}`)
    this.#listing = new Listing({
      paging: request,
      bytes: this.#bytes,
      names: users,
      aside: excluded,
      steps: () => this.steps,
      decide: (ids) => this.#decide(ids),
    })
  }

  get waits(): boolean {
    return this.#kept?.waits === true
  }

  get #isPure(): boolean {
    return this.#parts.program.pure[this.#target] === true
  }

  get steps(): number {
    return this.#steps + this.#question.steps + this.#wildcardCheck.steps + this.#verification.question.steps
  }

  #partsOf(kind: string): QuestionParts {
    const { type, relation = "" } = this.#request.filter
    const subject: Subject = { object: this.#request.object, type, relation, kind }
    return subjectParts(this.#view, this.#model, subject, this.#surroundings, this.#request.context)
  }

  *run(): Generator<void, boolean> {
    if (this.#kept !== undefined) return yield* this.#page(this.#kept)
    const users = yield* this.#candidates()
    if (users === undefined) return false
    const decided = yield* this.#listing.run(users)
    this.#keepMisses(this.#question)
    return decided
  }

  /** All pages share the candidates of one walk. */
  *#page(kept: KeptWalk): Generator<void, boolean> {
    const { after = "" } = this.#request
    const names = yield* kept.candidates(after, this.#bytes, () => this.#candidates())
    if (names === undefined) return false
    const { suffix } = this.#bytes
    const idOf = (name: string) =>
      this.#surroundings.names.id(suffix.length === 0 ? name : name.slice(0, -suffix.length))
    return yield* this.#listing.runOrdered(yield* names.from(after, idOf))
  }

  /** Undefined when something was not in memory. */
  *#candidates(): Generator<void, IntList | undefined> {
    const root = [this.#object, this.#target]
    const walk = yield* this.#walkThrough(root, false)
    if (walk === undefined) return undefined
    this.#walk = walk
    if (walk.problem >= 0 && !(yield* this.#requireNobody(walk))) return undefined
    const pure = this.#isPure
    const listed = walk.wildcard ? yield* this.#hasWildcard(pure) : false
    if (listed === undefined) return undefined
    this.#wildcardListed = listed
    // The walk's own list, which nothing else reads. Copying a million ids would block the event loop.
    const { users } = walk
    // A user may have the relation by the wildcard alone, and be named only in a tuple of a subtraction, at any depth. So all users named
    // anywhere are candidates.
    if (walk.wildcard && !pure) {
      const everybody = yield* this.#walkThrough(root, true)
      if (everybody === undefined) return undefined
      for (let at = 0; at < everybody.users.length; at++) {
        const user = everybody.users.get(at)
        if (!walk.has(user)) users.push(user)
        if ((at & 511) === 511) yield
      }
    }
    if (listed) users.push(this.#parts.wildcard)
    if (!pure) yield* this.#findSets(root, users.length)
    return users
  }

  /**
   * Undefined when something was not in memory.
   * @throws CheckError beyond the depth limit, where users may be missing
   */
  *#walkThrough(nodes: readonly number[], everything: boolean): Generator<void, UserWalk | undefined> {
    const question = this.#question
    const walk = new UserWalk(question, {
      nodes,
      everything,
      depthMax: this.#bounds.depthMax,
      stepsMax: Number.POSITIVE_INFINITY,
    })
    yield* walk.run()
    this.#keepMisses(question)
    if (walk.missed) return undefined
    if (!walk.tooDeep) return walk
    throw this.#errorOf(question.tooDeepProblem())
  }

  /** Finds sets of the relation's parts, also of subtracted ones; limited by the number of users. */
  *#findSets(root: readonly number[], users: number): Generator<void> {
    const { depthMax } = this.#bounds
    const stepsMax = 1_000 + 16 * users
    const walk = new UserWalk(this.#question, { nodes: root, everything: true, depthMax, stepsMax })
    yield* walk.run()
    yield* this.#sets.prepare(walk.nodes, users)
  }

  /**
   * Users behind a tuple with an undecidable condition make the list an error, as in OpenFGA, even if each of them also has the relation in
   * another way: the tuple may concern other users too. Returns false when something was not in memory.
   */
  *#requireNobody({ uncertain, problem }: UserWalk): Generator<void, boolean> {
    const behind = yield* this.#walkThrough(uncertain, true)
    if (behind === undefined) return false
    if (behind.users.length > 0 || behind.wildcard) throw this.#errorOf(problem)
    return true
  }

  #errorOf(at: number): CheckError {
    return errorOfProblem(this.#question.problems[at])
  }

  /** Whether the wildcard itself has the relation. Undefined when something was not in memory. */
  *#hasWildcard(pure: boolean): Generator<void, boolean | undefined> {
    if (pure) return true
    const parts = { ...this.#partsOf(`${this.#request.filter.type}:*`), subject: this.#parts.wildcard }
    const [outcome] = yield* this.#wildcardCheck.decide({ parts, nodes: [this.#object, this.#target] })
    for (const [key, page] of this.#wildcardCheck.misses) this.misses.set(key, page)
    if (outcome instanceof CheckError) throw outcome
    return outcome
  }

  *#decide(ids: readonly number[]): Generator<void, Outcomes> {
    const values = new Uint8Array(ids.length)
    const problems = new Map<number, EvaluationProblem>()
    const pure = this.#isPure
    let look = this.steps + this.#bounds.stepsPerLook
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number
      // Named on the way to a pure relation, or the wildcard that was checked before.
      if (pure || id === this.#parts.wildcard) values[at] = isTrue
      else {
        const { value, problem } = yield* this.#user(id)
        values[at] = value
        if (problem !== undefined) problems.set(at, problem)
      }
      if (this.steps < look) continue
      look = this.steps + this.#bounds.stepsPerLook
      yield
    }
    return { values, problems }
  }

  *#user(id: number): Generator<void, { value: number; problem?: EvaluationProblem | undefined }> {
    this.#sets.user = id
    this.#question.steps++
    const known = this.#known(id)
    if (known === isFalse) return { value: this.#wildcardListed ? isAside : isFalse }
    if (known === isTrue && !this.#wildcardListed) return { value: isTrue }
    const mentioned = known === isTrue ? this.#sets.mentions(this.#object, this.#target) : -1
    if (mentioned >= 0) return { value: mentioned }
    return yield* this.#verify(id)
  }

  #known(id: number): number {
    const { program } = this.#parts
    if (id === this.#object && this.#target === program.own) return isTrue
    const whole = this.#sets.truth(this.#object, this.#target)
    if (whole >= 0) return whole
    return this.#part === undefined ? isFalse : decideByKnown(this.#sets, this.#object, this.#part)
  }

  /** Checks a user with the machine; if a wildcard is listed, also whether a tuple names the user. */
  *#verify(id: number): Generator<void, { value: number; problem?: EvaluationProblem | undefined }> {
    const verification = this.#verification
    const { question } = verification
    this.#steps += question.steps
    verification.begin({ ...this.#parts, subject: id }, this.#bounds)
    question.known = this.#sets
    const { values, problems } = yield* verification.decide([this.#object, this.#target])
    let value = values[0] as number
    if (value === isTrue && this.#wildcardListed)
      value = this.#walk?.has(id)
        ? yield* isMentioned(verification, this.#sets, this.#object, this.#target)
        : isFalse
    else if (value === isFalse && this.#wildcardListed) value = isAside
    if (value === isMiss) this.#keepMisses(question)
    return { value, problem: value === isError ? problems.get(0) : undefined }
  }

  #keepMisses(question: EngineQuestion): void {
    for (const [key, page] of question.misses) this.misses.set(key, page)
  }

  answer(at: Commit): Answer {
    return this.#answerOf({ ...at, ...this.#listing.end })
  }

  cut(at: Commit): Answer | undefined {
    return this.#listing.cut() ? this.answer(at) : undefined
  }

  close(): void {
    this.#kept?.close()
    this.#wildcardCheck.close()
    this.#verification.release()
  }
}

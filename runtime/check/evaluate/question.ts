import type { CompiledCondition, ConditionOutcome } from "../../expression/condition.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import { firstTemporaryId, Overlay } from "../graph/overlay.ts"
import { forwardPage, reversePage } from "../graph/pages.ts"
import type { TupleSlot } from "../graph/slots.ts"
import type { LoadedModel } from "../loaded-model.ts"
import type { PageKey } from "../ports.ts"
import type { View } from "../work.ts"
import { type EvaluationProblem, worseProblem } from "./problem.ts"
import type { AnyPart, RelationProgram } from "./program.ts"

/**
 * Truth values. A miss means "not in memory yet". It outranks an error, because the loaded page may decide otherwise. They are numbers
 * because hot loops compare them.
 */
export const isFalse = 0
export const isTrue = 1
export const isError = 2
export const isMiss = 3

/** A question whose names are resolved to ids. */
export interface QuestionParts {
  readonly view: View
  readonly graph: Graph
  readonly model: LoadedModel
  readonly program: RelationProgram
  readonly slots: Int32Array
  readonly overlay: Overlay | undefined
  readonly object: number
  readonly relation: number
  readonly subject: number
  readonly wildcard: number
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly temporaryNames: ReadonlyMap<number, string> | undefined
  /** Treats conditions with missing values as true, to find out what would be allowed then. */
  readonly missingHolds?: boolean | undefined
}

/** Known facts about a question's subject before its nodes are walked: whole sets, found for a list. */
export interface KnownSets {
  /** Whether a part (by its number in the program) is true on an object; -1 when unknown. */
  truth(object: number, part: number): number
}

/** A condition may be costly, unlike reading a list element. */
const conditionSteps = 64
const problemsMax = 10_000

/**
 * One question in progress: the graph at its revision, the overlay of contextual tuples, the subject, and what was met on the way
 * (problems, misses, work). All strategies read tuples through it, so that shadowing, wildcards, conditions and misses are decided only
 * here.
 */
export class EngineQuestion {
  graph!: Graph
  model!: LoadedModel
  program!: RelationProgram
  slots!: Int32Array
  subject = 0
  /** Id of `type:*` for a subject that is a single object, else -1. */
  wildcard = -1
  context: Readonly<Record<string, unknown>> | undefined
  known: KnownSets | undefined
  #view!: View
  #overlay: Overlay | undefined
  #temporaryNames: ReadonlyMap<number, string> | undefined
  #partialConditions = false
  #missingHolds = false

  steps = 0
  readonly problems: EvaluationProblem[] = []
  readonly misses = new Map<string, PageKey>()
  /** Problem of the last value that was an error. */
  problem = -1

  #tooDeep = -1

  /** The list opened last. */
  list: Int32Array = single
  listStart = 0
  listEnd = 0
  readonly #single = new Int32Array(1)

  /** Starts another question. Questions are reused, because a process answers a million of them a second. */
  begin(parts: QuestionParts, partialConditions: boolean): void {
    this.graph = parts.graph
    this.model = parts.model
    this.program = parts.program
    this.slots = parts.slots
    this.#view = parts.view
    this.#overlay = parts.overlay
    this.subject = parts.subject
    this.wildcard = parts.wildcard
    this.context = parts.context
    this.known = undefined
    this.#temporaryNames = parts.temporaryNames
    this.#partialConditions = partialConditions
    this.#missingHolds = parts.missingHolds === true
    this.steps = 0
    this.again()
  }

  /**
   * The tuples laid over the graph: those of the question, or past states of tuples that the graph has changed since the question began.
   */
  get overlay(): Overlay | undefined {
    return this.#overlay ?? this.#view.past
  }

  /** The question's overlay with additional tuples, and with some tuples hidden. */
  overlayWith(...change: Parameters<Overlay["changed"]>): Overlay {
    return (this.#overlay ?? new Overlay(this.graph, this.#view)).changed(...change)
  }

  /** Whether the tuple came with the question. */
  brings(object: number, slot: number, other: number): boolean {
    return this.#overlay?.holds(object, this.graph.slots[slot] as TupleSlot, other) === true
  }

  /** Starts the same question again. The work so far still counts. */
  again(): void {
    if (this.problems.length > 0) this.problems.length = 0
    if (this.misses.size > 0) this.misses.clear()
    this.problem = -1
    this.#tooDeep = -1
  }

  nameOf(id: number): string {
    return this.#temporaryNames?.get(id) ?? (id < firstTemporaryId ? this.graph.names.text(id) : "?")
  }

  /** Whether direct tuples of an object decide the part: true, false, error (see `problem`) or miss. */
  tests(object: number, part: AnyPart): number {
    if (part.self && object === this.subject) return isTrue
    const { tests } = part
    let outcome = isFalse
    let problem = -1
    for (let at = 0; at < tests.length; at++) {
      const test = tests[at] as (typeof tests)[number]
      const other = test.wildcard ? this.wildcard : this.subject
      let value = this.has(object, this.slots[test.slot] as number, other)
      if (value === isTrue && test.condition !== undefined)
        value = this.edge(object, this.slots[test.slot] as number, other, test.condition)
      if (value === isTrue) return isTrue
      if (value === isError) problem = this.worse(problem, this.problem)
      if (value > outcome) outcome = value
    }
    this.problem = problem
    return outcome
  }

  /**
   * Whether more than the direct tuples of an object may decide a part. Most objects have no lists to follow, and then need no frame on the
   * stack.
   */
  leadsOn(object: number, part: AnyPart): boolean {
    const { hops, refs, branches } = part
    if (refs.length > 0 || branches.length > 0) return true
    if (hops.length === 0) return false
    if (this.overlay !== undefined || this.graph.pages !== undefined) return true
    if (object >= firstTemporaryId) return false
    const { forward } = this.graph
    for (let at = 0; at < hops.length; at++) {
      this.steps++
      if (forward.find(object, this.slots[(hops[at] as (typeof hops)[number]).slot] as number) !== none)
        return true
    }
    return false
  }

  /** Whether this tuple is in a graph slot, regardless of its condition: true, false or miss. */
  has(object: number, slot: number, other: number): number {
    this.steps++
    const { graph, overlay } = this
    if (overlay?.forward.touches(object)) {
      const shown = overlay.forward.has(object, graph.slots[slot] as TupleSlot, other)
      if (shown !== undefined) return shown ? isTrue : isFalse
    }
    if (graph.pages !== undefined && !this.#holds(object, slot)) return this.#point(object, slot, other)
    if (object >= firstTemporaryId) return isFalse
    const value = graph.forward.find(object, slot)
    if (value >= 0) return value === other ? isTrue : isFalse
    return graph.forward.has(value, other) ? isTrue : isFalse
  }

  get #epoch(): number {
    return this.#view.epoch ?? this.graph.epoch
  }

  #holds(object: number, slot: number): boolean {
    return this.graph.hasForward(object, this.graph.slots[slot] as TupleSlot, this.#epoch)
  }

  /** Looks up a tuple whose list is not in memory. If the list is too large for a page, it requests the single tuple. */
  #point(object: number, slotId: number, other: number): number {
    const { pages } = this.graph
    const slot = this.graph.slots[slotId] as TupleSlot
    const found = pages?.point(object, slot.base.id, other, this.#epoch)
    if (found !== undefined) return found === slotId ? isTrue : isFalse
    if (pages?.isLarge(object, slot.relationId, forwardPage) !== true) this.#missPage(object, slot)
    else {
      const { relation } = slot
      const subject = this.nameOf(other)
      const subjectRelation = slot.subjectRelation === "*" ? "" : slot.subjectRelation
      const key = {
        direction: "point",
        object: this.nameOf(object),
        relation,
        subject,
        subjectRelation,
      } as const
      this.misses.set(`t ${key.object} ${relation} ${subject} ${subjectRelation}`, key)
    }
    return isMiss
  }

  #missPage(object: number, { relation }: TupleSlot): void {
    const name = this.nameOf(object)
    this.misses.set(`f ${relation} ${name}`, { direction: "forward", object: name, relation })
  }

  #page(object: number, slotId: number): boolean {
    if (this.#holds(object, slotId)) return true
    const slot = this.graph.slots[slotId] as TupleSlot
    if (this.graph.pages?.isLarge(object, slot.relationId, forwardPage) !== true) this.#missPage(object, slot)
    else {
      const { relation, subjectType, subjectRelation } = slot
      const name = this.nameOf(object)
      this.misses.set(`f ${relation} ${name} ${slot.base.id}`, {
        direction: "forward",
        object: name,
        relation,
        among: { subjectType, subjectRelation },
      })
    }
    return false
  }

  /** Opens the content of a slot of an object as `list`, `listStart`, `listEnd`; returns false for a miss. */
  open(object: number, planSlot: number): boolean {
    this.steps++
    const slot = this.slots[planSlot] as number
    const { graph, overlay } = this
    if (graph.pages !== undefined && !this.#page(object, slot)) return false
    if (overlay?.forward.touches(object)) {
      this.list = overlay.forward.list(object, graph.slots[slot] as TupleSlot)
      this.listStart = 0
      this.listEnd = this.list.length
      return true
    }
    this.#show(object >= firstTemporaryId ? none : graph.forward.find(object, slot), graph.forward)
    return true
  }

  /** The reverse direction: the objects that have a subject in a slot. */
  openBack(subject: number, planSlot: number): boolean {
    this.steps++
    const slot = this.slots[planSlot] as number
    const { graph, overlay } = this
    if (graph.pages !== undefined && !this.#backPage(subject, graph.slots[slot] as TupleSlot)) return false
    if (overlay?.reverse.touches(subject)) {
      this.list = overlay.reverse.list(subject, graph.slots[slot] as TupleSlot)
      this.listStart = 0
      this.listEnd = this.list.length
      return true
    }
    this.#show(subject >= firstTemporaryId ? none : graph.reverse.find(subject, slot), graph.reverse)
    return true
  }

  #backPage(subject: number, slot: TupleSlot): boolean {
    if (this.graph.hasReverse(subject, slot, this.#epoch)) return true
    const name = this.nameOf(subject)
    const { objectType, relation } = slot
    const subjectRelation = slot.subjectRelation === "*" ? "" : slot.subjectRelation
    const key = { direction: "reverse", subject: name, subjectRelation } as const
    if (this.graph.pages?.isLarge(subject, slot.subjectRelationId, reversePage) !== true)
      this.misses.set(`r ${subjectRelation} ${name}`, key)
    else
      this.misses.set(`r ${subjectRelation} ${name} ${slot.base.id}`, {
        ...key,
        among: { objectType, relation },
      })
    return false
  }

  #show(value: number, adjacency: Graph["forward"]): void {
    if (value >= 0) {
      this.#single[0] = value
      this.list = this.#single
      this.listStart = 0
      this.listEnd = value === none ? 0 : 1
      return
    }
    const { array, start, end } = adjacency.stretch(value)
    this.list = array
    this.listStart = start
    this.listEnd = end
  }

  /** The context stored with the tuple in this graph slot. */
  storedContext(object: number, slot: number, other: number): Readonly<Record<string, unknown>> | undefined {
    return this.overlay?.forward.touches(object) &&
      this.overlay.forward.has(object, this.graph.slots[slot] as TupleSlot, other)
      ? this.overlay.context(object, slot, other)
      : this.graph.context(object, slot, other)
  }

  /** Evaluates a condition with the tuple's own context, which wins, and the request's. */
  judge(
    condition: CompiledCondition,
    stored: Readonly<Record<string, unknown>> | undefined,
  ): ConditionOutcome {
    this.steps += conditionSteps
    const demand = this.#partialConditions ? "needed" : "read"
    const outcome = condition.evaluate({ stored, request: this.context }, demand)
    return this.#missingHolds && typeof outcome === "object" && "missing" in outcome ? true : outcome
  }

  /** Whether the condition of the tuple in this graph slot holds. */
  edge(object: number, slot: number, other: number, condition: CompiledCondition): number {
    const outcome = this.judge(condition, this.storedContext(object, slot, other))
    if (typeof outcome === "boolean") return outcome ? isTrue : isFalse
    this.#countFailure(outcome)
    const { relation, subjectRelation } = this.graph.slots[slot] as TupleSlot
    const userset = subjectRelation === "" || subjectRelation === "*" ? "" : `#${subjectRelation}`
    const tuple = `${this.nameOf(object)}#${relation}@${this.nameOf(other)}${userset}`
    this.problem = this.addProblem({
      code: "validation_error",
      message: conditionMessage(condition.name, tuple, outcome),
    })
    return isError
  }

  #countFailure(outcome: Exclude<ConditionOutcome, boolean>): void {
    const { counts } = this.#view
    if (counts === undefined) return
    if ("missing" in outcome) counts.conditionsMissing++
    else counts.conditionsFailed++
  }

  /** The problem shared by all nodes beyond the depth limit. */
  tooDeepProblem(): number {
    if (this.#tooDeep < 0)
      this.#tooDeep = this.addProblem({
        code: "authorization_model_resolution_too_complex",
        message:
          "Authorization Model resolution required too many rewrite rules to be resolved. Check your authorization model for infinite recursion or too much nesting",
      })
    return this.#tooDeep
  }

  addProblem(problem: EvaluationProblem): number {
    // Only one problem will be reported; a list of a million tuples without context must not fill the memory.
    if (this.problems.length >= problemsMax) return problemsMax - 1
    return this.problems.push(problem) - 1
  }

  /**
   * The problem to report (-1: none). It compares texts and not the order of discovery, because that depends on internal ids, which differ
   * between processes.
   */
  worse(first: number, second: number): number {
    const one = this.problems[first]
    const two = this.problems[second]
    if (one === undefined || first === second) return second
    if (two === undefined) return first
    return worseProblem(one, two) === one ? first : second
  }
}

const single = new Int32Array(0)

/** The message for a condition without a result: OpenFGA's sentences, with the tuple in each. */
function conditionMessage(name: string, tuple: string, outcome: Exclude<ConditionOutcome, boolean>): string {
  const begin = "failed to evaluate relationship condition:"
  if ("missing" in outcome)
    return `${begin} '${name}' - tuple '${tuple}' is missing context parameters '[${outcome.missing.join(" ")}]'`
  if (outcome.error.startsWith("failed to convert context parameter"))
    return `${begin} parameter type error on condition '${name}' - ${outcome.error} (tuple '${tuple}')`
  return `${begin} '${name}' - failed to evaluate condition expression: ${outcome.error} (tuple '${tuple}')`
}

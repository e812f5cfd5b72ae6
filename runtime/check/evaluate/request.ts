import type { Graph } from "../graph/graph.ts"
import type { FoundName } from "../graph/names.ts"
import { firstTemporaryId, Overlay } from "../graph/overlay.ts"
import { isObjectMark, typeOfMark } from "../graph/slots.ts"
import type { LoadedModel } from "../loaded-model.ts"
import { CheckError, type CheckRequest, type TupleKey } from "../ports.ts"
import type { Circumstances } from "../questions.ts"
import { readRelation, readSubject, rowOf, type Subject, tupleText, validateTuple } from "../tuple.ts"
import type { View } from "../work.ts"
import type { QuestionParts } from "./question.ts"

/** The names of a request as ids, and its contextual tuples. Shared by all questions with the same context. */
export interface QuestionContext {
  readonly names: Ids
  readonly overlay: Overlay | undefined
}

/**
 * A contextual tuple may occur more than once, but not with another condition or context.
 * @throws CheckError `invalid_tuple` and `duplicate_contextual_tuple`
 */
export function readSurroundings(
  view: View,
  model: LoadedModel,
  { contextualTuples }: Circumstances,
): QuestionContext {
  const names = new Ids(view.graph)
  const overlay =
    contextualTuples === undefined || contextualTuples.length === 0
      ? undefined
      : overlayOf(view, model, contextualTuples, names)
  return { names, overlay }
}

/**
 * Reads a request against a model and a graph: names become ids, contextual tuples an overlay.
 * @throws CheckError `validation_error` for user, relation and object, `invalid_tuple` and `duplicate_contextual_tuple` for contextual
 * tuples
 */
export function readRequest(view: View, model: LoadedModel, request: CheckRequest): QuestionParts {
  const known = readKnown(view, model, request)
  if (known !== undefined) return known
  const { subject, relation } = readNames(model, request)
  const surroundings = readSurroundings(view, model, request)
  const object = surroundings.names.id(request.object)
  return partsOf(view, model, { subject, object, relation, surroundings, context: request.context })
}

// Reused by every request.
const subjectFound: FoundName = { id: -1, mark: 0 }
const objectFound: FoundName = { id: -1, mark: 0 }

/**
 * Fast path for two objects with names in the graph and no contextual tuples, which is the usual check. The graph knows whether a name is
 * well formed and its type, so the text need not be parsed. Undefined when the request is unusual or invalid.
 */
function readKnown(view: View, model: LoadedModel, request: CheckRequest): QuestionParts | undefined {
  const { contextualTuples, context } = request
  if (contextualTuples !== undefined && contextualTuples.length > 0) return undefined
  const { graph } = view
  if (!graph.names.findBoth(request.user, request.object, subjectFound, objectFound)) return undefined
  if (!isObjectMark(subjectFound.mark) || !isObjectMark(objectFound.mark)) return undefined
  const { types, slots } = model.inGraph(graph)
  const subjectType = types[typeOfMark(subjectFound.mark)]
  const relation = types[typeOfMark(objectFound.mark)]?.relations.get(request.relation)
  if (subjectType === undefined || relation === undefined) return undefined
  const program = model.program(subjectType.type)
  const names = program.asksWildcard ? new Ids(graph) : undefined
  return {
    view,
    graph,
    model,
    program,
    slots,
    overlay: undefined,
    object: objectFound.id,
    relation,
    subject: subjectFound.id,
    wildcard: names?.wildcard(subjectType.wildcard) ?? -1,
    context,
    temporaryNames: names?.temporary,
  }
}

/**
 * The subject, and the relation's index.
 * @throws CheckError `validation_error`
 */
export function readNames(
  model: LoadedModel,
  request: Pick<CheckRequest, "user" | "relation" | "object">,
): { readonly subject: Subject; readonly relation: number } {
  const subject = readSubject(model, request.user)
  if (typeof subject === "string") throw new CheckError("validation_error", inTuple(subject, request))
  const relation = readRelation(model, request.object, request.relation)
  if (typeof relation === "string") throw new CheckError("validation_error", inTuple(relation, request))
  return { subject, relation }
}

interface Asked {
  readonly subject: Subject
  readonly object: number
  readonly relation: number
  readonly surroundings: QuestionContext
  readonly context: Readonly<Record<string, unknown>> | undefined
}

function partsOf(
  view: View,
  model: LoadedModel,
  { subject, object, relation, surroundings: { names, overlay }, context }: Asked,
): QuestionParts {
  const { graph } = view
  const program = model.program(subject.kind)
  return {
    view,
    graph,
    model,
    program,
    slots: model.inGraph(graph).slots,
    overlay,
    object,
    relation,
    subject: names.id(subject.object),
    wildcard: program.asksWildcard ? names.wildcard(`${subject.type}:*`) : -1,
    context,
    temporaryNames: names.temporary,
  }
}

/** The parts for a subject with many questions. The names must have got their ids from the surroundings before. */
export function subjectParts(
  view: View,
  model: LoadedModel,
  subject: Subject,
  surroundings: QuestionContext,
  context: Readonly<Record<string, unknown>> | undefined,
): QuestionParts {
  return partsOf(view, model, { subject, object: -1, relation: -1, surroundings, context })
}

/** Errors about unknown names already name them, in OpenFGA's words; other errors get the tuple added. */
function inTuple(reason: string, { user, relation, object }: TupleKey): string {
  if (reason.endsWith("not found")) return reason
  return `Invalid tuple '${tupleText({ user, relation, object })}'. Reason: ${reason}`
}

/**
 * Ids for the names of one request. A name that the graph does not have gets a temporary id, because a question must not make the graph
 * grow. This also holds for a graph of pages: pages installed after the question began are not part of its view, so the name cannot get
 * another id meanwhile.
 */
export class Ids {
  temporary: Map<number, string> | undefined
  readonly #graph: Graph
  #byName: Map<string, number> | undefined

  constructor(graph: Graph) {
    this.#graph = graph
  }

  /** The question will ask for names while it runs, so keep their texts. */
  expectMore(): void {
    this.temporary ??= new Map()
  }

  id(name: string): number {
    const known = this.known(name)
    if (known >= 0) return known
    this.temporary ??= new Map()
    this.#byName ??= new Map()
    const id = firstTemporaryId + this.temporary.size
    this.temporary.set(id, name)
    this.#byName.set(name, id)
    return id
  }

  /** -1 for a name without any known tuple. */
  known(name: string): number {
    // Look here first: the graph may have got the name since, but not in this question's view.
    const id = this.#byName?.get(name)
    return id ?? this.#graph.names.find(name)
  }

  /** A whole graph without the name has no tuple of the wildcard; a graph of pages may still load one. */
  wildcard(name: string): number {
    return this.#graph.pages === undefined ? this.known(name) : this.id(name)
  }
}

function overlayOf(view: View, model: LoadedModel, tuples: readonly TupleKey[], names: Ids): Overlay {
  const { graph } = view
  const overlay = new Overlay(graph, view)
  const seen = new Map<string, string>()
  for (const tuple of tuples) {
    const error = validateTuple(model, tuple)
    if (error !== undefined) throw error
    const key = tupleText(tuple)
    const row = rowOf(tuple)
    const text = JSON.stringify(row)
    const before = seen.get(key)
    if (before === text) continue
    if (before !== undefined)
      throw new CheckError(
        "duplicate_contextual_tuple",
        `duplicate contextual tuple in request: user: '${tuple.user}', relation: '${tuple.relation}', object: '${tuple.object}'`,
      )
    seen.set(key, text)
    overlay.add(names.id(row[0]), graph.slotOfRow(row), names.id(row[2]), tuple.condition?.context)
  }
  return overlay
}

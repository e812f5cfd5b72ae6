import type { Graph } from "./graph.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { firstTemporaryId, Overlay } from "./overlay.ts"
import { CheckError, type CheckRequest, type TupleKey } from "./ports.ts"
import type { QuestionParts } from "./question.ts"
import type { Circumstances } from "./questions.ts"
import { readRelation, readSubject, rowOf, tupleText, validateTuple } from "./tuple.ts"
import type { View } from "./work.ts"

/** The names of a request as ids, and its contextual tuples. One of them serves every question under the same circumstances. */
export interface Surroundings {
  readonly names: Ids
  readonly overlay: Overlay | undefined
}

/** @throws CheckError `invalid_tuple` and `duplicate_contextual_tuple`. */
export function readSurroundings(
  { graph }: View,
  model: LoadedModel,
  { contextualTuples }: Circumstances,
): Surroundings {
  const names = new Ids(graph)
  const overlay =
    contextualTuples === undefined || contextualTuples.length === 0
      ? undefined
      : overlayOf(graph, model, contextualTuples, names)
  return { names, overlay }
}

/**
 * Reads a request against a model and a graph: names become ids, contextual tuples an overlay.
 * @throws CheckError `validation_error` for user, relation and object, `invalid_tuple` and `duplicate_contextual_tuple` for contextual tuples.
 */
export function readRequest({ graph }: View, model: LoadedModel, request: CheckRequest): QuestionParts {
  const subject = readSubject(model, request.user)
  if (typeof subject === "string") throw new CheckError("validation_error", inTuple(subject, request))
  const relation = readRelation(model, request.object, request.relation)
  if (typeof relation === "string") throw new CheckError("validation_error", inTuple(relation, request))
  const { names, overlay } = readSurroundings({ graph }, model, request)
  const program = model.program(subject.kind)
  return {
    graph,
    model,
    program,
    slots: model.slotsIn(graph),
    overlay,
    object: names.id(request.object),
    relation,
    subject: names.id(subject.object),
    wildcard: program.asksWildcard ? names.known(`${subject.type}:*`) : -1,
    context: request.context,
    temporaryNames: names.temporary,
  }
}

/** Names that are not found say so themselves, as OpenFGA words it; the rest names the tuple. */
function inTuple(reason: string, { user, relation, object }: CheckRequest): string {
  if (reason.endsWith("not found")) return reason
  return `Invalid tuple '${tupleText({ user, relation, object })}'. Reason: ${reason}`
}

/**
 * Ids for the names of one request. A name the graph does not have gets a temporary one: asking must not make the graph grow.
 * A paged graph does take the name, because it cannot know yet whether the store has it.
 */
export class Ids {
  temporary: Map<number, string> | undefined
  readonly #graph: Graph
  #byName: Map<string, number> | undefined

  constructor(graph: Graph) {
    this.#graph = graph
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

  known(name: string): number {
    if (this.#graph.pages !== undefined) return this.#graph.names.intern(name)
    const id = this.#graph.names.find(name)
    return id >= 0 ? id : (this.#byName?.get(name) ?? -1)
  }
}

function overlayOf(graph: Graph, model: LoadedModel, tuples: readonly TupleKey[], names: Ids): Overlay {
  const overlay = new Overlay(graph)
  const seen = new Set<string>()
  for (const tuple of tuples) {
    const error = validateTuple(model, tuple)
    if (error !== undefined) throw error
    const key = tupleText(tuple)
    if (seen.has(key))
      throw new CheckError(
        "duplicate_contextual_tuple",
        `duplicate contextual tuple in request: user: '${tuple.user}', relation: '${tuple.relation}', object: '${tuple.object}'`,
      )
    seen.add(key)
    const row = rowOf(tuple)
    overlay.add(names.id(row[0]), graph.slotOfRow(row), names.id(row[2]), tuple.condition?.context)
  }
  return overlay
}

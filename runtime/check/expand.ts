import type { Userset } from "../plan/authorization-model.ts"
import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { boundsOfList, type Inquiry, workOf } from "./evaluate/inquiry.ts"
import { EngineQuestion } from "./evaluate/question.ts"
import { readSurroundings, subjectParts } from "./evaluate/request.ts"
import { NameBytes, PackedNames } from "./lists/named-ids.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { splitObject } from "./object-name.ts"
import { CheckError, type Commit } from "./ports.ts"
import type { ExpandAnswer, ExpandRequest, UsersetTreeNode } from "./questions.ts"
import { readRelation, type Subject } from "./tuple.ts"
import type { EngineWork, View } from "./work.ts"

/** Longer lists stay unsorted, because sorting them would block the event loop. */
const sortedMax = 10_000
const utf8 = new TextEncoder()

/**
 * One level of the ways in which a relation on an object can hold: the model's rewrite with the object's tuples filled in, stored and
 * contextual ones. Tuples that the model forbids are omitted; conditions are ignored. Users are in order of name, unless there are more
 * than `sortedMax`. Begin throws CheckError: `validation_error` for object and relation, `invalid_tuple` for contextual tuples.
 */
export function expand(
  model: LoadedModel,
  request: ExpandRequest,
  bounds: EvaluationOptions,
): EngineWork<ExpandAnswer> {
  return workOf(boundsOfList(bounds), (view) => new Expansion(view, model, request))
}

class Expansion implements Inquiry<ExpandAnswer> {
  readonly #question = new EngineQuestion()
  readonly #model: LoadedModel
  readonly #request: ExpandRequest
  readonly #id: number
  readonly #type: string
  #missed = false
  #root: UsersetTreeNode = { name: "" }

  constructor(view: View, model: LoadedModel, request: ExpandRequest) {
    const problem = readRelation(model, request.object, request.relation)
    if (typeof problem === "string") throw new CheckError("validation_error", problem)
    this.#model = model
    this.#request = request
    this.#type = splitObject(request.object)?.type ?? ""
    const surroundings = readSurroundings(view, model, request)
    this.#id = surroundings.names.id(request.object)
    // There is no subject. The object is used instead, because a question needs one to read tuples.
    const subject: Subject = { object: request.object, type: this.#type, relation: "", kind: this.#type }
    this.#question.begin(subjectParts(view, model, subject, surroundings, undefined), false)
  }

  get steps(): number {
    return this.#question.steps
  }

  get misses() {
    return this.#question.misses
  }

  *run(): Generator<void, boolean> {
    const { relation } = this.#request
    const definition = this.#model.plan.model.type_definitions.find(({ type }) => type === this.#type)
    const rewrite = new Map(Object.entries(definition?.relations ?? {})).get(relation) ?? { this: {} }
    this.#root = yield* this.#node(rewrite)
    return !this.#missed
  }

  answer(at: Commit): ExpandAnswer {
    return { root: this.#root, ...at }
  }

  close(): void {
    this.#question.again()
  }

  *#node(rewrite: Userset): Generator<void, UsersetTreeNode> {
    const { object, relation } = this.#request
    const name = `${object}#${relation}`
    if ("this" in rewrite) return { name, leaf: { users: { users: yield* this.#users(relation, true) } } }
    if ("computedUserset" in rewrite)
      return { name, leaf: { computed: { userset: `${object}#${rewrite.computedUserset.relation}` } } }
    if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      const parents = yield* this.#users(tupleset.relation, false)
      const computed = parents.map((parent) => ({ userset: `${parent}#${computedUserset.relation}` }))
      return { name, leaf: { tupleToUserset: { tupleset: `${object}#${tupleset.relation}`, computed } } }
    }
    if ("union" in rewrite) return { name, union: { nodes: yield* this.#nodes(rewrite.union.child) } }
    if ("intersection" in rewrite)
      return { name, intersection: { nodes: yield* this.#nodes(rewrite.intersection.child) } }
    const { base, subtract } = rewrite.difference
    return { name, difference: { base: yield* this.#node(base), subtract: yield* this.#node(subtract) } }
  }

  *#nodes(children: readonly Userset[]): Generator<void, UsersetTreeNode[]> {
    const nodes: UsersetTreeNode[] = []
    for (const child of children) nodes.push(yield* this.#node(child))
    return nodes
  }

  /** Users in tuples of a relation that the model allows; for a tupleset only single objects. */
  *#users(relation: string, any: boolean): Generator<void, readonly string[]> {
    const question = this.#question
    const { slots, subjects } = this.#model.plan.relations
    const index = this.#model.relationIndex(this.#type, relation)
    // A tuple's key is stored once, so no user is listed twice.
    const bytes = new NameBytes(question)
    const users = new PackedNames()
    let count = 0
    for (const [at, [owner, subject]] of slots.entries()) {
      const kind = subjects[subject] ?? ""
      const hash = kind.indexOf("#")
      if (owner !== index || (!any && (hash >= 0 || kind.endsWith(":*")))) continue
      if (!question.open(this.#id, at)) {
        this.#missed = true
        continue
      }
      const ids = question.list.slice(question.listStart, question.listEnd)
      const suffix = utf8.encode(hash < 0 ? "" : kind.slice(hash))
      count += ids.length
      for (let place = 0; place < ids.length; place++) {
        users.add(bytes.of(ids[place] as number), suffix)
        question.steps++
        if ((place & 511) === 511) yield
      }
    }
    const names = users.all()
    return count > sortedMax ? names : [...names].sort()
  }
}

import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { boundsOfList, type Inquiry, workOf } from "./evaluate/inquiry.ts"
import { readSurroundings, subjectParts } from "./evaluate/request.ts"
import { requireObject, requireSubject, requireType } from "./evaluate/require.ts"
import { SubjectChecks, type SubjectNodes } from "./lists/subject-checks.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { CheckError, type Commit } from "./ports.ts"
import type { ListRelationsAnswer, ListRelationsRequest } from "./questions.ts"
import type { EngineWork, View } from "./work.ts"

/**
 * Which relations has the user on the object? One pass decides all of them and shares intermediate results. A relation that cannot be
 * decided, or that the type does not have, gets an error of its own. Begin throws CheckError: `type_not_found`, `validation_error` for user
 * and object, `invalid_tuple` for contextual tuples.
 */
export function listRelations(
  model: LoadedModel,
  request: ListRelationsRequest,
  bounds: EvaluationOptions,
): EngineWork<ListRelationsAnswer> {
  return workOf(boundsOfList(bounds), (view) => new RelationList(view, model, request, bounds))
}

class RelationList implements Inquiry<ListRelationsAnswer> {
  readonly #checks: SubjectChecks
  readonly #asked: SubjectNodes
  readonly #names: readonly string[]
  readonly #relations: string[] = []
  readonly #errors: { readonly relation: string; readonly error: CheckError }[] = []

  constructor(view: View, model: LoadedModel, request: ListRelationsRequest, bounds: EvaluationOptions) {
    const type = requireObject(request.object)
    const relations = requireType(model, type)
    const subject = requireSubject(model, request.user)
    const surroundings = readSurroundings(view, model, request)
    const object = surroundings.names.id(request.object)
    const wanted = new Set(request.relations ?? relations.keys())
    for (const relation of wanted) {
      if (relations.has(relation)) continue
      wanted.delete(relation)
      const error = new CheckError("relation_not_found", `relation '${type}#${relation}' not found`)
      this.#errors.push({ relation, error })
    }
    this.#names = [...wanted]
    this.#asked = {
      parts: subjectParts(view, model, subject, surroundings, request.context),
      nodes: this.#names.flatMap((relation) => [object, relations.get(relation) as number]),
    }
    this.#checks = new SubjectChecks(bounds)
  }

  get steps(): number {
    return this.#checks.steps
  }

  get misses() {
    return this.#checks.misses
  }

  *run(): Generator<void, boolean> {
    const outcomes = yield* this.#checks.decide(this.#asked)
    if (outcomes.includes(undefined)) return false
    outcomes.forEach((outcome, at) => {
      const relation = this.#names[at] as string
      if (outcome === true) this.#relations.push(relation)
      else if (outcome instanceof CheckError) this.#errors.push({ relation, error: outcome })
    })
    return true
  }

  answer(at: Commit): ListRelationsAnswer {
    return { relations: this.#relations, errors: this.#errors, ...at }
  }

  close(): void {
    this.#checks.close()
  }
}

import type { EvaluationOptions } from "./evaluate/evaluation.ts"
import { boundsOfList, type Inquiry, workOf } from "./evaluate/inquiry.ts"
import { readSurroundings, subjectParts } from "./evaluate/request.ts"
import { requireObject, requireSubject, requireType } from "./evaluate/require.ts"
import { SubjectChecks, type SubjectNodes } from "./lists/subject-checks.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { CheckError, type Commit } from "./ports.ts"
import type { MatrixAnswer, MatrixRequest } from "./questions.ts"
import type { EngineWork, View } from "./work.ts"

/** Maximum of users × relations × objects in one matrix. */
export const matrixCellsMax = 10_000

type Cell = boolean | CheckError

/**
 * Each user × each relation × each object, at one revision. All cells of a user share intermediate results. A relation that an object's
 * type does not have is false; an undecidable cell gets an error of its own. Begin throws CheckError: `validation_error` for users, objects
 * and more than `matrixCellsMax` cells, `type_not_found`, `invalid_tuple` for contextual tuples.
 */
export function matrix(
  model: LoadedModel,
  request: MatrixRequest,
  bounds: EvaluationOptions,
): EngineWork<MatrixAnswer> {
  return workOf(boundsOfList(bounds), (view) => new Matrix(view, model, request, bounds))
}

class Matrix implements Inquiry<MatrixAnswer> {
  readonly #checks: SubjectChecks
  readonly #asked: readonly SubjectNodes[]
  /** For each relation and object, in the order of cells: its position among the checked nodes; -1 where there is nothing to check. */
  readonly #places: readonly (readonly number[])[]
  readonly #cells: Cell[][][] = []

  constructor(view: View, model: LoadedModel, request: MatrixRequest, bounds: EvaluationOptions) {
    const { users, relations, objects } = request
    const cells = users.length * relations.length * objects.length
    if (cells > matrixCellsMax)
      throw new CheckError(
        "validation_error",
        `${users.length} users × ${relations.length} relations × ${objects.length} objects are ${cells} cells; the maximum is ${matrixCellsMax}`,
      )
    const types = objects.map((object) => requireType(model, requireObject(object)))
    const subjects = users.map((user) => requireSubject(model, user))
    const surroundings = readSurroundings(view, model, request)
    const ids = objects.map((object) => surroundings.names.id(object))
    const nodes: number[] = []
    this.#places = relations.map((relation) =>
      types.map((type, at) => {
        const index = type.get(relation)
        return index === undefined ? -1 : (nodes.push(ids[at] as number, index) >> 1) - 1
      }),
    )
    this.#asked = subjects.map((subject) => ({
      parts: subjectParts(view, model, subject, surroundings, request.context),
      nodes,
    }))
    this.#checks = new SubjectChecks(bounds)
  }

  get steps(): number {
    return this.#checks.steps
  }

  get misses() {
    return this.#checks.misses
  }

  *run(): Generator<void, boolean> {
    let missed = false
    for (const asked of this.#asked) {
      const outcomes = yield* this.#checks.decide(asked)
      missed ||= outcomes.includes(undefined)
      this.#cells.push(
        this.#places.map((row) => row.map((place) => (place < 0 ? false : (outcomes[place] as Cell)))),
      )
      yield
    }
    return !missed
  }

  answer(at: Commit): MatrixAnswer {
    return { cells: this.#cells, ...at }
  }

  close(): void {
    this.#checks.close()
  }
}

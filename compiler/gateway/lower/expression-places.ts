import { expressionsOf, type Step, type StepId } from "../../../runtime/plan/steps.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import type { Span } from "../../core/source.ts"

/** Places told of one expression: the same step may stand at many. */
const placesMax = 8

const places = new WeakMap<Expression, string>()

/** Says where an expression begins. What is equal and stands elsewhere is another object. */
export function placeExpression(expression: Expression, { file, start }: Span): void {
  const { line, column } = file.position(start)
  places.set(expression, `${file.path}:${line}:${column}`)
}

/** Where the expressions of steps were written, by step and number. */
export class ExpressionPlaces {
  readonly #places = new Map<StepId, (string | undefined)[][]>()

  add(id: StepId, step: Step): void {
    const found = expressionsOf(step).map((expression) => places.get(expression))
    if (found.every((place) => place === undefined)) return
    const known = this.#places.get(id)
    if (known === undefined) this.#places.set(id, [found])
    else if (known.length < placesMax && !known.some((each) => each.join() === found.join()))
      known.push(found)
  }

  /** Origins by their keys: `steps.ID.expressions.0`. */
  *origins(used: Readonly<Record<StepId, unknown>>): Iterable<readonly [string, string]> {
    for (const [id, uses] of this.#places) {
      if (!Object.hasOwn(used, id)) continue
      for (const [number] of uses[0]?.entries() ?? []) {
        const told = new Set(uses.flatMap((use) => use[number] ?? []))
        if (told.size > 0) yield [`steps.${id}.expressions.${number}`, [...told].join(" or ")]
      }
    }
  }
}

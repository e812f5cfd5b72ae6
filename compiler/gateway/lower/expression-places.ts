import { expressionsOf, type Step, type StepId } from "../../../runtime/plan/steps.ts"
import type { Expression } from "../../../runtime/plan/text.ts"
import type { Span } from "../../core/source.ts"

/** Maximum number of places reported for one expression, because many routes can share a step. */
const placesMax = 8

const places = new WeakMap<Expression, string>()

/** Records where an expression begins. An equal expression in another place is another object. */
export function placeExpression(expression: Expression, { file, start }: Span): void {
  const { line, column } = file.position(start)
  places.set(expression, `${file.path}:${line}:${column}`)
}

/** Records the places of the expressions of steps, by step and index. */
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

  /** Origins by their key: `steps.ID.expressions.0`. */
  *origins(used: Readonly<Record<StepId, unknown>>): Iterable<readonly [string, string]> {
    for (const [id, uses] of this.#places) {
      if (!Object.hasOwn(used, id)) continue
      for (const [number] of uses[0]?.entries() ?? []) {
        const places = new Set(uses.flatMap((use) => use[number] ?? []))
        if (places.size > 0) yield [`steps.${id}.expressions.${number}`, [...places].join(" or ")]
      }
    }
  }
}

import { type Closure, type Frame, mergeFailures, notBool } from "./closures.ts"
import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import type { LoopNode } from "./syntax-tree.ts"
import { type CelMap, type JsonObject, kindOf, mapKeys } from "./values.ts"

/** A loop ready to run. `slot` is the loop variable's place in the frame, `stepCost` the weight of the body. */
export interface Loop {
  readonly range: Closure
  readonly slot: number
  readonly stepCost: number
  readonly test: Closure | undefined
  readonly result: Closure | undefined
}

function elementsOf(range: unknown): readonly unknown[] {
  if (Array.isArray(range)) return range
  if (kindOf(range) === "map") return mapKeys(range as CelMap | JsonObject)
  throw new ExpressionError("type", `${kindOf(range)} has no elements to go through`)
}

/** `exists` (`deciding` true) and `all` (false): a deciding element makes failures of others irrelevant. */
function quantifier(loop: Loop, test: Closure, deciding: boolean): Closure {
  const { range, slot, stepCost } = loop
  return (frame) => {
    let failure: ExpressionError | undefined
    for (const element of elementsOf(range(frame))) {
      charge(stepCost)
      frame.locals[slot] = element
      try {
        const value = test(frame)
        if (value === deciding) return deciding
        if (typeof value !== "boolean") failure ??= notBool(value)
      } catch (error) {
        failure = mergeFailures(failure, error)
      }
    }
    if (failure !== undefined) throw failure
    return !deciding
  }
}

function holds(test: Closure | undefined, frame: Frame): boolean {
  const value = test === undefined || test(frame)
  if (typeof value !== "boolean") throw notBool(value)
  return value
}

function existsOne(loop: Loop): Closure {
  const { range, slot, stepCost, test } = loop
  return (frame) => {
    let count = 0
    for (const element of elementsOf(range(frame))) {
      charge(stepCost)
      frame.locals[slot] = element
      if (holds(test, frame)) count++
    }
    return count === 1
  }
}

function collect(loop: Loop): Closure {
  const { range, slot, stepCost, test, result } = loop
  return (frame) => {
    const collected: unknown[] = []
    for (const element of elementsOf(range(frame))) {
      charge(stepCost)
      frame.locals[slot] = element
      if (holds(test, frame)) collected.push(result === undefined ? element : result(frame))
    }
    return collected
  }
}

/** The closure of a macro. */
export function runLoop(macro: LoopNode["macro"], loop: Loop): Closure {
  if (macro === "exists_one") return existsOne(loop)
  if (macro === "filter" || macro === "map") return collect(loop)
  return quantifier(loop, loop.test ?? (() => true), macro === "exists")
}

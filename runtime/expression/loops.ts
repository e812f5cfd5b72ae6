import {
  absorbed,
  bothUndecided,
  type CelClosure,
  type CelFrame,
  type Undecided,
  undecidedBy,
  unknownOrThrow,
} from "./closures.ts"
import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import type { LoopMacro } from "./syntax-tree.ts"
import { UnknownValue } from "./unknown.ts"
import { CelMap, type JsonObject, kindOf, mapEntries, mapKeys } from "./values.ts"

/** A loop ready to run. `slot` is the slot of the first loop variable in the frame; the second variable follows. `stepCost` is the weight of the body. */
export interface Loop {
  readonly macro: LoopMacro
  readonly range: CelClosure
  readonly slot: number
  readonly isPaired: boolean
  readonly stepCost: number
  readonly test: CelClosure | undefined
  readonly result: CelClosure | undefined
}

type Step = readonly [first: unknown, second: unknown]

/** The elements for a loop with one variable. */
function elementsOf(range: unknown): readonly unknown[] {
  if (Array.isArray(range)) return range
  if (kindOf(range) === "map") return mapKeys(range as CelMap | JsonObject)
  throw new ExpressionError("type", `${kindOf(range)} has no elements to iterate over`)
}

/** The pairs for a loop with two variables: index and element, or key and value. */
function stepsOf(range: unknown): readonly Step[] {
  if (Array.isArray(range)) return range.map((element, index): Step => [BigInt(index), element])
  if (kindOf(range) === "map") return Array.from(mapEntries(range as CelMap | JsonObject))
  throw new ExpressionError("type", `${kindOf(range)} has no elements to iterate over`)
}

/** Writes an element into its slots and charges the cost of one iteration. */
function enter({ slot, isPaired, stepCost }: Loop, element: unknown, frame: CelFrame): void {
  charge(stepCost)
  if (isPaired) {
    const [first, second] = element as Step
    frame.locals[slot] = first
    frame.locals[slot + 1] = second
  } else frame.locals[slot] = element
}

/** The elements of the range, or an unknown. */
function begin({ range, isPaired }: Loop, frame: CelFrame): readonly unknown[] | UnknownValue {
  const value = range(frame)
  if (value instanceof UnknownValue) return value
  return isPaired ? stepsOf(value) : elementsOf(value)
}

/** `exists` (`deciding` true) and `all` (false): an element that decides makes errors and unknowns of other elements irrelevant. */
function quantifier(loop: Loop, test: CelClosure, deciding: boolean): CelClosure {
  return (frame) => {
    const elements = begin(loop, frame)
    if (elements instanceof UnknownValue) return elements
    let undecided: Undecided | undefined
    for (const element of elements) {
      enter(loop, element, frame)
      let failure: Undecided
      try {
        const value = test(frame)
        if (value === deciding) return deciding
        if (value === !deciding) continue
        failure = undecidedBy(value)
      } catch (error) {
        failure = absorbed(error)
      }
      undecided = bothUndecided(undecided, failure)
    }
    return undecided === undefined ? !deciding : unknownOrThrow(undecided)
  }
}

/** Whether an element passes the test. @throws ExpressionError if the result is not a bool. */
function holds(test: CelClosure | undefined, frame: CelFrame): boolean | UnknownValue {
  const value = test === undefined || test(frame)
  return typeof value === "boolean" ? value : unknownOrThrow(undecidedBy(value))
}

/** Visits all elements and calls `take` for those that pass the test. Returns the combined unknown, if any. */
function everyStep(
  loop: Loop,
  frame: CelFrame,
  take: (element: unknown) => UnknownValue | undefined,
): UnknownValue | undefined {
  const elements = begin(loop, frame)
  if (elements instanceof UnknownValue) return elements
  let unknown: UnknownValue | undefined
  for (const element of elements) {
    enter(loop, element, frame)
    const passed = holds(loop.test, frame)
    const lacking = passed === true ? take(element) : passed === false ? undefined : passed
    if (lacking !== undefined) unknown = lacking.and(unknown)
  }
  return unknown
}

/** `exists_one`: an error in any element is an error, so all elements are tested. */
function existsOne(loop: Loop): CelClosure {
  return (frame) => {
    let count = 0
    const unknown = everyStep(loop, frame, () => {
      count++
      return undefined
    })
    return unknown ?? count === 1
  }
}

/** A list of results. An unknown element makes the whole list unknown. */
function collectList(loop: Loop): CelClosure {
  const { result } = loop
  return (frame) => {
    const collected: unknown[] = []
    const unknown = everyStep(loop, frame, (element) => {
      const value = result === undefined ? element : result(frame)
      if (value instanceof UnknownValue) return value
      collected.push(value)
      return undefined
    })
    return unknown ?? collected
  }
}

function takeEntries(value: unknown, into: (readonly [unknown, unknown])[]): void {
  if (kindOf(value) !== "map")
    throw new ExpressionError("type", `an entry must be a map, not ${kindOf(value)}`)
  for (const entry of mapEntries(value as CelMap | JsonObject)) {
    charge(1)
    into.push(entry)
  }
}

/** `transformMap` keeps the keys; with `isEntry` each result is a map, and its entries are added. */
function collectMap(loop: Loop, result: CelClosure, isEntry: boolean): CelClosure {
  const { slot } = loop
  return (frame) => {
    const collected: (readonly [unknown, unknown])[] = []
    const unknown = everyStep(loop, frame, () => {
      const key = frame.locals[slot]
      const value = result(frame)
      if (value instanceof UnknownValue) return value
      if (!isEntry) collected.push([key, value])
      else takeEntries(value, collected)
      return undefined
    })
    return unknown ?? CelMap.of(collected)
  }
}

/** The closure of a macro. */
export function runLoop(loop: Loop): CelClosure {
  const always: CelClosure = () => true
  switch (loop.macro) {
    case "all":
    case "exists":
      return quantifier(loop, loop.test ?? always, loop.macro === "exists")
    case "exists_one":
      return existsOne(loop)
    case "filter":
    case "map":
    case "transformList":
      return collectList(loop)
    case "transformMap":
    case "transformMapEntry":
      return collectMap(loop, loop.result ?? always, loop.macro === "transformMapEntry")
  }
}

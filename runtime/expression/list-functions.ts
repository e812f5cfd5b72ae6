import { equals, isLess } from "./compare.ts"
import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import { kindOf } from "./values.ts"

type Applied = (...args: unknown[]) => unknown

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new ExpressionError("type", `a list is expected, not ${kindOf(value)}`)
}

function asPosition(value: unknown): number {
  const position = typeof value === "bigint" ? Number(value) : value
  if (typeof position === "number" && Number.isSafeInteger(position)) return position
  throw new ExpressionError("type", `an int is expected, not ${kindOf(value)}`)
}

const slice: Applied = (value, from, to) => {
  const list = asList(value)
  const [start, end] = [asPosition(from), asPosition(to)]
  if (start < 0 || end > list.length || end < start)
    throw new ExpressionError("other", "the positions are outside of the list or the end is before the start")
  charge(end - start)
  return list.slice(start, end)
}

/** Flattens nested lists, up to `depth` levels. */
function flattened(list: readonly unknown[], depth: number): unknown[] {
  charge(list.length)
  return list.flatMap((each) => (Array.isArray(each) && depth > 0 ? flattened(each, depth - 1) : [each]))
}

/** Depth limit, because data can be nested without end. */
const depthMax = 100

const flatten: Applied = (value, levels) => {
  const depth = levels === undefined ? 1 : asPosition(levels)
  if (depth < 0 || depth > depthMax)
    throw new ExpressionError("other", `a list can be flattened by 0 to ${depthMax} levels`)
  return flattened(asList(value), depth)
}

/** Sorts elements of one ordered type, ascending. */
const sort: Applied = (value) => {
  const list = asList(value)
  charge(list.length * Math.ceil(Math.log2(list.length + 1)))
  const kinds = new Set(list.map(kindOf))
  if (kinds.size > 1) throw new ExpressionError("type", "a list of several types has no order")
  return [...list].sort((a, b) => (isLess(a, b) ? -1 : isLess(b, a) ? 1 : 0))
}

/** Removes duplicates and keeps the first of each. */
const distinct: Applied = (value) => {
  const list = asList(value)
  const found: unknown[] = []
  for (const each of list) {
    charge(1 + (found.length >>> 2))
    if (!found.some((other) => equals(each, other))) found.push(each)
  }
  return found
}

function holdsAll(list: readonly unknown[], wanted: readonly unknown[]): boolean {
  return wanted.every((each) => {
    charge(1 + (list.length >>> 2))
    return list.some((other) => equals(each, other))
  })
}

const rangeMax = 100_000

const range: Applied = (value) => {
  const size = asPosition(value)
  if (size < 0 || size > rangeMax)
    throw new ExpressionError("other", `\`lists.range\` creates 0 to ${rangeMax} numbers`)
  charge(size)
  return Array.from({ length: size }, (_, index) => BigInt(index))
}

/** The methods of CEL's extension `lists`. Texts have a `reverse`, too. */
export const listMethods: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["slice", slice],
  ["flatten", flatten],
  ["sort", sort],
  ["distinct", distinct],
])

/** The list in reverse order. */
export function reversed(list: readonly unknown[]): unknown[] {
  charge(list.length)
  return [...list].reverse()
}

/** The functions of CEL's extensions `lists` and `sets`: a list is a set, regardless of order and duplicates. */
export const listFunctions: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["lists.range", range],
  ["sets.contains", (list, wanted) => holdsAll(asList(list), asList(wanted))],
  [
    "sets.equivalent",
    (one, other) => {
      const [left, right] = [asList(one), asList(other)]
      return holdsAll(left, right) && holdsAll(right, left)
    },
  ],
  [
    "sets.intersects",
    (one, other) => {
      const [left, right] = [asList(one), asList(other)]
      return left.some((each) => holdsAll(right, [each]))
    },
  ],
])

import { defaultOperators, type Liquid, type LiquidOptions, toValue } from "liquidjs"
import { lastPositionOf, piecesOf, positionOf } from "../../pattern/text-search.ts"
import { type FilterScope, workOf } from "./bounds.ts"

type Operators = NonNullable<LiquidOptions["operators"]>
type Compare = (one: unknown, other: unknown) => number

/** Sorting can pause after this many items and comparisons. */
const pieceOfSorting = 1024
const unitsOfComparison = 4

/**
 * Filters that search texts and sort lists, replacing those of liquidjs: a search takes linear time for any text that a caller searches for, and sorting
 * pauses between turns.
 */
export function registerTextFilters(engine: Liquid): void {
  engine.registerFilter("split", split)
  engine.registerFilter("replace", replace)
  engine.registerFilter("replace_first", replaceFirst)
  engine.registerFilter("replace_last", replaceLast)
  engine.registerFilter("remove", remove)
  engine.registerFilter("remove_first", removeFirst)
  engine.registerFilter("remove_last", removeLast)
  engine.registerFilter("sort", sorting(inOrder))
  engine.registerFilter("sort_natural", sorting(inOrderWithoutCase))
}

/** Operators of conditions: `contains` searches in linear time. */
export const operators: Operators = {
  ...defaultOperators,
  contains: function* (left: unknown, right: unknown) {
    const [text, part] = [toValue(left), toValue(right)]
    if (typeof text === "string") return !isNothing(part) && positionOf(text, textOf(part)) >= 0
    return (yield (defaultOperators["contains"] as (...sides: unknown[]) => unknown)(left, right)) as boolean
  } as Operators[string],
}

function split(this: FilterScope, value: unknown, by: unknown): string[] {
  const text = counted(this, value)
  const pieces = piecesOf(text, textOf(by))
  while (pieces.at(-1) === "") pieces.pop()
  return pieces
}

function replace(this: FilterScope, value: unknown, part: unknown, by: unknown): string {
  const text = counted(this, value)
  const [from, to] = [textOf(part), textOf(by)]
  const pieces = piecesOf(text, from)
  this.context.memoryLimit.use((pieces.length - 1) * (to.length - from.length))
  return pieces.join(to)
}

function replaceFirst(this: FilterScope, value: unknown, part: unknown, by: unknown): string {
  const text = counted(this, value)
  return spliced(this, text, positionOf(text, textOf(part)), textOf(part), textOf(by))
}

function replaceLast(this: FilterScope, value: unknown, part: unknown, by: unknown): string {
  const text = counted(this, value)
  return spliced(this, text, lastPositionOf(text, textOf(part)), textOf(part), textOf(by))
}

function remove(this: FilterScope, value: unknown, part: unknown): string {
  return piecesOf(counted(this, value), textOf(part)).join("")
}

function removeFirst(this: FilterScope, value: unknown, part: unknown): string {
  return replaceFirst.call(this, value, part, "")
}

function removeLast(this: FilterScope, value: unknown, part: unknown): string {
  return replaceLast.call(this, value, part, "")
}

function spliced({ context }: FilterScope, text: string, at: number, part: string, by: string): string {
  if (at < 0) return text
  context.memoryLimit.use(by.length)
  return text.slice(0, at) + by + text.slice(at + part.length)
}

function sorting(compare: Compare) {
  return function* (this: FilterScope, list: unknown, property?: unknown): Generator<unknown, unknown[]> {
    const { context } = this
    const plain: unknown = toValue(list)
    const items: readonly unknown[] = Array.isArray(plain) ? plain : isNothing(plain) ? [] : [plain]
    context.memoryLimit.use(items.length)
    const path = isNothing(property) || property === "" ? undefined : textOf(property).split(".")
    const pairs: { readonly item: unknown; readonly by: unknown }[] = []
    for (const item of items) {
      pairs.push({
        item,
        by: path === undefined ? item : yield context._getFromScope(item, path, false),
      })
      if (pairs.length % pieceOfSorting !== 0) continue
      workOf(context).pay(pieceOfSorting * unitsOfComparison)
      yield
    }
    const sorted = yield* mergeSorted(pairs, (one, other) => compare(one.by, other.by), context)
    return sorted.map(({ item }) => item)
  }
}

/** A stable bottom-up merge sort, one comparison per step, so that it can pause between any two. */
function* mergeSorted<Item>(
  items: Item[],
  compare: (one: Item, other: Item) => number,
  context: FilterScope["context"],
): Generator<unknown, Item[]> {
  let comparisons = 0
  let from = items
  let into = items.slice()
  for (let length = 1; length < items.length; length *= 2) {
    for (let start = 0; start < items.length; start += 2 * length) {
      const [middle, end] = [start + length, Math.min(start + 2 * length, items.length)]
      for (let at = start, left = start, right = middle; at < end; at += 1) {
        comparisons += 1
        if (comparisons % pieceOfSorting === 0) {
          workOf(context).pay(pieceOfSorting * unitsOfComparison)
          yield
        }
        const takesLeft =
          right >= end ||
          (left < Math.min(middle, end) && compare(from[left] as Item, from[right] as Item) <= 0)
        into[at] = from[takesLeft ? left++ : right++] as Item
      }
    }
    const done = into
    into = from
    from = done
  }
  return from
}

/** Missing values come last. */
function inOrder(one: unknown, other: unknown): number {
  if (isNothing(one) || isNothing(other)) return Number(isNothing(one)) - Number(isNothing(other))
  const [left, right] = [one as string, other as string]
  return left < right ? -1 : left > right ? 1 : 0
}

function inOrderWithoutCase(one: unknown, other: unknown): number {
  const lower = (value: unknown): unknown => (isNothing(value) ? value : String(value).toLowerCase())
  return inOrder(lower(one), lower(other))
}

function isNothing(value: unknown): value is null | undefined {
  const plain: unknown = toValue(value)
  return plain === undefined || plain === null
}

/** bounds.ts has already converted lists to texts. */
function textOf(value: unknown): string {
  return isNothing(value) ? "" : String(toValue(value))
}

function counted({ context }: FilterScope, value: unknown): string {
  const text = textOf(value)
  context.memoryLimit.use(text.length)
  return text
}

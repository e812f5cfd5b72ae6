import { argument, indexOutOfRange } from "../errors.ts"
import { chargeItems } from "../run.ts"
import { declareType } from "../table.ts"
import { compareValues, elementsOf, same } from "../values.ts"

type Fn = (...values: unknown[]) => unknown
type Items = unknown[] | Uint8Array

function at(self: Items, index: number | bigint): number {
  const place = Number(index)
  if (!Number.isInteger(place) || place < 0 || place >= self.length) throw indexOutOfRange()
  return place
}

/** `Array.Copy`: a copy of the source is made first, because source and target may be one array. */
function copy(from: Items, start: number, to: Items, target: number, count: number): void {
  chargeItems(count)
  if (start < 0 || target < 0 || count < 0 || start + count > from.length || target + count > to.length)
    throw argument(
      "Source array was not long enough. Check the source index, length, and the array's lower bounds.",
    )
  const piece = [...from.slice(start, start + count)]
  for (const [index, item] of piece.entries()) to[target + index] = item as never
}

/** Members of every array type. `T[]` and `byte[]` (a `Uint8Array`) share them. */
const arrayRows: Record<string, (...values: never[]) => unknown> = {
  "Length: int": (self: Items) => self.length,
  "LongLength: long": (self: Items) => BigInt(self.length),
  "this[int index]: T": (self: Items, index: number) => self[at(self, index)],
  "this[long index]: T": (self: Items, index: bigint) => self[at(self, index)],
  "set this[int index]: T": (self: Items, index: number, value: never) => {
    self[at(self, index)] = value
  },
  "Clone(): object": (self: Items) => {
    chargeItems(self.length)
    return self.slice()
  },
  "GetLength(int dimension): int": (self: Items) => self.length,
  "CopyTo(T[] target, int index): void": (self: Items, target: Items, index: number) =>
    copy(self, 0, target, index, self.length),
}

/** Arrays, and the static methods of `System.Array`. */
export function declareArray(): void {
  declareType("[]<T>", { bases: ["IList<T>", "IReadOnlyList<T>", "IEnumerable<T>", "Array"] }, arrayRows)
  declareType(
    "Array",
    { holds: (value) => Array.isArray(value) || value instanceof Uint8Array },
    {
      "Length: int": (self: Items) => self.length,
      "static Empty<T>(): T[]": () => [],
      "static IndexOf<T>(T[] items, T item): int": (items: Items, item: unknown) =>
        [...elementsOf(items)].findIndex((other) => same(other, item)),
      "static Exists<T>(T[] items, Func<T,bool> test): bool": (items: Items, test: Fn) =>
        elementsOf(items).some((item) => test(item) === true),
      "static Find<T>(T[] items, Func<T,bool> test): T": (items: Items, test: Fn) =>
        elementsOf(items).find((item) => test(item) === true) ?? null,
      "static FindAll<T>(T[] items, Func<T,bool> test): T[]": (items: Items, test: Fn) =>
        elementsOf(items).filter((item) => test(item) === true),
      "static FindIndex<T>(T[] items, Func<T,bool> test): int": (items: Items, test: Fn) =>
        elementsOf(items).findIndex((item) => test(item) === true),
      "static ConvertAll<T, R>(T[] items, Func<T,R> make): R[]": (items: Items, make: Fn) =>
        elementsOf(items).map((item) => make(item)),
      "static Reverse<T>(T[] items): void": (items: Items) => {
        items.reverse()
      },
      "static Sort<T>(T[] items): void": (items: unknown[]) => {
        chargeItems(items.length * 8)
        items.sort(compareValues)
      },
      "static Copy<T>(T[] from, T[] to, int count): void": (from: Items, to: Items, count: number) =>
        copy(from, 0, to, 0, count),
      "static Copy<T>(T[] from, int start, T[] to, int target, int count): void": copy,
    },
  )
  declareType(
    "Buffer",
    {},
    {
      "static BlockCopy<T>(T[] from, int start, T[] to, int target, int count): void": (
        from: Items,
        start: number,
        to: Items,
        target: number,
        count: number,
      ) => copy(from, start, to, target, count),
    },
  )
}

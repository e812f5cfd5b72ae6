import { CsDictionary, CsHashSet, CsList, CsTuple, Grouping } from "../collections.ts"
import { type CsException, invalidOperation, outOfRange } from "../errors.ts"
import { numberTypes } from "../numbers.ts"
import { charge, chargeItems } from "../run.ts"
import { declareType } from "../table.ts"
import type { CsType } from "../type.ts"
import { cast, defaultOf, isInstance, unbox } from "../type-test.ts"
import { compareValues, keyOf, same } from "../values.ts"
import { pairing } from "./linq-joins.ts"
import { adding } from "./linq-sums.ts"
import { sequenceExtensions } from "./messages.ts"
import { empty, type Fn, type Items, itself, list } from "./sequence.ts"
import { comparisonOf } from "./string-comparison.ts"

const noMatch = (): CsException => invalidOperation("Sequence contains no matching element")
const several = (): CsException => invalidOperation("Sequence contains more than one element")

function where(self: unknown, test: Fn): unknown[] {
  return list(self).filter((item, index) => {
    // Two steps: one for the item, one for the call of the program's function.
    charge(2)
    return test(item, index) === true
  })
}

function select(self: unknown, make: Fn): unknown[] {
  return list(self).map((item, index) => {
    charge(2)
    return make(item, index)
  })
}

/** The result of `FirstOrDefault` and similar members for an empty sequence. */
function nothing(types: readonly CsType[]): unknown {
  // The element's type decides: the default of `int` is 0 and not null.
  return types[0] === undefined ? null : defaultOf(types[0])
}

function only(items: Items, fallback: () => unknown): unknown {
  if (items.length > 1) throw several()
  return items.length === 0 ? fallback() : items[0]
}

function throwing(make: () => Error): () => never {
  return () => {
    throw make()
  }
}

/** The first item of each key, in the order of the sequence. Each item is charged, because keys are computed by the program. */
function distinctBy(items: Items, key: Fn): unknown[] {
  const seen = new Set<unknown>()
  return items.filter((item) => {
    charge(1)
    const id = keyOf(key(item))
    if (seen.has(id)) return false
    seen.add(id)
    return true
  })
}

/** Groups in the order in which their keys appear, as in .NET. */
function groupBy(self: unknown, key: Fn, pick: Fn): Grouping[] {
  const groups = new Map<unknown, Grouping>()
  for (const item of list(self)) {
    charge(2)
    const value = key(item)
    const id = keyOf(value)
    // Keys are compared by their content, as `Equals` does, and not by reference.
    let group = groups.get(id)
    if (group === undefined) {
      group = new Grouping(value)
      groups.set(id, group)
    }
    group.items.push(pick(item))
  }
  return [...groups.values()]
}

/** An ordered sequence, which `ThenBy` can order further. */
class Ordered extends CsList {
  readonly comparers: readonly ((a: unknown, b: unknown) => number)[]
  /** Sorts once with all comparers. `ThenBy` makes a new object with one more comparer, because a sort that was done cannot be refined. */
  constructor(items: Items, comparers: readonly ((a: unknown, b: unknown) => number)[]) {
    super(
      // `toSorted` is stable, as `OrderBy` is in .NET.
      items.toSorted((a, b) => {
        charge(1)
        for (const compare of comparers) {
          const order = compare(a, b)
          if (order !== 0) return order
        }
        return 0
      }),
    )
    this.comparers = comparers
  }
}

function byKey(key: Fn, sign: number): (a: unknown, b: unknown) => number {
  return (a, b) => sign * compareValues(key(a), key(b))
}

function toDictionary(self: unknown, key: Fn, value: Fn, comparer: unknown): CsDictionary {
  const made = new CsDictionary(comparisonOf(comparer))
  // `add` throws for a key that occurs twice, as `ToDictionary` does.
  for (const item of list(self)) made.add(key(item), value(item))
  return made
}

/** The interface of all sequences, with the methods of System.Linq.Enumerable. Sequences are computed at once, not lazily. */
export function declareLinq(): void {
  declareType(
    "IEnumerable<T>",
    { holds: isSequence },
    {
      ...shaping,
      ...picking,
      ...joining,
      ...making,
      ...adding,
      ...pairing,
      ...sequenceExtensions,
    },
  )
  declareType(
    "IGrouping<K, T>",
    { bases: ["IEnumerable<T>"], holds: (value) => value instanceof Grouping },
    {
      "Key: K": (self: Grouping) => self.key,
    },
  )
  declareType(
    "IOrderedEnumerable<T>",
    { bases: ["IEnumerable<T>"], holds: (value) => value instanceof Ordered },
    {
      "ThenBy<R>(Func<T,R> key): IOrderedEnumerable<T>": (self: Ordered, key: Fn) =>
        new Ordered(self.items, [...self.comparers, byKey(key, 1)]),
      "ThenByDescending<R>(Func<T,R> key): IOrderedEnumerable<T>": (self: Ordered, key: Fn) =>
        new Ordered(self.items, [...self.comparers, byKey(key, -1)]),
    },
  )
  // Sequences are computed at once, so `Repeat` and `Range` are charged for all their items.
  declareType(
    "Enumerable",
    {},
    {
      "static Range(int start, int count): IEnumerable<int>": (start: number, count: number) => {
        if (count < 0) throw outOfRange("count")
        chargeItems(count)
        return Array.from({ length: count }, (_, index) => start + index)
      },
      "static Repeat<R>(R element, int count): IEnumerable<R>": (element: unknown, count: number) => {
        if (count < 0) throw outOfRange("count")
        chargeItems(count)
        return new Array(count).fill(element)
      },
      "static Empty<R>(): IEnumerable<R>": () => [],
    },
  )
}

/** Whether a value can be enumerated by a member of LINQ. */
function isSequence(value: unknown): boolean {
  if (Array.isArray(value) || typeof value === "string" || value instanceof Uint8Array) return true
  return (
    typeof value === "object" &&
    value !== null &&
    "elements" in value &&
    (value as CsList).elements() !== undefined
  )
}

const shaping = {
  "Where(Func<T,bool> test): IEnumerable<T>": where,
  "Where(Func<T,int,bool> test): IEnumerable<T>": where,
  "Select<R>(Func<T,R> make): IEnumerable<R>": select,
  "Select<R>(Func<T,int,R> make): IEnumerable<R>": select,
  "SelectMany<R>(Func<T,IEnumerable<R>> make): IEnumerable<R>": (self: unknown, make: Fn) =>
    list(self).flatMap((item) => list(make(item))),
  "OrderBy<R>(Func<T,R> key): IOrderedEnumerable<T>": (self: unknown, key: Fn) =>
    new Ordered(list(self), [byKey(key, 1)]),
  "OrderBy<R>(Func<T,R> key, object comparer): IOrderedEnumerable<T>": (
    self: unknown,
    key: Fn,
    comparer: unknown,
  ) =>
    new Ordered(list(self), [
      comparisonOf(comparer) === "ignore-case"
        ? // Only this comparer changes the order; cultures have none of their own here.
          byKey((item) => String(key(item)).toUpperCase(), 1)
        : byKey(key, 1),
    ]),
  "OrderByDescending<R>(Func<T,R> key): IOrderedEnumerable<T>": (self: unknown, key: Fn) =>
    new Ordered(list(self), [byKey(key, -1)]),
  "Distinct(): IEnumerable<T>": (self: unknown) => distinctBy(list(self), itself),
  "Distinct(object comparer): IEnumerable<T>": (self: unknown, comparer: unknown) =>
    distinctBy(list(self), (item) =>
      comparisonOf(comparer) === "ignore-case" && typeof item === "string" ? item.toUpperCase() : item,
    ),
  "Skip(int count): IEnumerable<T>": (self: unknown, count: number) => list(self).slice(Math.max(0, count)),
  "Take(int count): IEnumerable<T>": (self: unknown, count: number) =>
    list(self).slice(0, Math.max(0, count)),
  "TakeLast(int count): IEnumerable<T>": (self: unknown, count: number) =>
    // `slice(-0)` would be the whole list.
    count <= 0 ? [] : list(self).slice(-count),
  "SkipLast(int count): IEnumerable<T>": (self: unknown, count: number) =>
    count <= 0 ? list(self) : list(self).slice(0, -count),
  "SkipWhile(Func<T,bool> test): IEnumerable<T>": (self: unknown, test: Fn) => {
    const items = list(self)
    const first = items.findIndex((item) => test(item) !== true)
    return first < 0 ? [] : items.slice(first)
  },
  "TakeWhile(Func<T,bool> test): IEnumerable<T>": (self: unknown, test: Fn) => {
    const items = list(self)
    const end = items.findIndex((item) => test(item) !== true)
    return end < 0 ? items : items.slice(0, end)
  },
  "Reverse(): IEnumerable<T>": (self: unknown) => list(self).toReversed(),
  "GroupBy<K>(Func<T,K> key): IEnumerable<IGrouping<K,T>>": (self: unknown, key: Fn) =>
    groupBy(self, key, itself),
  "GroupBy<K, R>(Func<T,K> key, Func<T,R> pick): IEnumerable<IGrouping<K,R>>": groupBy,
  "AsEnumerable(): IEnumerable<T>": list,
  "DefaultIfEmpty(T fallback): IEnumerable<T>": (self: unknown, fallback: unknown) => {
    const items = list(self)
    return items.length === 0 ? [fallback] : items
  },
  "typed Cast<R>(): IEnumerable<R>": (types: readonly CsType[], self: unknown) =>
    list(self).map((item) =>
      // A boxed number is an object here; `Cast<int>` unboxes it.
      types[0]?.name !== undefined && isInstance(item, types[0])
        ? unboxed(item, types[0])
        : cast(item, types[0] as CsType),
    ),
  "typed OfType<R>(): IEnumerable<R>": (types: readonly CsType[], self: unknown) =>
    list(self)
      .filter((item) => isInstance(item, types[0] as CsType))
      .map((item) => unboxed(item, types[0] as CsType)),
}

function unboxed(value: unknown, type: CsType): unknown {
  return Object.hasOwn(numberTypes, type.name) || type.name === "char" ? unbox(value, type) : value
}

/** Members that pick one item. The variants with `OrDefault` give the default value of the element's type. */
const picking = {
  "First(): T": (self: unknown) => {
    const items = list(self)
    if (items.length === 0) throw empty()
    return items[0]
  },
  "First(Func<T,bool> test): T": (self: unknown, test: Fn) => {
    for (const item of list(self)) if (test(item) === true) return item
    throw noMatch()
  },
  "typed FirstOrDefault(): T": (types: readonly CsType[], self: unknown) => {
    const items = list(self)
    return items.length === 0 ? nothing(types) : items[0]
  },
  "typed FirstOrDefault(Func<T,bool> test): T": (types: readonly CsType[], self: unknown, test: Fn) => {
    for (const item of list(self)) if (test(item) === true) return item
    return nothing(types)
  },
  "Last(): T": (self: unknown) => {
    const items = list(self)
    if (items.length === 0) throw empty()
    return items[items.length - 1]
  },
  "Last(Func<T,bool> test): T": (self: unknown, test: Fn) => {
    const items = where(self, test)
    if (items.length === 0) throw noMatch()
    return items[items.length - 1]
  },
  "typed LastOrDefault(): T": (types: readonly CsType[], self: unknown) => {
    const items = list(self)
    return items.length === 0 ? nothing(types) : items[items.length - 1]
  },
  "typed LastOrDefault(Func<T,bool> test): T": (types: readonly CsType[], self: unknown, test: Fn) => {
    const items = where(self, test)
    return items.length === 0 ? nothing(types) : items[items.length - 1]
  },
  "Single(): T": (self: unknown) => only(list(self), throwing(empty)),
  "Single(Func<T,bool> test): T": (self: unknown, test: Fn) => only(where(self, test), throwing(noMatch)),
  "typed SingleOrDefault(): T": (types: readonly CsType[], self: unknown) =>
    only(list(self), () => nothing(types)),
  "typed SingleOrDefault(Func<T,bool> test): T": (types: readonly CsType[], self: unknown, test: Fn) =>
    only(where(self, test), () => nothing(types)),
  "ElementAt(int index): T": (self: unknown, index: number) => {
    const items = list(self)
    if (index < 0 || index >= items.length) throw outOfRange("index")
    return items[index]
  },
  "typed ElementAtOrDefault(int index): T": (types: readonly CsType[], self: unknown, index: number) => {
    const items = list(self)
    return index < 0 || index >= items.length ? nothing(types) : items[index]
  },
  "Any(): bool": (self: unknown) => list(self).length > 0,
  "Any(Func<T,bool> test): bool": (self: unknown, test: Fn) =>
    list(self).some((item) => {
      charge(2)
      return test(item) === true
    }),
  "All(Func<T,bool> test): bool": (self: unknown, test: Fn) =>
    list(self).every((item) => {
      charge(2)
      return test(item) === true
    }),
  "Count(): int": (self: unknown) => list(self).length,
  "Count(Func<T,bool> test): int": (self: unknown, test: Fn) => where(self, test).length,
  "LongCount(): long": (self: unknown) => BigInt(list(self).length),
  "Contains(T item): bool": (self: unknown, item: unknown) => list(self).some((other) => same(other, item)),
  "Contains(T item, object comparer): bool": (self: unknown, item: unknown, comparer: unknown) => {
    // A set with the comparer: it already knows how to fold keys.
    const set = new CsHashSet(comparisonOf(comparer))
    for (const other of list(self)) set.add(other)
    return set.has(item)
  },
  "SequenceEqual(IEnumerable<T> other): bool": (self: unknown, other: unknown) => {
    const [a, b] = [list(self), list(other)]
    return a.length === b.length && a.every((item, index) => same(item, b[index]))
  },
}

/** Members that combine two sequences. Sets of keys make them linear. */
const joining = {
  "Concat(IEnumerable<T> other): IEnumerable<T>": (self: unknown, other: unknown) => [
    ...list(self),
    ...list(other),
  ],
  "Append(T item): IEnumerable<T>": (self: unknown, item: unknown) => [...list(self), item],
  "Prepend(T item): IEnumerable<T>": (self: unknown, item: unknown) => [item, ...list(self)],
  "Union(IEnumerable<T> other): IEnumerable<T>": (self: unknown, other: unknown) =>
    distinctBy([...list(self), ...list(other)], itself),
  "Intersect(IEnumerable<T> other): IEnumerable<T>": (self: unknown, other: unknown) => {
    const set = new Set(list(other).map(keyOf))
    return distinctBy(
      list(self).filter((item) => set.has(keyOf(item))),
      itself,
    )
  },
  "Except(IEnumerable<T> other): IEnumerable<T>": (self: unknown, other: unknown) => {
    const set = new Set(list(other).map(keyOf))
    return distinctBy(
      list(self).filter((item) => !set.has(keyOf(item))),
      itself,
    )
  },
  "Zip<U, R>(IEnumerable<U> other, Func<T,U,R> make): IEnumerable<R>": (
    self: unknown,
    other: unknown,
    make: Fn,
  ) => {
    const [a, b] = [list(self), list(other)]
    return a.slice(0, b.length).map((item, index) => make(item, b[index]))
  },
  "Zip<U>(IEnumerable<U> other): IEnumerable<Tuple<T,U>>": (self: unknown, other: unknown) => {
    const [a, b] = [list(self), list(other)]
    return a.slice(0, b.length).map((item, index) => new CsTuple([item, b[index]]))
  },
}

/** Members that make a collection. */
const making = {
  "ToList(): List<T>": (self: unknown) => new CsList([...list(self)]),
  "typed ToArray(): T[]": (types: readonly CsType[], self: unknown) =>
    // Byte arrays are typed arrays everywhere.
    types[0]?.name === "byte" ? Uint8Array.from(list(self) as number[]) : [...list(self)],
  "ToHashSet(): HashSet<T>": (self: unknown) => {
    const set = new CsHashSet()
    for (const item of list(self)) set.add(item)
    return set
  },
  "ToHashSet(object comparer): HashSet<T>": (self: unknown, comparer: unknown) => {
    const set = new CsHashSet(comparisonOf(comparer))
    for (const item of list(self)) set.add(item)
    return set
  },
  "ToDictionary<K>(Func<T,K> key): Dictionary<K,T>": (self: unknown, key: Fn) =>
    toDictionary(self, key, itself, null),
  "ToDictionary<K, V>(Func<T,K> key, Func<T,V> value): Dictionary<K,V>": (
    self: unknown,
    key: Fn,
    value: Fn,
  ) => toDictionary(self, key, value, null),
  "ToDictionary<K, V>(Func<T,K> key, Func<T,V> value, object comparer): Dictionary<K,V>": toDictionary,
  "ToLookup<K>(Func<T,K> key): IEnumerable<IGrouping<K,T>>": (self: unknown, key: Fn) =>
    groupBy(self, key, itself),
}

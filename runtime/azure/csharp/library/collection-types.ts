import {
  CsDictionary,
  CsHashSet,
  CsList,
  CsQueue,
  CsStack,
  CsTuple,
  checkRange,
  KeyValuePair,
  listRange,
} from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import { argument, CsException, outOfRange } from "../errors.ts"
import { charge, chargeItems } from "../run.ts"
import { declareType } from "../table.ts"
import type { CsType } from "../type.ts"
import { defaultOf } from "../type-test.ts"
import { compareValues, elementsOf, same } from "../values.ts"
import { comparisonOf } from "./string-comparison.ts"

type Fn = (...values: unknown[]) => unknown

export function declareCollections(): void {
  declareList()
  declareDictionary()
  declareSets()
  declareTuples()
}

const bases = ["IList<T>", "IReadOnlyList<T>", "IEnumerable<T>"]

/** Members of `List<T>`. Copies are charged by their length, because a program could double a list in each round of a loop. */
const listRows: Record<string, (...values: never[]) => unknown> = {
  "new(): List<T>": () => new CsList(),
  // The capacity is only a hint of .NET's memory management.
  "new(int capacity): List<T>": () => new CsList(),
  "new(IEnumerable<T> items): List<T>": (items: unknown) => {
    const copied = elementsOf(items)
    chargeItems(copied.length)
    return new CsList([...copied])
  },
  "Count: int": (self: CsList) => self.items.length,
  "this[int index]: T": (self: CsList, index: number) => self.at(index),
  "set this[int index]: T": (self: CsList, index: number, value: unknown) => {
    // Checks the index: JavaScript would extend the array.
    self.at(index)
    self.items[index] = value
  },
  "Add(T item): void": (self: CsList, item: unknown) => self.add(item),
  "AddRange(IEnumerable<T> items): void": (self: CsList, items: unknown) => {
    // A copy, because a list may be added to itself.
    for (const item of [...elementsOf(items)]) self.add(item)
  },
  "Insert(int index, T item): void": (self: CsList, index: number, item: unknown) => {
    if (index < 0 || index > self.items.length) throw outOfRange("index")
    chargeItems(1 + (self.items.length >>> 6))
    self.items.splice(index, 0, item)
  },
  "Remove(T item): bool": (self: CsList, item: unknown) => {
    charge(self.items.length)
    const index = self.items.findIndex((other) => same(other, item))
    if (index >= 0) self.items.splice(index, 1)
    return index >= 0
  },
  "RemoveAt(int index): void": (self: CsList, index: number) => {
    self.at(index)
    self.items.splice(index, 1)
  },
  "RemoveRange(int index, int count): void": (self: CsList, index: number, count: number) => {
    checkRange(index, count, self.items.length)
    self.items.splice(index, count)
  },
  "RemoveAll(Func<T,bool> test): int": (self: CsList, test: Fn) => {
    const before = self.items.length
    self.items = self.items.filter((item) => test(item) !== true)
    return before - self.items.length
  },
  "Clear(): void": (self: CsList) => {
    self.items = []
  },
  "Contains(T item): bool": (self: CsList, item: unknown) =>
    found(self.items, (other) => same(other, item)) >= 0,
  "IndexOf(T item): int": (self: CsList, item: unknown) => found(self.items, (other) => same(other, item)),
  "typed Find(Func<T,bool> test): T": (types: readonly CsType[], self: CsList, test: Fn) => {
    const index = found(self.items, test)
    return index < 0 ? defaultOf(types[0] as CsType) : self.items[index]
  },
  "FindIndex(Func<T,bool> test): int": (self: CsList, test: Fn) => found(self.items, test),
  "FindAll(Func<T,bool> test): List<T>": (self: CsList, test: Fn) =>
    new CsList(self.items.filter((item) => test(item) === true)),
  "Exists(Func<T,bool> test): bool": (self: CsList, test: Fn) => found(self.items, test) >= 0,
  "TrueForAll(Func<T,bool> test): bool": (self: CsList, test: Fn) =>
    self.items.every((item) => test(item) === true),
  "ForEach(Action<T> run): void": (self: CsList, run: Fn) => {
    // A copy: the function may change the list, which .NET refuses and policies do not do.
    for (const item of [...self.items]) run(item)
  },
  "ConvertAll<R>(Func<T,R> make): List<R>": (self: CsList, make: Fn) =>
    new CsList(self.items.map((item) => make(item))),
  "GetRange(int index, int count): List<T>": (self: CsList, index: number, count: number) => {
    checkRange(index, count, self.items.length)
    return new CsList(self.items.slice(index, index + count))
  },
  "Reverse(): void": (self: CsList) => {
    self.items.reverse()
  },
  "Sort(): void": (self: CsList) => sort(self, compareValues),
  "Sort(Func<T,T,int> compare): void": (self: CsList, compare: Fn) =>
    sort(self, (a, b) => compare(a, b) as number),
  // The same object: .NET's wrapper shows later changes, too.
  "AsReadOnly(): IReadOnlyList<T>": (self: CsList) => self,
}

/** Lists and the interfaces they have. Arrays have the same interfaces, so the members work on both. */
function declareList(): void {
  for (const name of ["ICollection", "IReadOnlyCollection", "IList", "IReadOnlyList"])
    declareType(
      `${name}<T>`,
      {
        bases: ["IEnumerable<T>"],
        holds: (value) => value instanceof CsList || Array.isArray(value) || value instanceof CsHashSet,
      },
      {
        "Count: int": (self: unknown) => elementsOf(self).length,
        "Contains(T item): bool": (self: unknown, item: unknown) =>
          elementsOf(self).some((other) => same(other, item)),
        ...(name.endsWith("List") ? { "this[int index]: T": indexed } : {}),
        ...(name.startsWith("IRead") ? {} : collectionRows),
        ...(name === "IList" ? listChanges : {}),
      },
    )
  declareType("List<T>", { bases, holds: (value) => value instanceof CsList }, listRows)
}

function found(items: readonly unknown[], test: Fn): number {
  charge(items.length)
  return items.findIndex((item) => test(item) === true)
}

function sort(self: CsList, compare: (a: unknown, b: unknown) => number): void {
  self.items.sort((a, b) => {
    charge(1)
    return compare(a, b)
  })
}

function indexed(self: unknown, index: number): unknown {
  const items = elementsOf(self)
  if (index < 0 || index >= items.length) throw listRange()
  return items[index]
}

const fixedSize = (): CsException =>
  new CsException("NotSupportedException", "Collection was of a fixed size.")

/** Arrays are lists with changeable items and a fixed length. */
function asList(self: unknown): CsList {
  if (self instanceof CsList) return self
  throw fixedSize()
}

/** Members that change a collection, for lists and sets. */
const collectionRows: Record<string, (...values: never[]) => unknown> = {
  "Add(T item): void": (self: unknown, item: unknown) => {
    if (self instanceof CsHashSet) self.add(item)
    else asList(self).add(item)
  },
  "Remove(T item): bool": (self: unknown, item: unknown) => {
    if (self instanceof CsHashSet) return self.delete(item)
    const { items } = asList(self)
    const index = found(items, (other) => same(other, item))
    if (index >= 0) items.splice(index, 1)
    return index >= 0
  },
  "Clear(): void": (self: unknown) => {
    if (self instanceof CsHashSet) self.clear()
    else asList(self).items = []
  },
}

/** Members of lists that need an index. Moving the items after it is charged at a 64th of a step for each. */
const listChanges: Record<string, (...values: never[]) => unknown> = {
  "set this[int index]: T": (self: CsList | unknown[], index: number, value: unknown) => {
    indexed(self, index)
    if (self instanceof CsList) self.items[index] = value
    else self[index] = value
  },
  "IndexOf(T item): int": (self: unknown, item: unknown) =>
    found(elementsOf(self), (other) => same(other, item)),
  "Insert(int index, T item): void": (self: unknown, index: number, item: unknown) => {
    const { items } = asList(self)
    if (index < 0 || index > items.length) throw outOfRange("index")
    chargeItems(1 + (items.length >>> 6))
    items.splice(index, 0, item)
  },
  "RemoveAt(int index): void": (self: unknown, index: number) => {
    indexed(self, index)
    asList(self).items.splice(index, 1)
  },
}

function copied(source: CsDictionary, comparer: unknown): CsDictionary {
  const made = new CsDictionary(comparisonOf(comparer))
  for (const pair of source.elements() as KeyValuePair[]) made.add(pair.key, pair.value)
  return made
}

/** Members of all dictionaries that only read. `TryGetValue` sets the default of the value's type when the key is missing, as in .NET. */
const reading = {
  "Count: int": (self: CsDictionary) => self.size,
  "Keys: List<K>": (self: CsDictionary) => new CsList(self.keys()),
  "Values: List<V>": (self: CsDictionary) => new CsList(self.values()),
  "this[K key]: V": (self: CsDictionary, key: unknown) => self.get(key),
  "ContainsKey(K key): bool": (self: CsDictionary, key: unknown) => self.has(key),
  "typed TryGetValue(K key, out V value): bool": (
    types: readonly CsType[],
    self: CsDictionary,
    key: unknown,
    out: OutPlace,
  ) => {
    const entry = self.find(key)
    // The default of the value's type, as .NET sets it when the key is missing.
    out.set(entry === undefined ? defaultOf(types[1] as CsType) : entry.value)
    return entry !== undefined
  },
  "typed GetValueOrDefault(K key): V": (types: readonly CsType[], self: CsDictionary, key: unknown) => {
    const entry = self.find(key)
    return entry === undefined ? defaultOf(types[1] as CsType) : entry.value
  },
  "GetValueOrDefault(K key, V fallback): V": (self: CsDictionary, key: unknown, fallback: unknown) => {
    const entry = self.find(key)
    return entry === undefined ? fallback : entry.value
  },
}

const writing = {
  "set this[K key]: V": (self: CsDictionary, key: unknown, value: unknown) => self.set(key, value),
  "Add(K key, V value): void": (self: CsDictionary, key: unknown, value: unknown) => self.add(key, value),
  "Remove(K key): bool": (self: CsDictionary, key: unknown) => self.delete(key),
  "Clear(): void": (self: CsDictionary) => self.clear(),
}

/** Dictionaries and their interfaces; the read-only interface has no members that write. */
function declareDictionary(): void {
  const holds = (value: unknown): boolean => value instanceof CsDictionary
  declareType("IReadOnlyDictionary<K, V>", { bases: ["IEnumerable<KeyValuePair<K, V>>"], holds }, reading)
  declareType(
    "IDictionary<K, V>",
    { bases: ["IEnumerable<KeyValuePair<K, V>>"], holds },
    { ...reading, ...writing },
  )
  declareType(
    "Dictionary<K, V>",
    { bases: ["IDictionary<K, V>", "IReadOnlyDictionary<K, V>", "IEnumerable<KeyValuePair<K, V>>"], holds },
    {
      ...reading,
      ...writing,
      "new(): Dictionary<K, V>": () => new CsDictionary(),
      // The capacity is only a hint.
      "new(int capacity): Dictionary<K, V>": () => new CsDictionary(),
      "new(StringComparer comparer): Dictionary<K, V>": (comparer: unknown) =>
        new CsDictionary(comparisonOf(comparer)),
      "new(IDictionary<K, V> source): Dictionary<K, V>": (source: CsDictionary) => copied(source, null),
      "new(IDictionary<K, V> source, StringComparer comparer): Dictionary<K, V>": copied,
      "ContainsValue(V value): bool": (self: CsDictionary, value: unknown) =>
        self.values().some((other) => same(other, value)),
      "TryAdd(K key, V value): bool": (self: CsDictionary, key: unknown, value: unknown) => {
        if (self.has(key)) return false
        self.set(key, value)
        return true
      },
    },
  )
  declareType(
    "KeyValuePair<K, V>",
    { value: true, holds: (value) => value instanceof KeyValuePair },
    {
      // The zero of a structure: C# never has null here.
      "static default(): object": () => new KeyValuePair(null, null),
      "new(K key, V value): KeyValuePair<K, V>": (key: unknown, value: unknown) =>
        new KeyValuePair(key, value),
      "Key: K": (self: KeyValuePair) => self.key,
      "Value: V": (self: KeyValuePair) => self.value,
    },
  )
}

function setOf(items: unknown, comparer: unknown): CsHashSet {
  const made = new CsHashSet(comparisonOf(comparer))
  for (const item of elementsOf(items)) made.add(item)
  return made
}

/** Members of `HashSet<T>`. Methods with a second sequence build a set of it first, so that they need linear time. */
const setRows: Record<string, (...values: never[]) => unknown> = {
  "new(): HashSet<T>": () => new CsHashSet(),
  "new(StringComparer comparer): HashSet<T>": (comparer: unknown) => new CsHashSet(comparisonOf(comparer)),
  "new(IEnumerable<T> items): HashSet<T>": (items: unknown) => setOf(items, null),
  "new(IEnumerable<T> items, StringComparer comparer): HashSet<T>": setOf,
  "Count: int": (self: CsHashSet) => self.size,
  "Add(T item): bool": (self: CsHashSet, item: unknown) => self.add(item),
  "Contains(T item): bool": (self: CsHashSet, item: unknown) => self.has(item),
  "Remove(T item): bool": (self: CsHashSet, item: unknown) => self.delete(item),
  "Clear(): void": (self: CsHashSet) => self.clear(),
  "UnionWith(IEnumerable<T> items): void": (self: CsHashSet, items: unknown) => {
    for (const item of elementsOf(items)) self.add(item)
  },
  "Overlaps(IEnumerable<T> items): bool": (self: CsHashSet, items: unknown) =>
    elementsOf(items).some((item) => self.has(item)),
  "IsSubsetOf(IEnumerable<T> items): bool": (self: CsHashSet, items: unknown) => {
    // A set, so that the question needs linear and not quadratic time.
    const other = setOf(items, null)
    return self.elements().every((item) => other.has(item))
  },
  "IsSupersetOf(IEnumerable<T> items): bool": (self: CsHashSet, items: unknown) =>
    elementsOf(items).every((item) => self.has(item)),
  "SetEquals(IEnumerable<T> items): bool": (self: CsHashSet, items: unknown) => {
    const other = setOf(items, null)
    return other.size === self.size && self.elements().every((item) => other.has(item))
  },
}

function filled<Made extends CsQueue | CsStack>(made: Made, items: unknown): Made {
  for (const item of elementsOf(items)) made.put(item)
  return made
}

function declareSets(): void {
  declareType(
    "HashSet<T>",
    { bases: ["ICollection<T>", "IEnumerable<T>"], holds: (value) => value instanceof CsHashSet },
    setRows,
  )
  declareType(
    "Queue<T>",
    { bases: ["IEnumerable<T>"], holds: (value) => value instanceof CsQueue },
    {
      "new(): Queue<T>": () => new CsQueue(),
      "new(IEnumerable<T> items): Queue<T>": (items: unknown) => filled(new CsQueue(), items),
      "Count: int": (self: CsQueue) => self.items.length,
      "Enqueue(T item): void": (self: CsQueue, item: unknown) => self.put(item),
      "Dequeue(): T": (self: CsQueue) => self.take(),
      "Peek(): T": (self: CsQueue) => self.peek(),
      "Clear(): void": (self: CsQueue) => {
        self.items = []
      },
    },
  )
  declareType(
    "Stack<T>",
    { bases: ["IEnumerable<T>"], holds: (value) => value instanceof CsStack },
    {
      "new(): Stack<T>": () => new CsStack(),
      "new(IEnumerable<T> items): Stack<T>": (items: unknown) => filled(new CsStack(), items),
      "Count: int": (self: CsStack) => self.items.length,
      "Push(T item): void": (self: CsStack, item: unknown) => self.put(item),
      "Pop(): T": (self: CsStack) => self.take(),
      "Peek(): T": (self: CsStack) => self.peek(),
      "Clear(): void": (self: CsStack) => {
        self.items = []
      },
    },
  )
}

/** `System.Tuple` and value tuples. C# copies value tuples; the difference is invisible, because they are immutable here. */
function declareTuples(): void {
  const letters = ["A", "B", "C", "D", "E", "F", "G"]
  const items: Record<string, (...values: never[]) => unknown> = {}
  letters.forEach((name, index) => {
    items[`Item${index + 1}: ${name}`] = (self: CsTuple) => {
      if (index >= self.items.length) throw argument("The tuple has no such item.")
      return self.items[index]
    }
  })
  for (const type of ["Tuple", "ValueTuple"]) {
    const rows: Record<string, (...values: never[]) => unknown> = {}
    for (let count = 1; count <= letters.length; count++) {
      const names = letters.slice(0, count)
      const parameters = names.map((name) => `${name} ${name.toLowerCase()}`).join(", ")
      const make = (...given: unknown[]) => new CsTuple(given)
      rows[`static Create<${names.join(", ")}>(${parameters}): ${type}<${names.join(", ")}>`] = make
      // `new Tuple<int, string>(1, "a")`: the type determines the number of items.
      rows[`new(${parameters}): ${type}<${letters.join(", ")}>`] = make
    }
    const isTuple = { holds: (value: unknown) => value instanceof CsTuple, value: type === "ValueTuple" }
    declareType(`${type}<${letters.join(", ")}>`, isTuple, { ...rows, ...items })
  }
}

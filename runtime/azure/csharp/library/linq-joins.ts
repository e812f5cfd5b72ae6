import { charge, chargeItems } from "../run.ts"
import type { CsType } from "../type.ts"
import { defaultOf } from "../type-test.ts"
import { keyOf } from "../values.ts"
import { type Fn, type Items, list } from "./sequence.ts"

/** The elements of a sequence by key; an element with a null key matches nothing, as in .NET. */
function byKeys(items: Items, key: Fn): ReadonlyMap<unknown, Items> {
  const found = new Map<unknown, unknown[]>()
  for (const item of items) {
    charge(2)
    const value = key(item)
    if (value === null || value === undefined) continue
    const id = keyOf(value)
    const known = found.get(id)
    if (known === undefined) found.set(id, [item])
    else known.push(item)
  }
  return found
}

/** Each element of the first sequence with the elements of the second one that have its key. */
function matched(self: unknown, inner: unknown, outerKey: Fn, innerKey: Fn): (readonly [unknown, Items])[] {
  const known = byKeys(list(inner), innerKey)
  return list(self).map((item) => {
    charge(2)
    const value = outerKey(item)
    return [item, value === null || value === undefined ? [] : (known.get(keyOf(value)) ?? [])] as const
  })
}

/** Members of System.Linq.Enumerable that combine sequences. */
export const pairing = {
  "SelectMany<C, R>(Func<T,IEnumerable<C>> inner, Func<T,C,R> make): IEnumerable<R>": (
    self: unknown,
    inner: Fn,
    make: Fn,
  ) =>
    list(self).flatMap((item) =>
      list(inner(item)).map((other) => {
        charge(2)
        return make(item, other)
      }),
    ),
  "Join<U, K, R>(IEnumerable<U> inner, Func<T,K> outerKey, Func<U,K> innerKey, Func<T,U,R> make): IEnumerable<R>":
    (self: unknown, inner: unknown, outerKey: Fn, innerKey: Fn, make: Fn) =>
      matched(self, inner, outerKey, innerKey).flatMap(([item, others]) => {
        chargeItems(others.length)
        return others.map((other) => {
          charge(2)
          return make(item, other)
        })
      }),
  "GroupJoin<U, K, R>(IEnumerable<U> inner, Func<T,K> outerKey, Func<U,K> innerKey, Func<T,IEnumerable<U>,R> make): IEnumerable<R>":
    (self: unknown, inner: unknown, outerKey: Fn, innerKey: Fn, make: Fn) =>
      matched(self, inner, outerKey, innerKey).map(([item, others]) => make(item, others)),
  "typed DefaultIfEmpty(): IEnumerable<T>": (types: readonly CsType[], self: unknown) => {
    const items = list(self)
    return items.length > 0 ? items : [types[0] === undefined ? null : defaultOf(types[0])]
  },
}

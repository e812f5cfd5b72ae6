import { Decimal } from "../decimal.ts"
import { CsException } from "../errors.ts"
import type { CsType } from "../type.ts"
import { defaultOf } from "../type-test.ts"
import { compareValues } from "../values.ts"
import { empty, type Fn, itself, list } from "./sequence.ts"

type Operand = number | bigint | Decimal

function add(a: Operand, b: Operand): Operand {
  if (a instanceof Decimal) return a.add(b as Decimal)
  return typeof a === "bigint" ? BigInt.asIntN(64, a + (b as bigint)) : a + (b as number)
}

/** The sum in the type of the elements; `zero` for an empty sequence. */
function sum(self: unknown, pick: Fn, zero: Operand): Operand {
  let total = zero
  for (const value of list(self).map((item) => pick(item)))
    if (value !== null) total = add(total, value as Operand)
  if (typeof total === "number" && zero === 0 && !Object.is(zero, -0) && Math.abs(total) > 2 ** 31)
    throw new CsException("OverflowException", "Arithmetic operation resulted in an overflow.")
  return total
}

function average(self: unknown, pick: Fn): unknown {
  const values = list(self).map((item) => pick(item)) as Operand[]
  if (values.length === 0) throw empty()
  if (values[0] instanceof Decimal)
    return (values.reduce(add) as Decimal).divide(Decimal.fromInt(values.length))
  return values.reduce<number>((total, value) => total + Number(value), 0) / values.length
}

function extreme(self: unknown, pick: Fn, sign: number): unknown {
  const values = list(self)
    .map((item) => pick(item))
    .filter((value) => value !== null)
  if (values.length === 0) throw empty()
  return values.reduce((best, value) => (sign * compareValues(value, best) > 0 ? value : best))
}

/**
 * Members that reduce a sequence to one value. The overloads of `Sum` start with a zero of the type, because the operators do not mix
 * types. -0 is the neutral element for doubles.
 */
export const adding = {
  "Aggregate(Func<T,T,T> step): T": (self: unknown, step: Fn) => {
    const items = list(self)
    if (items.length === 0) throw empty()
    return items.reduce((total, item) => step(total, item))
  },
  "Aggregate<A>(A seed, Func<A,T,A> step): A": (self: unknown, seed: unknown, step: Fn) =>
    list(self).reduce((total, item) => step(total, item), seed),
  "Aggregate<A, R>(A seed, Func<A,T,A> step, Func<A,R> last): R": (
    self: unknown,
    seed: unknown,
    step: Fn,
    last: Fn,
  ) => last(list(self).reduce((total, item) => step(total, item), seed)),
  "Sum(Func<T,int> pick): int": (self: unknown, pick: Fn) => sum(self, pick, 0),
  "Sum(Func<T,long> pick): long": (self: unknown, pick: Fn) => sum(self, pick, 0n),
  "Sum(Func<T,double> pick): double": (self: unknown, pick: Fn) => sum(self, pick, -0),
  "Sum(Func<T,decimal> pick): decimal": (self: unknown, pick: Fn) => sum(self, pick, Decimal.fromInt(0)),
  "typed Sum(): T": (types: readonly CsType[], self: unknown) =>
    sum(self, itself, types[0]?.name === "double" ? -0 : (defaultOf(types[0] as CsType) as Operand)),
  "Average(Func<T,decimal> pick): decimal": average,
  "Average(Func<T,double> pick): double": average,
  "Average(): double": (self: unknown) => average(self, itself),
  "Min(): T": (self: unknown) => extreme(self, itself, -1),
  "Max(): T": (self: unknown) => extreme(self, itself, 1),
  "Min<R>(Func<T,R> pick): R": (self: unknown, pick: Fn) => extreme(self, pick, -1),
  "Max<R>(Func<T,R> pick): R": (self: unknown, pick: Fn) => extreme(self, pick, 1),
}

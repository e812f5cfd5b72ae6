import { argumentNull, type CsException, invalidOperation } from "../errors.ts"
import { chargeItems } from "../run.ts"
import { elementsOf } from "../values.ts"

export type Items = readonly unknown[]
export type Fn = (...values: unknown[]) => unknown

export const empty = (): CsException => invalidOperation("Sequence contains no elements")
export function list(self: unknown): Items {
  if (self === null || self === undefined) throw argumentNull("source")
  const items = elementsOf(self)
  chargeItems(items.length)
  return items
}

export const itself: Fn = (item) => item

import type { AttributeRow, ChildRow, Shape } from "../shape.ts"
import type { DocumentSection, Used } from "../site.ts"
import type { Use } from "../use.ts"

/** A policy: where it may stand, what it holds, which steps it becomes. */
export interface PolicyRow extends Shape {
  readonly sections: readonly DocumentSection[]
  /** The steps; undefined when a value is wrong (reported). */
  readonly lower: (use: Use) => Used[] | undefined
}

export type ElementTable = Readonly<Record<string, PolicyRow>>

export const everywhere: readonly DocumentSection[] = ["inbound", "backend", "outbound", "on-error"]
export const inboundOnly: readonly DocumentSection[] = ["inbound"]

export const required: AttributeRow = { required: true }
export const optional: AttributeRow = {}
export const dynamic: AttributeRow = { dynamic: true }
export const requiredDynamic: AttributeRow = { required: true, dynamic: true }
export const flag: AttributeRow = { dynamic: true }

/** `<value>` with text, any number of them. */
export const values: ChildRow = { text: "value", many: true }

/** Whether nothing is undefined: a wrong part was reported and makes the whole wrong. */
export function complete<Parts extends Record<string, unknown>>(
  parts: Parts,
): parts is Parts & { [Key in keyof Parts]: Exclude<Parts[Key], undefined> } {
  return !Object.values(parts).includes(undefined)
}

/** The field, where there is one. */
export function given<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]: Value } | Record<never, never> {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value })
}

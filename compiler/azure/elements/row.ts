import type { AttributeRow, ChildRow, Shape, WholeNumbers } from "../shape.ts"
import type { DocumentSection, Used } from "../site.ts"
import type { Use } from "../use.ts"

/** A policy: the sections that allow it, its content, and its steps. */
export interface PolicyRow extends Shape {
  /** What it does, in a sentence, for editors. */
  readonly about: string
  readonly sections: readonly DocumentSection[]
  /** Makes the steps. Undefined when a value is wrong (reported). */
  readonly lower: (use: Use) => Used[] | undefined
}

export type ElementTable = Readonly<Record<string, PolicyRow>>

export const everywhere: readonly DocumentSection[] = ["inbound", "backend", "outbound", "on-error"]
export const inboundOnly: readonly DocumentSection[] = ["inbound"]

export const required: AttributeRow = { required: true }
export const optional: AttributeRow = {}
export const dynamic: AttributeRow = { dynamic: true }
export const requiredDynamic: AttributeRow = { required: true, dynamic: true }
/** `true` or `false`, by what holds without the attribute. */
export const fixedFlags: Readonly<Record<"on" | "off", AttributeRow>> = {
  on: { flag: true, byDefault: "true" },
  off: { flag: true, byDefault: "false" },
}
/** The same, where an expression is allowed. */
export const flags: Readonly<Record<"on" | "off", AttributeRow>> = {
  on: { ...fixedFlags.on, dynamic: true },
  off: { ...fixedFlags.off, dynamic: true },
}

/** Azure API Management has durations of 32 bits. */
const secondsMax = 2_147_483_647
/** Numbers of seconds. */
export const seconds: WholeNumbers = { min: 0, max: secondsMax }
/** The same, where zero makes no sense. */
export const secondsFromOne: WholeNumbers = { min: 1, max: secondsMax }
/** Statuses of refusals. */
export const errorStatuses: WholeNumbers = { min: 400, max: 599 }

/** `<value>` with text, any number of them. */
export const values: ChildRow = { text: "value", many: true }

/** Whether no part is undefined: an undefined part was reported and makes the whole invalid. */
export function complete<Parts extends Record<string, unknown>>(
  parts: Parts,
): parts is Parts & { [Key in keyof Parts]: Exclude<Parts[Key], undefined> } {
  return !Object.values(parts).includes(undefined)
}

/** An object with the field, or without it when the value is undefined. */
export function given<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]: Value } | Record<never, never> {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value })
}

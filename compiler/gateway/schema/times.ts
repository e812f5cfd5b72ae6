import { oneOf, slot } from "./row.ts"

/** Bounds of times that steps wait or keep something. */
export const stepTime = { min: 1_000, max: 31_536_000, wholeSeconds: true } as const

/** A time that is written out, or found per request. */
export const foundTime = oneOf([slot("seconds", "expression")], [slot("time", "duration", stepTime)])

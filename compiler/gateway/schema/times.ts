import { oneOf, slot } from "./row.ts"

/** Bounds for the waiting and storage times of steps. */
export const stepTime = { min: 1_000, max: 31_536_000, wholeSeconds: true } as const

/** A time as a literal, or as an expression evaluated per request. */
export const foundTime = oneOf([slot("seconds", "expression")], [slot("time", "duration", stepTime)])

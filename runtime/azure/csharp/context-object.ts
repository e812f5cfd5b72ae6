/** The value of `context` in every program; its members read from the running evaluation. */
export const contextObject = { typeName: "IProxyContext" } as const

/** A variable that a called function sets, for `out`. */
export interface OutPlace {
  set(value: unknown): void
}

/** The context object: what `context` is in every program; its members ask the running evaluation. */
export const contextObject = { typeName: "IProxyContext" } as const

/** A place a called function writes to, for `out`. */
export interface OutPlace {
  set(value: unknown): void
}

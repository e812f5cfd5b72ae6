/** Longest time of an exchange when nothing says otherwise. */
export const defaultTimeoutMs = 30_000

/** How old the engine's knowledge may be when nothing says otherwise: an outage must not keep what was revoked open for longer. */
export const defaultMaxStalenessMs = 10_000

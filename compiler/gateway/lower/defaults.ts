/** Longest time of an exchange when nothing says otherwise. */
export const defaultTimeoutMs = 30_000

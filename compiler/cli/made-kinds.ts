/** The kinds of things that are made through the APIs and are in no text. */
export const madeKinds = ["subscriptions", "stores", "tokens"] as const
/** One of `madeKinds`. */
export type MadeKind = (typeof madeKinds)[number]

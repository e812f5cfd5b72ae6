import type { Count, Flag } from "../../runtime/plan/step-values.ts"
import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { textWords } from "../analysis/words.ts"

type Lists = { readonly list: (ids: readonly string[]) => string; readonly severalStores: boolean }
type WordsOf<Kinds extends StepKind> = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>, words: Lists) => string
}

/** `5`, or `(CEL)` where it is found per request. */
export function countWordsOf(count: Count | Flag): string {
  return typeof count === "object" ? `(${count.expression.text})` : String(count)
}

/** A block in one line; nothing where it is empty. */
export function blockWords(statements: readonly string[]): string {
  return statements.length === 0 ? "" : ` { ${statements.join("; ")} }`
}

/** Steps that decide who may pass. */
export type AccessKind = "require-any" | "require-all" | "filter" | "grant"

/** Steps that decide who may pass, in words of gateway.conf. What a statement leaves to its default is left out. */
export const accessWords: WordsOf<AccessKind> = {
  "require-any": ({ steps }, words) => `require any { ${words.list(steps).replaceAll(/\brequire /g, "")} }`,
  "require-all": ({ steps }, words) => `require all { ${words.list(steps).replaceAll(/\brequire /g, "")} }`,
  filter: (step, words) =>
    `filter ${JSON.stringify(step.items || ".")} by ${askedWords(step)}${deciderWords(step, words)}${circumstanceWords(step)}`,
  grant: ({ action, relation, object, user, store }, words) =>
    action === "write"
      ? `grant ${relation} of ${textWords(object)} to ${textWords(user)}${deciderWords({ store }, words)}`
      : `revoke ${relation} of ${textWords(object)} from ${textWords(user)}${deciderWords({ store }, words)}`,
}

/** `viewer of "order:…" for "user:…"`. */
export function askedWords({
  relation,
  object,
  user,
}: Pick<StepOf<"require">, "relation" | "object" | "user">): string {
  return `${relation} of ${textWords(object)} for ${textWords(user)}`
}

/** ` in STORE` where there are several, ` by PDP` but for the one of `authz url`. */
export function deciderWords(
  { store, pdp }: Pick<StepOf<"require">, "store" | "pdp">,
  { severalStores }: Pick<Lists, "severalStores">,
): string {
  if (pdp !== undefined) return pdp === "authz" ? "" : ` by ${pdp}`
  return severalStores && store !== undefined ? ` in ${store}` : ""
}

/** The block of a question: what conditions see, properties, and tuples that count for it. */
export function circumstanceWords({
  context = [],
  tuples = [],
  properties = {},
}: Pick<StepOf<"require">, "context" | "tuples" | "properties">): string {
  return blockWords([
    ...context.map(({ key, value }) => `context ${key} (${value.text})`),
    ...(["subject", "resource", "action"] as const).flatMap((of) =>
      (properties[of] ?? []).map(({ key, value }) => `${of} ${key} (${value.text})`),
    ),
    ...tuples.map(
      ({ user, relation, object }) => `tuple ${textWords(user)} ${relation} ${textWords(object)}`,
    ),
  ])
}

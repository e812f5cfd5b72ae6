import type { BoundStatement } from "../bind/bound.ts"
import { type StatementRow, word } from "../schema/row.ts"
import { lookupForm } from "../steps/cache-lookup.ts"
import { lowerStore, storing } from "../steps/cache-store.ts"
import type { StatementPlace } from "./place.ts"
import type { Lowered, StepContext } from "./step.ts"

/** In scopes. */
export const cacheResponse: StatementRow = {
  keyword: "cache",
  forms: [{ args: [word("response"), ...storing], block: "cache response" }],
  docs: "Keeps answers of GET, with status 200 or where the condition holds, for a time: looked for behind all `inbound` statements, kept as the backend sent them, so that every `outbound` statement runs over them. Answers with cookies, or said to be private, for no cache or stale at once (`max-age=0`), are not kept, nor are those to requests with a token; how long the others are kept is said here alone.",
  example: 'cache response 60s { vary header "Accept-Language" }',
}

/** `cache response TIME if (CEL) { … }`: what looks behind inbound, and what keeps before outbound, at the place `later`. */
export function lowerCacheResponse(
  bound: BoundStatement,
  context: StepContext,
  later: StatementPlace,
): { readonly lookup: Lowered; readonly store: Lowered } | undefined {
  const lookup = lookupForm.lower(bound, context)
  const store = lowerStore(bound, context, later)
  return lookup === undefined || store === undefined ? undefined : { lookup, store }
}

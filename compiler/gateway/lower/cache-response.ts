import type { BoundStatement } from "../bind/bound.ts"
import { type StatementRow, word } from "../schema/row.ts"
import { lookupForm } from "../steps/cache-lookup.ts"
import { lowerStore, storing } from "../steps/cache-store.ts"
import type { StatementPlace } from "./place.ts"
import type { Lowered, StepContext } from "./step.ts"

/** The statement in scopes. */
export const cacheResponse: StatementRow = {
  keyword: "cache",
  forms: [{ args: [word("response"), ...storing], block: "cache response" }],
  docs: "Caches responses to GET with status 200, or those for which the condition holds. The cache is looked up after all `inbound` statements and keeps what the backend sent, so `outbound` statements run on every response. Responses with cookies, with `private`, `no-store`, `no-cache` or `max-age=0`, and responses to requests with a token are not kept. The lifetime is the one given here, not the backend's.",
  example: 'cache response 60s { vary header "Accept-Language" }',
}

/** `cache response TIME when (CEL) { … }`: a lookup step after inbound, and a store step before outbound at the place `later`. */
export function lowerCacheResponse(
  bound: BoundStatement,
  context: StepContext,
  later: StatementPlace,
): { readonly lookup: Lowered; readonly store: Lowered } | undefined {
  const lookup = lookupForm.lower(bound, context)
  const store = lowerStore(bound, context, later)
  return lookup === undefined || store === undefined ? undefined : { lookup, store }
}

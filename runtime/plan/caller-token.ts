import * as z from "zod"
import type { StepFacts } from "./facts.ts"
import { headerName } from "./header-name.ts"
import { headerOf, type Place, queryOf, variablePlaces } from "./places.ts"
import { type Count, constantCount } from "./step-values.ts"
import { text } from "./text.ts"

/**
 * One rule on a token's claims. `has-*` treats a string as a blank-separated list (RFC 8693 `scope`); dots in `claim` walk into objects.
 * `separator` splits a string instead of blanks; empty: a string is one value.
 */
export const claimRule = z.strictObject({
  claim: z.string().min(1).max(256),
  test: z.enum(["present", "has-any", "has-all", "equals-any"]),
  values: z.array(text).max(100),
  separator: z.string().max(16).optional(),
})

export type ClaimRule = z.infer<typeof claimRule>

/**
 * Where a credential is taken from. `scheme` null: the value stands alone, or behind `Bearer` all the same; else the scheme is demanded.
 * What came in the query or a cookie is taken out of the request unless `forward`; a header stays.
 */
export const credentialSource = z.union([
  z.strictObject({ header: headerName, scheme: z.string().min(1).max(64).nullable() }),
  z.strictObject({ query: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ cookie: z.string().min(1).max(128), forward: z.boolean() }),
  z.strictObject({ text }),
])

export type CredentialSource = z.infer<typeof credentialSource>

/** The field of HTTP's own credentials. */
export const authorization = headerOf("request", "authorization")

/** Where a credential is read, and what is taken out of the request once it was good. */
export function credentialPlaces(from: CredentialSource): {
  readonly read: Place[]
  readonly taken: Place[]
} {
  if ("header" in from) return { read: [headerOf("request", from.header)], taken: [] }
  if ("text" in from) return { read: [], taken: [] }
  const place = "query" in from ? queryOf(from.query) : headerOf("request", "cookie")
  return { read: [place], taken: from.forward ? [] : [place] }
}

/** Facts of a step that judges a token; `asked`: who else is asked about it. */
export function tokenFacts(
  { from, output }: { readonly from: CredentialSource; readonly output?: string | undefined },
  asked: readonly Place[] = [],
): StepFacts {
  const { read, taken } = credentialPlaces(from)
  return {
    reads: [...read, ...asked],
    writes: ["caller", ...variablePlaces(output), ...taken],
    ends: ["refuse"],
    waits: true,
  }
}

/** The statuses a token is refused with. */
export function tokenStatuses({
  status,
  claimStatus,
  claims,
}: {
  readonly status: Count
  readonly claimStatus: Count
  readonly claims: readonly ClaimRule[]
}): number[] {
  return [constantCount(status, 401), ...(claims.length === 0 ? [] : [constantCount(claimStatus, 403)])]
}

import * as z from "zod"
import type { StepFacts } from "./facts.ts"
import { headerName } from "./header-name.ts"
import { headerOf, type Place, queryOf, variablePlaces } from "./places.ts"
import { constantCount, count, variableName } from "./step-values.ts"
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

/** What a step that judges a token, of whatever kind, demands of it. */
export const tokenDemands = {
  from: credentialSource,
  claims: z.array(claimRule).max(50),
  audiences: z.array(text).max(100).optional(),
}

/** How such a step ends. Refused: `status`, perhaps with `message`; claims not met: `claimStatus`. `output`: the variable that gets what the token says. */
export const tokenOutcome = {
  status: count,
  claimStatus: count,
  message: text.optional(),
  output: variableName.optional(),
}

/** A step that judges a token. */
export type TokenCheck = z.infer<z.ZodObject<typeof tokenDemands & typeof tokenOutcome, z.core.$strict>>

/**
 * Where in a request a credential is shown: a token, user and password (RFC 7617), or the subscription key of an API, in the header first. A key or a password goes no further unless
 * `forward`.
 */
export type ShownCredential =
  | { readonly is: "token"; readonly from: CredentialSource }
  | { readonly is: "password"; readonly forward: boolean }
  | {
      readonly is: "key"
      readonly api: string
      readonly header: string | null
      readonly query: string | null
      readonly forward: boolean
    }

/** What a step does that lets in who shows a credential, and where the credential is shown. */
export interface CredentialFacts extends StepFacts {
  readonly shown: ShownCredential
}

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
  { from, output, status, claimStatus, claims }: TokenCheck,
  asked: readonly Place[] = [],
): CredentialFacts {
  const { read, taken } = credentialPlaces(from)
  return {
    shown: { is: "token", from },
    statuses: [constantCount(status, 401), ...(claims.length === 0 ? [] : [constantCount(claimStatus, 403)])],
    reads: [...read, ...asked],
    writes: ["caller", ...variablePlaces(output), ...taken],
    ends: ["refuse"],
    waits: true,
  }
}

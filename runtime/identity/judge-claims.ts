import type { Claims, TokenFault, TokenRules, Verification } from "./verifier.ts"

/** All requirements; see `TokenRules`. */
export type JudgedBy = Required<Omit<TokenRules, "mayFetch">> & {
  readonly audiences: readonly string[] | null
  readonly issuers: readonly string[] | null
  readonly clockSkewSeconds: number
  readonly requireExpiration: boolean
}

/** A later date (after year 9999) is invalid: it would exceed every limit computed from it. */
const dateSecondsMax = 253_402_300_799

/**
 * Checks the claims of a token with a valid signature (RFC 7519 §4.1): exact `iss`, one of the audiences, `exp`, `nbf` and `iat` with the clock skew.
 * Undefined: valid. Runs on every call, also for cached tokens: a token is not accepted after its end.
 */
export function judgeClaims(claims: Claims, rules: JudgedBy, nowMs: number): Verification | undefined {
  return (
    judgePresence(claims, rules) ??
    judgeIssuer(claims["iss"], rules.issuers) ??
    judgeAudience(claims["aud"], rules.audiences) ??
    judgeDates(claims, rules.clockSkewSeconds, Math.floor(nowMs / 1000))
  )
}

function judgePresence(claims: Claims, rules: JudgedBy): Verification | undefined {
  if (rules.requireExpiration && claims["exp"] === undefined) return missing("exp", "JwtInvalid")
  if (rules.issuers !== null && claims["iss"] === undefined) return missing("iss", "TokenIssuerNotAllowed")
  if (rules.audiences !== null && claims["aud"] === undefined)
    return missing("aud", "TokenAudienceNotAllowed")
  return undefined
}

/** `iss` must be one of the accepted issuers. */
function judgeIssuer(iss: unknown, issuers: readonly string[] | null): Verification | undefined {
  if (issuers === null || (typeof iss === "string" && issuers.includes(iss))) return undefined
  return invalid(
    "the token is from another issuer",
    "TokenIssuerNotAllowed",
    "iss",
    foundAndAccepted("iss", iss, issuers),
  )
}

/** One of the audiences of a token must be accepted (RFC 7519, section 4.1.3). */
function judgeAudience(aud: unknown, audiences: readonly string[] | null): Verification | undefined {
  if (audiences === null) return undefined
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (named.some((each) => typeof each === "string" && audiences.includes(each))) return undefined
  return invalid(
    "the token is for another audience",
    "TokenAudienceNotAllowed",
    "aud",
    foundAndAccepted("aud", aud, audiences),
  )
}

/** For the operator: what the token has, and what would be accepted. The token is signed by the issuer, but bounded all the same. */
function foundAndAccepted(claim: string, found: unknown, accepted: readonly string[]): string {
  const shown = (value: unknown): string => JSON.stringify(value).slice(0, shownMax)
  return `\`${claim}\` is ${shown(found)}, accepted: ${accepted.map(shown).join(", ").slice(0, shownMax) || "none"}`
}

const shownMax = 200

/** `exp`, `nbf` and `iat` with a tolerance for clocks that differ. */
function judgeDates(claims: Claims, skewSeconds: number, nowSeconds: number): Verification | undefined {
  const { exp, nbf, iat } = claims
  if (iat !== undefined && (typeof iat !== "number" || iat > nowSeconds + skewSeconds))
    return invalid("the token's `iat` is in the future", "JwtInvalid", "iat")
  if (nbf !== undefined && typeof nbf !== "number") return unacceptable("nbf")
  if (nbf !== undefined && nbf > nowSeconds + skewSeconds)
    return invalid("the token is not valid yet", "JwtInvalid", "nbf")
  if (exp === undefined) return undefined
  if (typeof exp !== "number") return unacceptable("exp")
  if (exp > dateSecondsMax) return invalid("the token's `exp` is not a date", "JwtInvalid", "exp")
  if (exp > nowSeconds - skewSeconds) return undefined
  return invalid("the token has expired", "TokenExpired", "exp", `${Math.floor(nowSeconds - exp)} s ago`)
}

function missing(claim: string, fault: TokenFault): Verification {
  return invalid(`the token's \`${claim}\` is missing`, fault, claim)
}

function unacceptable(claim: string): Verification {
  return invalid(`the token's \`${claim}\` has a value that is not accepted`, "JwtInvalid", claim)
}

/** A refusal. `reason` is a fixed text: no content of the token is part of a response. `detail` is for the log. */
export function invalid(reason: string, fault: TokenFault, claim?: string, detail?: string): Verification {
  return {
    ...{ kind: "invalid", reason, fault },
    ...(claim === undefined ? {} : { claim }),
    ...(detail === undefined ? {} : { detail }),
  }
}

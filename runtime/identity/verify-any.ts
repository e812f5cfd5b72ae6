import type { TokenRules, TokenVerifier, Verification } from "./verifier.ts"

/**
 * Verifies a token that may be of any of several issuers, in their order. The first that accepts it decides. When none does, the refusal of the one
 * that came furthest is told; an issuer whose keys are not to be had leaves the whole undecided, unless another one's keys verified the token.
 */
export function verifyAny(
  verifiers: readonly TokenVerifier[],
  token: string,
  rules: TokenRules,
): Verification | Promise<Verification> {
  const [only] = verifiers
  if (only !== undefined && verifiers.length === 1) return only.verify(token, rules)
  return attempt(inOrder(verifiers, token), token, rules, 0, undefined)
}

interface Candidate {
  readonly verifier: TokenVerifier
  /** Whether an unknown key may be asked for: the token seems to be of this issuer, or of none that is known. */
  readonly mayFetch: boolean
}

function attempt(
  candidates: readonly Candidate[],
  token: string,
  rules: TokenRules,
  at: number,
  before: Verification | undefined,
): Verification | Promise<Verification> {
  const candidate = candidates[at]
  if (candidate === undefined) return before ?? { kind: "unavailable", retryAfterSeconds: 1 }
  const judge = (found: Verification): Verification | Promise<Verification> =>
    found.kind === "verified" ? found : attempt(candidates, token, rules, at + 1, further(before, found))
  const { verifier, mayFetch } = candidate
  const found = verifier.verify(token, mayFetch ? rules : { ...rules, mayFetch: false })
  return found instanceof Promise ? found.then(judge) : judge(found)
}

/** What the token says of its issuer is not proved yet: it only decides who is asked first, and who may look for new keys. */
function inOrder(verifiers: readonly TokenVerifier[], token: string): Candidate[] {
  const iss = issuerIn(token)
  const isOurs = (verifier: TokenVerifier) => iss !== undefined && verifier.issuer() === iss
  const known = verifiers.some(isOurs)
  if (!known) return verifiers.map((verifier) => ({ verifier, mayFetch: true }))
  return [
    ...verifiers.filter(isOurs).map((verifier) => ({ verifier, mayFetch: true })),
    ...verifiers
      .filter((verifier) => !isOurs(verifier))
      .map((verifier) => ({ verifier, mayFetch: verifier.issuer() === undefined })),
  ]
}

function issuerIn(token: string): string | undefined {
  try {
    const payload: unknown = JSON.parse(
      Buffer.from(token.split(".", 2)[1] ?? "", "base64url").toString("utf8"),
    )
    const iss = typeof payload === "object" && payload !== null && "iss" in payload ? payload.iss : undefined
    return typeof iss === "string" ? iss : undefined
  } catch {
    return undefined
  }
}

function further(before: Verification | undefined, next: Verification): Verification {
  return before === undefined || rank(next) > rank(before) ? next : before
}

/** How far a token came: past the signature, undecided, to the signature, to a key, not even that. */
function rank(found: Verification): number {
  if (found.kind === "verified") return 6
  if (found.kind === "unavailable") return 3
  if (found.claim !== undefined) return found.fault === "TokenIssuerNotAllowed" ? 4 : 5
  if (found.fault === "TokenSignatureInvalid") return 2
  return found.fault === "TokenSignatureKeyNotFound" ? 1 : 0
}

import type { TokenRules, TokenVerifier, Verification } from "./verifier.ts"

/**
 * Verifies a token that may be of any of several issuers, in their order. The first that accepts it with the keys it has decides: an issuer that hangs is
 * nobody's business whose keys are there. Then those are asked for their keys that may have it, all at once, so that their waits are one. When none accepts it, the
 * refusal of the one that came furthest is told; an issuer whose keys are not to be had leaves the whole undecided, unless another one's keys verified the token.
 */
export function verifyAny(
  verifiers: readonly TokenVerifier[],
  token: string,
  rules: TokenRules,
): Verification | Promise<Verification> {
  const [only] = verifiers
  if (only !== undefined && verifiers.length === 1) return only.verify(token, rules)
  return attempt({ candidates: inOrder(verifiers, token), token, rules }, [])
}

interface Candidate {
  readonly verifier: TokenVerifier
  /** Whether an unknown key may be asked for: the token seems to be of this issuer, or of none that is known. */
  readonly mayFetch: boolean
}

interface Attempt {
  readonly candidates: readonly Candidate[]
  readonly token: string
  readonly rules: TokenRules
}

/** `found`: what the first of the candidates said. */
function attempt(attempted: Attempt, found: readonly Verification[]): Verification | Promise<Verification> {
  const { candidates, token, rules } = attempted
  const candidate = candidates[found.length]
  if (candidate === undefined) return askForKeys(attempted, found)
  const judge = (next: Verification): Verification | Promise<Verification> =>
    next.kind === "verified" ? next : attempt(attempted, [...found, next])
  const next = candidate.verifier.verify(token, { ...rules, mayFetch: false })
  return next instanceof Promise ? next.then(judge) : judge(next)
}

async function askForKeys(
  { candidates, token, rules }: Attempt,
  found: readonly Verification[],
): Promise<Verification> {
  const asked = await Promise.all(
    found.map((known, at) => {
      const { verifier, mayFetch } = candidates[at] as Candidate
      return mayFetch && lacksKey(known) ? verifier.verify(token, rules) : known
    }),
  )
  return asked.reduce<Verification>(
    (before, next) => (rank(next) > rank(before) ? next : before),
    asked[0] ?? { kind: "unavailable", retryAfterSeconds: 1 },
  )
}

/** Whether keys that the issuer did not have when it was asked could make another answer of it. */
function lacksKey(found: Verification): boolean {
  return (
    found.kind === "unavailable" || (found.kind === "invalid" && found.fault === "TokenSignatureKeyNotFound")
  )
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

/** How far a token came: past the signature, undecided, to the signature, to a key, not even that. */
function rank(found: Verification): number {
  if (found.kind === "verified") return 6
  if (found.kind === "unavailable") return 3
  if (found.claim !== undefined) return found.fault === "TokenIssuerNotAllowed" ? 4 : 5
  if (found.fault === "TokenSignatureInvalid") return 2
  return found.fault === "TokenSignatureKeyNotFound" ? 1 : 0
}

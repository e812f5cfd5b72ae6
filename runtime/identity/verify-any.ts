import type { TokenRules, TokenVerifier, Verification } from "./verifier.ts"

/**
 * Verifies a token that can be from any of several issuers, in their order. The first one that accepts it with its cached keys decides, so that an
 * issuer that hangs does not delay the others. Then the issuers that may have the token's key fetch their keys concurrently. If none accepts the token,
 * the result is the refusal of the issuer where verification came furthest. An issuer without available keys makes the result `unavailable`, unless
 * another one's keys verified the token.
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
  /** Whether an unknown key may be fetched: the token seems to be from this issuer, or from an unknown one. */
  readonly mayFetch: boolean
}

interface Attempt {
  readonly candidates: readonly Candidate[]
  readonly token: string
  readonly rules: TokenRules
}

/** `found`: the results of the first candidates. */
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

/** Whether new keys of the issuer could change the result. */
function lacksKey(found: Verification): boolean {
  return (
    found.kind === "unavailable" || (found.kind === "invalid" && found.fault === "TokenSignatureKeyNotFound")
  )
}

/** The issuer named in the token is not verified yet: it only decides the order, and which issuers may fetch new keys. */
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

/** How far verification came: past the signature, undecided, to the signature, to a key, or not even that. */
function rank(found: Verification): number {
  if (found.kind === "verified") return 6
  if (found.kind === "unavailable") return 3
  if (found.claim !== undefined) return found.fault === "TokenIssuerNotAllowed" ? 4 : 5
  if (found.fault === "TokenSignatureInvalid") return 2
  return found.fault === "TokenSignatureKeyNotFound" ? 1 : 0
}

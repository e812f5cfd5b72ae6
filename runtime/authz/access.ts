import { createDigestTable, type DigestTable } from "../identity/keys.ts"
import type { TokenVerifier, Verification } from "../identity/verifier.ts"
import { ApiError, type ApiErrorCode } from "./api-error.ts"

/** What a caller may do. Stores are named as in gateway.conf; `*` is every store, including those made through the API. */
export interface Grants {
  /** Questions, lists, tuples, models, changes. */
  readonly read: "*" | ReadonlySet<string>
  /** Tuples, models, assertions. It does not include `read`. */
  readonly write: "*" | ReadonlySet<string>
  /** Creating, listing, renaming and deleting stores. */
  readonly manage: boolean
}

/** The declared stores that these grants show in a list of stores; undefined: every store, also those made through the API. */
export function visibleStores({ read, write, manage }: Grants): ReadonlySet<string> | undefined {
  if (manage || read === "*" || write === "*") return undefined
  return new Set([...read, ...write])
}

/** A caller whose credential was accepted. `name` is the name of the key or the token's `sub`, never the credential. */
export interface Caller {
  readonly name: string
  readonly grants: Grants
}

/**
 * Authenticates a caller by the `Authorization` header.
 * @throws ApiError 401, or 503 when the keys of an issuer are unavailable
 */
export interface Access {
  identify(authorization: string | undefined): Caller | Promise<Caller>
}

/** A key as a caller presents it, and its caller. */
export interface AccessKey {
  readonly name: string
  readonly key: string
  readonly grants: Grants
}

/** An issuer and the tokens it may issue: those of `subjects`, and with `anySubject` those of all other subjects. */
export interface AccessIssuer {
  readonly verifier: TokenVerifier
  readonly subjects: ReadonlyMap<string, Grants>
  readonly anySubject: Grants | undefined
}

/**
 * Preshared keys and tokens of issuers, both as `Authorization: Bearer …`. Keys are compared by digest (identity/keys.ts), so that timing
 * reveals nothing about them.
 * @throws Error naming two keys that are equal, or one that is empty or too long
 */
export function createAccess(keys: readonly AccessKey[], issuers: readonly AccessIssuer[]): Access {
  return new BearerAccess(
    createDigestTable(
      keys.map(({ name, key, grants }) => ({ name, key, owner: { name, grants } })),
      {
        one: (name) => `the key \`${name}\` of the engine`,
        same: (a, b) => `the keys \`${a}\` and \`${b}\` of the engine are the same`,
      },
    ),
    issuers,
  )
}

/** Three parts. Issuers never see a text that is not a JWT. */
const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

class BearerAccess implements Access {
  readonly #keys: DigestTable<Caller>
  readonly #issuers: readonly AccessIssuer[]
  /** The issuer that verified tokens of an `iss` before; it is tried first. */
  readonly #issuerOf = new Map<unknown, AccessIssuer>()

  constructor(keys: DigestTable<Caller>, issuers: readonly AccessIssuer[]) {
    this.#keys = keys
    this.#issuers = issuers
  }

  identify(authorization: string | undefined): Caller | Promise<Caller> {
    const credential = bearerOf(authorization)
    if (credential === undefined) throw new ApiError("bearer_token_missing", "missing bearer token")
    const caller = this.#keys.find(credential)
    if (caller !== undefined) return caller
    if (this.#issuers.length === 0 || !tokenForm.test(credential)) throw unknownCredential()
    return this.#verify(credential, this.#inOrder(credential), 0, undefined)
  }

  #verify(
    token: string,
    issuers: readonly AccessIssuer[],
    at: number,
    refusal: ApiError | undefined,
  ): Caller | Promise<Caller> {
    const issuer = issuers[at]
    if (issuer === undefined) throw refusal ?? unknownCredential()
    const judge = (verification: Verification): Caller | Promise<Caller> => {
      if (verification.kind === "verified") return this.#callerOf(issuer, verification.claims)
      return this.#verify(token, issuers, at + 1, worseOf(refusal, refusalOf(verification)))
    }
    const verification = issuer.verifier.verify(token)
    return verification instanceof Promise ? verification.then(judge) : judge(verification)
  }

  #callerOf(issuer: AccessIssuer, claims: Readonly<Record<string, unknown>>): Caller {
    this.#issuerOf.set(claims["iss"], issuer)
    const { sub } = claims
    const listed = typeof sub === "string" ? issuer.subjects.get(sub) : undefined
    const grants = listed ?? issuer.anySubject
    const name = typeof sub === "string" ? sub : ""
    if (grants === undefined) {
      const reason = "the subject of the token has no access to the engine"
      throw new ApiError("auth_failed_invalid_subject", reason, name)
    }
    return { name, grants }
  }

  /** The token's `iss` is not verified yet, so it only decides which issuer is tried first. */
  #inOrder(token: string): readonly AccessIssuer[] {
    if (this.#issuers.length === 1) return this.#issuers
    const first = this.#issuerOf.get(issOf(token))
    return first === undefined ? this.#issuers : [first, ...this.#issuers.filter((each) => each !== first)]
  }
}

/** The code is OpenFGA's. The message does not say which of the two it is: a caller without a key must not learn which keys exist. */
function unknownCredential(): ApiError {
  return new ApiError("unauthenticated", "unknown key, or a token that no issuer of the engine accepts")
}

/** RFC 6750 section 2.1: `Bearer`, one space, and a token without spaces. Undefined for everything else. */
function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.charCodeAt(6) !== 0x20 || authorization.slice(0, 6).toLowerCase() !== "bearer")
    return undefined
  const credential = authorization.slice(7)
  return credential.includes(" ") || credential.includes("\t") ? undefined : credential
}

function issOf(token: string): unknown {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"))
    return typeof payload === "object" && payload !== null ? (payload as { iss?: unknown }).iss : undefined
  } catch {
    return undefined
  }
}

const codeOfClaim: Readonly<Record<string, ApiErrorCode>> = {
  iss: "auth_failed_invalid_issuer",
  aud: "auth_failed_invalid_audience",
}

function refusalOf(verification: Exclude<Verification, { readonly kind: "verified" }>): ApiError {
  if (verification.kind === "unavailable")
    return new ApiError("unavailable", "the signing keys of the issuer are unavailable; try again shortly")
  const { claim, reason } = verification
  if (claim === undefined) return new ApiError("auth_failed_invalid_bearer_token", reason)
  return new ApiError(codeOfClaim[claim] ?? "invalid_claims", reason)
}

/**
 * The more relevant of two refusals. An issuer that could not decide makes the whole undecided; else the refusal that came furthest wins.
 */
function worseOf(before: ApiError | undefined, next: ApiError): ApiError {
  if (before === undefined) return next
  return rank(next) > rank(before) ? next : before
}

function rank({ code }: ApiError): number {
  if (code === "unavailable") return 3
  if (code === "auth_failed_invalid_issuer" || code === "auth_failed_invalid_bearer_token") return 0
  return 1
}

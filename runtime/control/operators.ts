import type { IncomingMessage } from "node:http"
import { claimAt } from "../identity/claim-at.ts"
import type { Claims, TokenVerifier, Verification } from "../identity/verifier.ts"
import { controlRoles, includesRole, type OperatorIssuerPlan, type OperatorRole } from "../plan/control.ts"
import { keyDigest, looksLikeOperatorToken } from "./subscription-key.ts"
import { bearerGuard } from "./token.ts"

/** Who calls the control API. `shared`: the token with which the process was started; `token`: one made by the control API. */
export interface Operator {
  readonly kind: "person" | "token" | "shared"
  /** For a person the claim of the plan, for a token its name. */
  readonly name: string
  readonly role: OperatorRole
  /** Groups of a person, by the claims of the plan; absent: none. */
  readonly groups?: readonly string[]
  /** The operations and groups that a token may do; absent: everything that its role may do. */
  readonly may?: readonly string[]
  /** The issuer of a person's token. */
  readonly issuer?: string
  /** Seconds since 1970. */
  readonly expiresAt?: number
}

/** Why a credential is not accepted. `detail` may be sent to the caller. */
export interface Denial {
  readonly denied: "unauthenticated" | "forbidden" | "issuer-unavailable"
  readonly detail: string
}

/** An issuer of the running plan whose tokens operators have. */
export interface OperatorIssuer {
  readonly name: string
  readonly verifier: TokenVerifier
  readonly plan: OperatorIssuerPlan
  /** URL of its discovery document, where people sign in; undefined: its keys come from elsewhere. */
  readonly discovery: string | undefined
  /** The document may name another issuer. */
  readonly exact: boolean
}

/** The operators of the running plan. */
export interface ControlCallers {
  readonly issuers: readonly OperatorIssuer[]
  readonly acceptsSharedToken: boolean
  /** The origin whose pages may call the gateway, and that of the gateway; undefined: none may. */
  readonly tryIt: { readonly console: string; readonly gateway: string } | undefined
}

/** A token made by the control API. */
interface FoundToken {
  readonly name: string
  readonly role: string
  readonly may: readonly string[] | null
  readonly expiresAt: Date
}

/** What operators are identified by. */
export interface OperatorSources {
  readonly token: string
  /** Absent: only the token of the process. */
  readonly callers?: (() => ControlCallers | undefined) | undefined
  /** A token that has not expired, by the digest of its text. Rejects with `SourceUnavailable`. Absent: there are none. */
  readonly findToken?: ((digest: string) => Promise<FoundToken | undefined>) | undefined
}

const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

const operators = new WeakMap<IncomingMessage, Operator>()
const credentials = new WeakMap<IncomingMessage, string>()

/** Remembers who sent a request, and by which credential. */
export function setOperator(
  request: IncomingMessage,
  operator: Operator,
  authorization: string | undefined,
): void {
  operators.set(request, operator)
  if (authorization !== undefined) credentials.set(request, authorization)
}

/** The credential by which the sender of a request was identified: its header, or that of its session. */
export function credentialOf(request: IncomingMessage): string | undefined {
  return credentials.get(request)
}

/** Who sent a request; undefined: it was not authenticated. */
export function findOperator(request: IncomingMessage): Operator | undefined {
  return operators.get(request)
}

/** Who sent an authenticated request. */
export function operatorOf(request: IncomingMessage): Operator {
  const found = findOperator(request)
  if (found === undefined) throw new Error("the request was not authenticated")
  return found
}

/** Identifies operators by `Authorization: Bearer …`: the token of the process, tokens made by the control API, tokens of issuers. */
export class OperatorAccess {
  readonly #sources: OperatorSources
  readonly #isShared: (authorization: string | undefined) => boolean

  constructor(sources: OperatorSources) {
    this.#sources = sources
    this.#isShared = bearerGuard(sources.token)
  }

  async identify(authorization: string | undefined): Promise<Operator | Denial> {
    if (authorization === undefined) return unauthenticated("a bearer token is required")
    const callers = this.#sources.callers?.()
    if (this.#isShared(authorization))
      return callers?.acceptsSharedToken === false
        ? unauthenticated("the token of the process is turned off by `shared-token off` of the plan")
        : { kind: "shared", name: "control token", role: "admin" }
    const credential = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    if (credential === undefined) return unauthenticated("the credential is not a bearer token")
    if (looksLikeOperatorToken(credential)) return this.#byDigest(credential)
    if (tokenForm.test(credential) && callers !== undefined && callers.issuers.length > 0)
      return personBy(callers.issuers, credential)
    return unauthenticated("this is not the control token of this process")
  }

  async #byDigest(credential: string): Promise<Operator | Denial> {
    const found = await this.#sources.findToken?.(keyDigest(credential))
    const role = controlRoles.find((each) => each === found?.role)
    if (found === undefined || role === undefined)
      return unauthenticated("the token was revoked, has expired or was never made here")
    const expiresAt = Math.floor(found.expiresAt.getTime() / 1000)
    const { name, may } = found
    return { kind: "token", name, role, expiresAt, ...(may === null ? {} : { may }) }
  }
}

async function personBy(issuers: readonly OperatorIssuer[], credential: string): Promise<Operator | Denial> {
  let denial = unauthenticated("no issuer of the control API accepts this token")
  for (const issuer of issuers) {
    const verification = await issuer.verifier.verify(credential)
    if (verification.kind === "verified") return personOf(issuer, verification.claims)
    denial = worseOf(denial, denialOf(issuer.name, verification))
  }
  return denial
}

function personOf({ name: issuer, plan }: OperatorIssuer, claims: Claims): Operator | Denial {
  const nameClaim = plan.name ?? "sub"
  const name = claimAt(claims, nameClaim)
  // Without a name, nobody could see later who it was.
  if (typeof name !== "string" || name === "")
    return unauthenticated(`the token has no claim \`${nameClaim}\` with the name of its person`)
  const role = roleOf(plan, claims)
  if (role === undefined)
    return { denied: "forbidden", detail: `the token of \`${name}\` has no role for the control API` }
  const { exp } = claims
  const groups = (plan.groups ?? []).filter((each) => hasClaim(claims, each)).map(({ group }) => group)
  return {
    ...(groups.length === 0 ? {} : { groups: [...new Set(groups)] }),
    ...{ kind: "person", name, role, issuer },
    ...(typeof exp === "number" ? { expiresAt: exp } : {}),
  }
}

/** The highest role of a token; undefined: none. */
function roleOf({ roles }: OperatorIssuerPlan, claims: Claims): OperatorRole | undefined {
  const fitting = roles.filter(
    ({ claim, values = [] }) => claim === undefined || hasClaim(claims, { claim, values }),
  )
  return fitting.reduce<OperatorRole | undefined>(
    (best, { role }) => (best !== undefined && includesRole(best, role) ? best : role),
    undefined,
  )
}

function hasClaim(
  claims: Claims,
  { claim, values }: { readonly claim: string; readonly values: readonly string[] },
): boolean {
  return wordsOf(claim, claimAt(claims, claim)).some((each) => isOneOf(values, each))
}

/** The texts of a list, the text itself, or the words of a scope (RFC 8693 §4.2). */
function wordsOf(name: string, value: unknown): readonly unknown[] {
  if (typeof value === "string") return name === "scope" || name === "scp" ? value.split(" ") : [value]
  return Array.isArray(value) ? value : []
}

function isOneOf(values: readonly unknown[], value: unknown): boolean {
  return values.includes(value)
}

function denialOf(issuer: string, verification: Exclude<Verification, { kind: "verified" }>): Denial {
  if (verification.kind === "unavailable")
    return { denied: "issuer-unavailable", detail: `the keys of the issuer \`${issuer}\` are unavailable` }
  return unauthenticated(verification.reason)
}

/** An issuer that could not decide makes the whole undecided. */
function worseOf(before: Denial, next: Denial): Denial {
  return before.denied === "issuer-unavailable" ? before : next
}

function unauthenticated(detail: string): Denial {
  return { denied: "unauthenticated", detail }
}

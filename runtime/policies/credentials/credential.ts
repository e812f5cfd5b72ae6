import { cookieValues, withoutCookie } from "../../http/cookies.ts"
import type { CredentialSource, ShownCredential } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** The result of looking for a credential. `twice`: it is ambiguous which one is meant. */
export type CredentialLookup =
  | { readonly kind: "credential"; readonly value: string }
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" }
  | { readonly kind: "twice" }

/** Reads a credential, and removes it from the request to the backend when the plan says so. */
export interface Credential {
  /** Where the credential is read from, for logs. */
  readonly place: string
  /** What is wrong when it is malformed. */
  readonly malformed: string
  read(exchange: Exchange): CredentialLookup
  drop(exchange: Exchange): void
}

const absent: CredentialLookup = { kind: "absent" }
const malformed: CredentialLookup = { kind: "malformed" }
const twice: CredentialLookup = { kind: "twice" }

/** Compiles where a token is read from. */
export function compileCredential(source: CredentialSource, provision: Provision): Credential {
  if ("header" in source) return fromHeader(source.header, source.scheme)
  if ("query" in source) return fromQuery(source.query, source.forward)
  if ("cookie" in source) return fromCookie(source.cookie, source.forward)
  const text = compileText(source.text, provision, anyText)
  return {
    place: "an expression",
    malformed: "the expression did not yield a token",
    read(exchange) {
      const value = text.of(exchange)
      return value === "" ? absent : bare(afterScheme("bearer", value) ?? value)
    },
    drop: nothing,
  }
}

/** Removes a credential from the request to the backend, unless the plan forwards it; also when another way to authenticate was used. */
export function dropCredential(shown: ShownCredential, exchange: Exchange): void {
  if (shown.is === "certificate") return
  // A signature is worth nothing without its secret.
  if (shown.is === "signature") return
  // `headers` never has the cookies of a session.
  if (shown.is === "session") return
  if (shown.is === "token") dropToken(shown.from, exchange)
  else if (shown.forward) return
  else if (shown.is === "password") dropPassword(exchange)
  else {
    if (shown.header !== null) exchange.headers.remove(shown.header)
    if (shown.query !== null) exchange.query.remove(shown.query)
  }
}

function dropToken(source: CredentialSource, exchange: Exchange): void {
  if ("query" in source && !source.forward) exchange.query.remove(source.query)
  if ("cookie" in source && !source.forward) dropCookie(exchange, source.cookie)
}

function dropPassword({ headers }: Exchange): void {
  const value = headers.get("authorization")
  if (value !== undefined && isBasic(value)) headers.remove("authorization")
}

/** Whether a value of `Authorization` uses the Basic scheme (RFC 7617). */
export function isBasic(value: string): boolean {
  return /^basic(?: |$)/i.test(value)
}

/** A credential in a header. Two header lines are refused: another reader could take the other one. */
function fromHeader(header: string, scheme: string | null): Credential {
  const demanded = scheme?.toLowerCase()
  return {
    place: `the header ${header}`,
    malformed:
      scheme === null
        ? "the header does not contain a token"
        : `the header does not have the form \`${scheme} TOKEN\``,
    read(exchange) {
      const value = exchange.headers.get(header)
      if (value === undefined) return absent
      if (exchange.headers.count(header) > 1) return twice
      if (demanded === undefined) return bare(afterScheme("bearer", value) ?? value)
      const token = afterScheme(demanded, value)
      if (token !== undefined) return bare(token)
      // Another scheme, such as Basic, is a credential for another check, for example the second way of an `any-of`.
      return value.slice(0, demanded.length).toLowerCase() === demanded ? malformed : absent
    },
    drop: nothing,
  }
}

/** A credential in the query. Without `forward` it is removed, so that it does not reach the backend's logs. */
function fromQuery(name: string, forward: boolean): Credential {
  return {
    place: `the query parameter ${name}`,
    malformed: "the query parameter does not contain a token",
    read(exchange) {
      const value = exchange.query.get(name)
      if (value === undefined) return absent
      return exchange.query.count(name) > 1 ? twice : bare(value)
    },
    drop: forward ? nothing : (exchange) => exchange.query.remove(name),
  }
}

/** A credential in a cookie; only this cookie is removed. */
function fromCookie(name: string, forward: boolean): Credential {
  return {
    place: `the cookie ${name}`,
    malformed: "the cookie does not contain a token",
    read(exchange) {
      const { headers } = exchange
      const count = headers.count("cookie")
      if (count === 0) return absent
      const [value, ...more] = cookieValues(allCookies(exchange), name)
      if (value === undefined) return absent
      return more.length > 0 ? twice : bare(value)
    },
    drop: forward ? nothing : (exchange) => dropCookie(exchange, name),
  }
}

/** RFC 9113 §8.2.3: several Cookie lines are one list. */
function allCookies({ headers }: Exchange): string | undefined {
  if (headers.count("cookie") < 2) return headers.get("cookie")
  const { flat } = headers
  return flat.filter((_, at) => at % 2 === 1 && flat[at - 1] === "cookie").join("; ")
}

function dropCookie(exchange: Exchange, name: string): void {
  const cookies = allCookies(exchange)
  if (cookies === undefined || cookieValues(cookies, name).length === 0) return
  const rest = withoutCookie(cookies, name)
  if (rest === undefined) exchange.headers.remove("cookie")
  else exchange.headers.set("cookie", rest)
}

/** RFC 6750 §2.1. Exactly one space: a backend may parse other spellings differently. No regular expression, because tokens are long. */
function afterScheme(scheme: string, value: string): string | undefined {
  const { length } = scheme
  if (value.length < length + 2 || value.charCodeAt(length) !== 0x20) return undefined
  return value.slice(0, length).toLowerCase() === scheme ? value.slice(length + 1) : undefined
}

function bare(value: string): CredentialLookup {
  return value === "" || value.includes(" ") || value.includes("\t")
    ? malformed
    : { kind: "credential", value }
}

function nothing(): void {}

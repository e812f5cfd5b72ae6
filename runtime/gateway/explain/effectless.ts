import { explanationText } from "../../check/explain-text.ts"
import type { KeyTable, Subscriber } from "../../identity/keys.ts"
import type { TokenVerifier, Verification } from "../../identity/verifier.ts"
import type { Limiter, Taken } from "../../limits/limiter.ts"
import type { AccessAnswer, AccessRequest, AskedFor, Authorizer } from "../../policies/policy.ts"
import type { QuotaAnswer, QuotaCounters } from "../../policies/ports.ts"
import type { Rehearsal } from "./rehearsal.ts"
import type { RequestQuestion } from "./request-explanation.ts"

/** Placeholder for the key or token of the caller named in the question. It has a meaning only in a rehearsal. */
export const assumedCredential = "\u0001caller\u0001"

const unknownHere = "is known only to a running Sallyport"

/** Reads limits without counting. `real` undefined: the counts are not known. */
export function lookingLimiter(real: Limiter | undefined, rehearsal: Rehearsal): Limiter {
  return {
    take(_counter, key, callsMax, periodSeconds) {
      const use = rehearsal.current
      const terms = { key, callsMax, periodSeconds }
      const seen = (taken: Taken): Taken => {
        const { remaining, resetSeconds } = taken
        if (use !== undefined) use.limit = { ...terms, remaining, resetSeconds }
        return taken
      }
      const taken = real?.take(_counter, key, callsMax, periodSeconds, 0)
      if (taken !== undefined) return taken instanceof Promise ? taken.then(seen) : seen(taken)
      if (use !== undefined) use.limit = terms
      rehearsal.assume(`the remaining amount ${unknownHere}`)
      return { allowed: true, remaining: callsMax, resetSeconds: 0 }
    },
    add: () => undefined,
    enter() {
      rehearsal.assume("the number of running requests at that moment is unknown")
      return () => undefined
    },
  }
}

/** Reads quotas without consuming them. */
export function lookingQuotas(real: QuotaCounters | undefined, rehearsal: Rehearsal): QuotaCounters {
  return {
    async take(terms, key, anchorMs, calls): Promise<QuotaAnswer> {
      const { callsMax, bytesMax, periodSeconds } = terms
      const use = rehearsal.current
      const state = { key, periodSeconds, callsMax, bytesMax }
      const used = await real?.look?.(terms, key, anchorMs)
      if (use !== undefined) use.quota = { ...state, ...used }
      if (used === undefined) {
        rehearsal.assume(`the used amount ${unknownHere}`)
        return { allowed: true }
      }
      const { resetSeconds } = used
      if (bytesMax !== undefined && used.bytes >= bytesMax)
        return { allowed: false, out: "bytes", resetSeconds }
      if (callsMax !== undefined && used.calls + Math.max(1, calls) > callsMax)
        return { allowed: false, out: "calls", resetSeconds }
      return { allowed: true }
    },
    add: () => undefined,
  }
}

/** Asks the engine and records its answer with the proof. */
export function explainingAuthorizer(real: Authorizer | undefined, rehearsal: Rehearsal): Authorizer {
  return {
    async check(store, request, asker) {
      const use = rehearsal.current
      const { user, relation, object } = request
      const proof = { store, user, relation, object }
      if (use !== undefined) use.proof = proof
      if (real === undefined) {
        rehearsal.assume("the relation was not checked, because only a running Sallyport has the tuples")
        return { allowed: true, revision: 0 }
      }
      const answer = await asked(real, store, request, asker)
      const { allowed, revision, explanation } = answer
      if (use !== undefined)
        use.proof = {
          ...{ ...proof, allowed, ...(revision === undefined ? {} : { revision }) },
          ...(explanation === undefined ? {} : { explanation, text: explanationText(explanation) }),
        }
      return answer
    },
    batch: () => Promise.reject(new Error("an explanation has no response to filter")),
    change: () => Promise.reject(new Error("an explanation writes no tuples")),
  }
}

function asked(
  real: Authorizer,
  store: string,
  request: AccessRequest,
  asker: AskedFor,
): AccessAnswer | Promise<AccessAnswer> {
  return real.check(store, { ...request, explain: true, ternary: true }, asker)
}

/** Does not ask a decision point, because that would send a request; shows the question instead. */
export function unaskedDecisionPoint(rehearsal: Rehearsal): Authorizer {
  return {
    check(pdp, { user, relation, object }) {
      const use = rehearsal.current
      if (use !== undefined) use.proof = { pdp, user, relation, object }
      rehearsal.assume(`decision point \`${pdp}\` is not called here: it decides only about real requests`)
      return { allowed: true }
    },
    batch: () => Promise.reject(new Error("an explanation has no response to filter")),
    change: () => Promise.reject(new Error("an explanation writes no tuples")),
  }
}

/** A verifier that also accepts the caller named in the question. */
export function assumingVerifier(real: TokenVerifier, { claims }: RequestQuestion): TokenVerifier {
  return {
    verify(token, rules) {
      if (token !== assumedCredential || claims === undefined) return real.verify(token, rules)
      return { kind: "verified", claims, header: {} }
    },
    issuer: () => real.issuer(),
    state: () => real.state(),
    close: () => undefined,
  }
}

/** Has no keys and fetches none: it believes the claims of a token, and a note says so. */
export function believingVerifier(rehearsal: () => Rehearsal | undefined): TokenVerifier {
  return {
    verify: (token) => believed(token, rehearsal()),
    issuer: () => undefined,
    state: () => ({ ready: false, lastError: undefined, keys: [], ageMs: undefined }),
    close: () => undefined,
  }
}

function believed(token: string, rehearsal: Rehearsal | undefined): Verification {
  const malformed = { kind: "invalid", reason: "the token is malformed", fault: "JwtInvalid" } as const
  const [header, payload] = token.split(".").map((part) => jsonOf(part))
  if (header === undefined || payload === undefined) return malformed
  rehearsal?.assume("the token is accepted without a check of its signature, times and audience")
  return { kind: "verified", claims: payload, header }
}

function jsonOf(part: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"))
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** The key table, plus the caller named in the question; `issued` false: issued keys are not known here. */
export function assumingKeys(
  real: KeyTable,
  assumed: Subscriber | undefined,
  rehearsal: Rehearsal,
  issued: boolean,
): KeyTable {
  return {
    find(key) {
      if (key === assumedCredential && assumed !== undefined) return assumed
      const found = real.find(key, true)
      if (found !== undefined || issued) return found
      rehearsal.assume(`the key is not in gateway.conf; whether it was issued ${unknownHere}`)
      return { name: "", product: undefined, api: undefined, all: true }
    },
    get complete() {
      return real.complete
    },
  }
}

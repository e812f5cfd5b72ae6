import type { OwnError } from "./api.ts"

/** What is kept of a refused request; see `refusal` of the control API. */
export interface KeptRefusal {
  readonly id: string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly problem?: string | undefined
}

const errorsMax = 100

/**
 * Why a call was refused, as far as its caller may know. The cause that operators see can name backends, relations and expressions, so it is never
 * told: the name of the problem, which the caller has got already, decides.
 */
const reasons: Readonly<Record<string, string>> = {
  "invalid-request": "The request does not fit the description of the operation.",
  "invalid-path": "The path of the request is not valid.",
  "invalid-header": "A header field of the request is not valid.",
  unauthorized: "The key or token is missing, wrong or expired.",
  "signature-missing": "The request is not signed.",
  "signature-malformed": "The signature cannot be read.",
  "signature-invalid": "The signature does not fit the request.",
  "signature-expired": "The signature is too old: check your clock.",
  "signature-replayed": "A signature was used twice.",
  "insufficient-scope": "The token lacks a scope or claim that the operation needs.",
  forbidden: "You may not do this. If it is a quota, wait until its period ends.",
  "not-found": "There is no such operation.",
  "method-not-allowed": "The operation has another method.",
  "request-timeout": "The request arrived too slowly.",
  sunset: "This version is retired: use its successor.",
  "body-too-large": "The body is larger than allowed.",
  "target-too-long": "The URL is too long.",
  "unsupported-coding": "The encoding of the body is not supported.",
  "header-too-large": "The header fields are too large.",
  "rate-limited": "Too many calls: wait for the time in Retry-After.",
}

/** Errors for the caller, newest first, each once. */
export function ownErrors(refusals: readonly KeptRefusal[]): OwnError[] {
  const found = new Map(refusals.map((each) => [each.id, each]))
  return [...found.values()]
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, errorsMax)
    .map(({ id, at, method, path, status, problem }) => ({
      ...{ id, at, method, path, status, problem: problem ?? null },
      reason:
        (problem === undefined ? undefined : reasons[problem]) ??
        (status >= 500 ? "The service had a fault: try again later." : "The request was refused."),
    }))
}

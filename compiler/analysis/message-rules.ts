import type { Text } from "../../runtime/plan/text.ts"
import { breaking, closes, type Finding, neutral, opens } from "./finding.ts"
import { fromCaller, isCallersOwn } from "./text-findings.ts"

/**
 * Request header fields that say nothing about who calls or what a call may do: which form of an answer is wanted (RFC 9110 section 12.5), whether it may
 * come from a cache (RFC 9111), and by what name a trace knows the request (W3C Trace Context). A backend may decide by any other field.
 */
const fieldsWithoutRights: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "pragma",
  "traceparent",
  "tracestate",
  "x-correlation-id",
  "x-request-id",
])

/** Whether no backend lets a caller do more, or less, because of this field. `name`: undefined where only a request decides it. */
export function isWithoutRights(name: string | undefined): boolean {
  return name !== undefined && fieldsWithoutRights.has(name.toLowerCase())
}

/** Fields of answers by which browsers decide what a page may do (Fetch, CSP, HSTS and their kin), and that change what later requests carry. */
const fieldsForBrowsers =
  /^(access-control-.*|content-security-policy(-report-only)?|cross-origin-.*|permissions-policy|referrer-policy|set-cookie|strict-transport-security|x-content-type-options|x-frame-options|timing-allow-origin|clear-site-data)$/i

/** What another field of answers means besides that callers see another one. */
export function readByBrowsers(name: string | undefined, shown: string): Finding[] {
  return name !== undefined && fieldsForBrowsers.test(name)
    ? [opens(`browsers decide by ${shown} what pages may do with answers and cookies`)]
    : []
}

/** A difference in a header field or query parameter that the gateway sends to the backend; `what` as it is shown: `` `x-user` ``, `` the query parameter `user` ``. */
export function sentByGateway(
  what: string,
  difference: "added" | "changed" | "removed",
  isHarmless: boolean,
): Finding {
  const words = {
    added: `the backend gets ${what} from the gateway`,
    changed: `the backend gets another ${what.replace(/^the /, "")}`,
    removed: `the backend does not get ${what} from the gateway any more`,
  }[difference]
  if (isHarmless) return neutral(words)
  return opens(
    difference === "removed"
      ? `${words}: where it refuses or restricts callers by that, they may do more`
      : `${words}: if the backend trusts it, callers may act as another user or with other rights`,
  )
}

/** What the gateway wrote into Authorization replaced what callers send there. */
export const noOwnCredentials = (whom: string): Finding[] => [
  opens(`the caller's own \`authorization\` reaches ${whom}`),
  breaking(`${whom} no longer gets the credentials of the gateway`),
]

/** A difference in where in a backend requests end. */
export const otherResource = (how: string): Finding =>
  opens(`${how}: callers reach whatever the backend serves there`)

/** A difference in what the backend reads as the body of a request. */
export const otherRequestBody = (words: string): Finding =>
  opens(`${words}: if the backend trusts the body, callers may do more`)

/** Findings of several values: compared one by one, as they stand. */
export function inValues(
  before: readonly Text[],
  after: readonly Text[],
  find: (before: Text | undefined, after: Text) => readonly Finding[],
): Finding[] {
  return after.flatMap((value, at) => find(before[at], value))
}

/** Where callers could say anything before, they can do nothing more by what the gateway says now. */
export function otherValue(
  before: readonly Text[],
  after: readonly Text[],
  what: string,
  isHarmless: boolean,
): Finding {
  return before.every(isCallersOwn) && !after.some(fromCaller)
    ? closes(`callers no longer control ${what} at the backend`)
    : sentByGateway(what, "changed", isHarmless)
}

/** Which message a body is of. */
export type MessageKind = "request" | "response"

/** What it means that a body is converted, or changed in part. */
export function changedBody(message: MessageKind): Finding {
  return message === "request"
    ? otherRequestBody("the backend gets a changed body")
    : breaking("callers get a changed body")
}

/** What it means that a body is not replaced, converted or changed any more. */
export function ownBody(message: MessageKind): Finding {
  return message === "request"
    ? opens("the caller's own body reaches the backend")
    : opens("callers see the backend's own body")
}

/** Who sees the body that is different. */
export function otherBody(message: MessageKind, how: string): Finding {
  return message === "request" ? otherRequestBody(`the backend gets ${how}`) : breaking(`callers get ${how}`)
}

/** What it means that a step is about the other message. */
export const nowAboutMessage = (_: unknown, after: MessageKind): Finding =>
  breaking(`it is the body of the ${after} now`)

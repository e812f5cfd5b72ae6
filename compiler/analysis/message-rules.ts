import type { Text } from "../../runtime/plan/text.ts"
import { breaking, closes, type Finding, neutral, opens } from "./finding.ts"
import { fromCaller, isCallersOwn } from "./text-findings.ts"

/**
 * Request header fields that say nothing about the caller or its rights: content negotiation (RFC 9110 section 12.5), caching (RFC 9111),
 * and trace ids (W3C Trace Context). A backend may decide by any other field.
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

/**
 * Whether this field cannot give callers more or fewer rights at any backend. `name` is undefined if the header name is evaluated per
 * request.
 */
export function isWithoutRights(name: string | undefined): boolean {
  return name !== undefined && fieldsWithoutRights.has(name.toLowerCase())
}

/** Response header fields that control what pages can do in browsers (Fetch, CSP, HSTS and related ones), or that change later requests. */
const fieldsForBrowsers =
  /^(access-control-.*|content-security-policy(-report-only)?|cross-origin-.*|permissions-policy|referrer-policy|set-cookie|strict-transport-security|x-content-type-options|x-frame-options|timing-allow-origin|clear-site-data)$/i

/** What another value of a response header means, in addition to the change that callers see. */
export function readByBrowsers(name: string | undefined, shown: string): Finding[] {
  return name !== undefined && fieldsForBrowsers.test(name)
    ? [opens(`${shown} tells browsers what pages may do with responses and cookies`)]
    : []
}

/**
 * A difference in a header field or query parameter that the gateway sends to the backend; `what` is its display form: `` `x-user` ``, ``
 * the query parameter `user` ``.
 */
export function sentByGateway(
  what: string,
  difference: "added" | "changed" | "removed",
  isHarmless: boolean,
): Finding {
  const words = {
    added: `the gateway sends the backend ${what}`,
    changed: `the backend gets another ${what.replace(/^the /, "")}`,
    removed: `the backend no longer gets ${what} from the gateway`,
  }[difference]
  if (isHarmless) return neutral(words)
  return opens(
    difference === "removed"
      ? `${words}: if it restricts callers by that value, they may do more`
      : `${words}: if the backend trusts it, callers may act as another user or with other rights`,
  )
}

/** The gateway's value of Authorization replaced the one from callers, and no longer does. */
export const noOwnCredentials = (whom: string): Finding[] => [
  opens(`the caller's own \`authorization\` reaches ${whom}`),
  breaking(`${whom} no longer gets the credentials of the gateway`),
]

/** A difference in the resource of the backend that requests reach. */
export const otherResource = (how: string): Finding =>
  opens(`${how}: callers may reach other resources of the backend`)

/** A difference in the request body that the backend reads. */
export const otherRequestBody = (words: string): Finding =>
  opens(`${words}: if the backend trusts the body, callers may do more`)

/** Findings of several values, compared by position. */
export function inValues(
  before: readonly Text[],
  after: readonly Text[],
  find: (before: Text | undefined, after: Text) => readonly Finding[],
): Finding[] {
  return after.flatMap((value, at) => find(before[at], value))
}

/** If callers could send any value before, a fixed value from the gateway gives them no new rights. */
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

/** The message that has the body. */
export type MessageKind = "request" | "response"

/** What it means that a body is converted or partly changed. */
export function changedBody(message: MessageKind): Finding {
  return message === "request"
    ? otherRequestBody("the backend gets a changed body")
    : breaking("callers get a changed body")
}

/** What it means that a body is no longer replaced, converted or changed. */
export function ownBody(message: MessageKind): Finding {
  return message === "request"
    ? opens("the caller's own body reaches the backend")
    : opens("callers see the backend's own body")
}

/** Who sees the changed body. */
export function otherBody(message: MessageKind, how: string): Finding {
  return message === "request" ? otherRequestBody(`the backend gets ${how}`) : breaking(`callers get ${how}`)
}

/** What it means that a step now applies to the other message. */
export const nowAboutMessage = (_: unknown, after: MessageKind): Finding =>
  breaking(`it now changes the body of the ${after}`)

import type { BodyContent } from "../../runtime/plan/step-values.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { type Finding, opens } from "./finding.ts"

/**
 * Reports secrets in a text, because its recipient sees them; not those that the previous text `known` already had. Also for values that
 * contain texts: a body, header lines.
 */
export function secretsIn(text: unknown, known?: unknown): Finding[] {
  const before = namesWithin(known)
  return namesWithin(text)
    .filter((name) => !before.includes(name))
    .map((name) => opens(`the secret \`${name}\` is sent there`))
}

function namesWithin(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return []
  if ("secret" in node && typeof node.secret === "string") return [node.secret]
  return [...new Set(Object.values(node).flatMap(namesWithin))]
}

/** A value that was fixed, or came from a token, now comes from the request, so callers can choose it. */
export function callersDecide(before: Text | undefined, after: Text | undefined): Finding[] {
  return !fromCaller(before) && fromCaller(after) ? [opens("callers control its value")] : []
}

/** Whether a text contains values from the request. */
export function fromCaller(text: Text | undefined): boolean {
  if (text === undefined || typeof text === "string") return false
  return text.text.some(
    (part) =>
      typeof part === "object" && "expression" in part && /\b(request|query)\b/.test(part.expression.text),
  )
}

/** Whether callers choose the whole text: it is one header field or query parameter of the request and nothing else. */
export function isCallersOwn(text: Text | undefined): boolean {
  if (text === undefined || typeof text === "string" || text.text.length !== 1) return false
  const [only] = text.text
  return (
    typeof only === "object" &&
    "expression" in only &&
    /^\s*request\.(header|query)\((["'])[^"'\\]*\2\)\s*$/.test(only.expression.text)
  )
}

/** All values in a body were escaped, and some no longer are: a caller's value can change the structure of the body. */
export function escapingLost(before: BodyContent | undefined, after: BodyContent | undefined): Finding[] {
  const [old, now] = [escapingOf(before), escapingOf(after)]
  return old.escaped && !old.raw && now.raw
    ? [opens("values in the body are no longer escaped: they may add elements or fields to it")]
    : []
}

function escapingOf(content: BodyContent | undefined): { escaped: boolean; raw: boolean } {
  if (content === undefined || "liquid" in content) return { escaped: false, raw: false }
  if ("value" in content) return { escaped: false, raw: true }
  const parts = typeof content.text === "string" ? [] : content.text.text
  const found = parts.filter((part) => typeof part === "object" && "expression" in part)
  const escaped = found.filter((part) => "as" in part && part.as !== undefined)
  return { escaped: escaped.length > 0, raw: escaped.length < found.length }
}

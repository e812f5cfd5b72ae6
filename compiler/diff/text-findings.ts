import type { Text } from "../../runtime/plan/text.ts"
import { type Finding, opens } from "./finding.ts"

/** A secret in a text goes to whoever the text goes to; not told where the text before it, `known`, held it already. */
export function secretsIn(text: Text | undefined, known?: Text): Finding[] {
  const before = secretNames(known)
  return secretNames(text)
    .filter((name) => !before.includes(name))
    .map((name) => opens(`the secret \`${name}\` is sent there`))
}

function secretNames(text: Text | undefined): string[] {
  if (text === undefined || typeof text === "string") return []
  const names = text.text.flatMap((part) =>
    typeof part === "object" && "secret" in part ? [part.secret] : [],
  )
  return [...new Set(names)]
}

/** What was fixed, or said by a token, may be said by whoever calls now. */
export function callersDecide(before: Text | undefined, after: Text | undefined): Finding[] {
  return !fromCaller(before) && fromCaller(after) ? [opens("callers decide what it says")] : []
}

/** Whether what a caller sends is part of a text. */
export function fromCaller(text: Text | undefined): boolean {
  if (text === undefined || typeof text === "string") return false
  return text.text.some(
    (part) =>
      typeof part === "object" && "expression" in part && /\b(request|query)\b/.test(part.expression.text),
  )
}

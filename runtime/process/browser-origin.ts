import type { References } from "../gateway/generation/references.ts"
import type { LoadText } from "../plan/text.ts"

/**
 * Scheme and host of a plan, as browsers write an origin. `where` names the text in the error.
 * @throws Error for a text that is more than scheme and host
 */
export function browserOrigin(text: LoadText, where: string, references: References): string {
  const found = references.text(text)
  if (URL.canParse(found) && new URL(found).origin === found && /^https?:/.test(found)) return found
  throw new Error(`${where} must be a scheme and a host, e.g. \`https://app.example.com\``)
}

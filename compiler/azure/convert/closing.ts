import type { Element } from "../ast.ts"
import type { DocumentSection } from "../site.ts"
import { heldBy } from "./holders.ts"

/**
 * Policies whose removal neither lets a request pass nor changes what anyone sees: they write logs, store values, or send requests without
 * waiting for the response.
 */
const harmless: ReadonlySet<string> = new Set([
  "trace",
  "emit-metric",
  "llm-emit-token-metric",
  "azure-openai-emit-token-metric",
  "log-to-eventhub",
  "cache-lookup",
  "cache-store",
  "cache-lookup-value",
  "cache-store-value",
  "cache-remove-value",
  "llm-semantic-cache-lookup",
  "llm-semantic-cache-store",
  "azure-openai-semantic-cache-lookup",
  "azure-openai-semantic-cache-store",
  "send-one-way-request",
  "cors",
  "base",
  "forward-request",
])

/** Containers that are not guards themselves. */
const open: ReadonlySet<string> = new Set([
  "choose",
  "when",
  "otherwise",
  "retry",
  "wait",
  "cache-value",
  "value",
])

/**
 * Whether requests must be refused when the policy is left out: it may be a guard, respond, change what the backend or the caller sees, or set
 * a variable that later decisions use. Not in `on-error`: there the request has failed already.
 */
export function mustClose(element: Element, section: DocumentSection): boolean {
  if (section === "on-error") return false
  if (harmless.has(element.name)) return false
  if (!open.has(element.name)) return true
  return heldBy(element).some((child) => mustClose(child, section))
}

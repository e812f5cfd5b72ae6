import type { Element } from "../ast.ts"
import type { DocumentSection } from "../site.ts"
import { heldBy } from "./holders.ts"

/** Policies without which a call is neither let in nor shown to anybody otherwise: they write logs, keep values, or send what nobody waits for. */
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

/** What holds others and guards nothing itself. */
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
 * Whether calls are to be refused where the policy is left out: it may guard, answer, change what the backend or the caller sees, or set a variable
 * that others decide by. In `on-error` the call has failed anyway.
 */
export function mustClose(element: Element, section: DocumentSection): boolean {
  if (section === "on-error") return false
  if (harmless.has(element.name)) return false
  if (!open.has(element.name)) return true
  return heldBy(element).some((child) => mustClose(child, section))
}

import type { LimitKey } from "../../plan/step-values.ts"
import { claimAt } from "../credentials/claim.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { limitKeyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

type KeyReader = (exchange: Exchange) => string | undefined

/** Finds what a limit counts by: the first of its keys that the request has; callers with none share one. */
export function compileLimitKeys(
  keys: readonly LimitKey[],
  provision: Provision,
): (exchange: Exchange) => string {
  const readers = keys.map((key) => readerOf(key, provision))
  return (exchange) => {
    for (const read of readers) {
      const key = read(exchange)
      if (key !== undefined) return key
    }
    // Leaving the credential out must be no way around the limit.
    return "none"
  }
}

/** The prefix keeps a claim's value from being taken for an address or a subscription. */
function readerOf(key: LimitKey, provision: Provision): KeyReader {
  switch (key.by) {
    case "subscription":
      // Without a name: a call of an open product, made without a key.
      return ({ subscriber }) => (subscriber?.name ? `subscription:${subscriber.name}` : undefined)
    case "ip":
      return ({ caller }) => `ip:${caller}`
    case "claim":
      return ({ claims }) => {
        const value = claims === undefined ? undefined : claimAt(claims, key.claim)
        return value === undefined || value === null ? undefined : `claim:${JSON.stringify(value)}`
      }
    case "text": {
      const text = compileText(key.text, provision, limitKeyText)
      return (exchange) => {
        const value = text.of(exchange)
        return value === "" ? undefined : `text:${value}`
      }
    }
  }
}

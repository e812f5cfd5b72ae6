import { claimAt } from "../../identity/claim-at.ts"
import type { LimitKey } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { limitKeyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

type KeyReader = (exchange: Exchange) => string | undefined

/** The key a limit counts by: the first of its keys that the request has. Callers without any share one count. */
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
    // A client must not avoid the limit by omitting its credential.
    return "none"
  }
}

/** The prefix keeps a claim's value from being mistaken for an address or a subscription. */
function readerOf(key: LimitKey, provision: Provision): KeyReader {
  switch (key.by) {
    case "subscription":
      // A call of an open product without a key has an empty subscriber name.
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

import type { Subscription } from "../../../api.ts"
import { Badge, type Tone } from "./basic.tsx"

const tones: Readonly<Record<Subscription["state"], Tone>> = {
  submitted: "warn",
  active: "good",
  suspended: "warn",
  rejected: "bad",
  cancelled: "plain",
  expired: "bad",
}

/** The states, as lists show them. */
export const subscriptionStates = Object.keys(tones) as Subscription["state"][]

/** What a subscription gives access to, in words. */
export function scopeText({ scope }: Pick<Subscription, "scope">): string {
  if ("product" in scope) return `product ${scope.product}`
  return "api" in scope ? `API ${scope.api}` : "all APIs"
}

/** The state of a subscription. */
export function StateBadge({ state }: { readonly state: Subscription["state"] }) {
  return <Badge tone={tones[state]}>{state}</Badge>
}

/** When one of the keys was used last. */
export function lastUse({ primary, secondary }: Subscription): string | undefined {
  return [primary?.lastUsedAt, secondary?.lastUsedAt]
    .flatMap((each) => each ?? [])
    .sort()
    .at(-1)
}

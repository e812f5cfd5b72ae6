import { Badge, type Tone } from "../../../control/console/page/parts/basic.tsx"
import type { OwnSubscription } from "../../api.ts"

const tones: Readonly<Record<OwnSubscription["state"], Tone>> = {
  ...{
    submitted: "warn",
    active: "good",
    suspended: "warn",
    rejected: "bad",
    cancelled: "plain",
    expired: "plain",
  },
}

/** The state of a subscription as a badge. */
export function StateBadge({ state }: { readonly state: OwnSubscription["state"] }) {
  return <Badge tone={tones[state]}>{state}</Badge>
}

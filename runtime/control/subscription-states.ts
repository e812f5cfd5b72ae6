import type { StoredState, SubscriptionState } from "../store/subscriptions.ts"

/** Actions on a subscription, apart from deleting it and rotating its keys. */
export type SubscriptionAction = "approve" | "reject" | "suspend" | "activate" | "cancel"

/** The states from which each action is possible, and the state it leads to. */
const actions: {
  readonly [Action in SubscriptionAction]: {
    readonly from: readonly SubscriptionState[]
    readonly to: StoredState
  }
} = {
  approve: { from: ["submitted"], to: "active" },
  reject: { from: ["submitted"], to: "rejected" },
  suspend: { from: ["active"], to: "suspended" },
  activate: { from: ["suspended", "expired"], to: "active" },
  cancel: { from: ["submitted", "active", "suspended", "expired"], to: "cancelled" },
}

export const subscriptionActions = Object.keys(actions) as readonly SubscriptionAction[]

/** The state after an action, or a sentence with the possible actions. */
export function nextState(
  name: string,
  state: SubscriptionState,
  action: SubscriptionAction,
): { readonly state: StoredState } | string {
  if (actions[action].from.includes(state)) return { state: actions[action].to }
  return `\`${name}\` is ${state} and cannot be ${pastOf[action]}; possible actions: ${possible(state)}`
}

/** Why the keys of a subscription in this state cannot be rotated; undefined when they can. */
export function rotationRefused(name: string, state: SubscriptionState): string | undefined {
  if (state !== "rejected" && state !== "cancelled") return undefined
  return `\`${name}\` is ${state}, so new keys would give no access; possible actions: ${possible(state)}`
}

const pastOf: { readonly [Action in SubscriptionAction]: string } = {
  approve: "approved",
  reject: "rejected",
  suspend: "suspended",
  activate: "activated",
  cancel: "cancelled",
}

function possible(state: SubscriptionState): string {
  const names = subscriptionActions.filter((action) => actions[action].from.includes(state))
  if (names.length === 0) return "only `delete`; then create a new one"
  return [...names, "delete"].map((name) => `\`${name}\``).join(", ")
}

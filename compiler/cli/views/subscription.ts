import type {
  IssuedAnswer,
  Subscription,
  SubscriptionsAnswer,
} from "../../../runtime/control/subscription-api.ts"
import { table } from "./table.ts"

/** The new keys: the one time they are seen. */
export function issuedText({ subscription, keys }: IssuedAnswer): string {
  const lines = (["primary", "secondary"] as const).flatMap((slot) =>
    keys[slot] === undefined ? [] : [`${slot.padEnd(9)}  ${keys[slot]}\n`],
  )
  const warning =
    lines.length === 0 ? "" : "Keep them now: they are stored as digests and cannot be shown again.\n"
  const waits =
    subscription.state === "submitted"
      ? `It waits for \`sallyport subscription approve ${subscription.name}\`.\n`
      : ""
  return `\`${subscription.name}\` opens ${scopeText(subscription)} and is ${subscription.state}.\n${waits}${lines.join("")}${warning}`
}

/** A page of the list. */
export function subscriptionsText({ subscriptions, next, gateway }: SubscriptionsAnswer): string {
  if (subscriptions.length === 0) return "No subscription is like this.\n"
  const rows = table(
    ["NAME", "OPENS", "STATE", "OWNER", "PRIMARY", "SECONDARY", "LAST USED", "EXPIRES"],
    subscriptions.map((each) => [
      each.name,
      scopeText(each),
      each.state,
      each.owner || "-",
      each.primary === null ? (each.source === "text" ? "in gateway.conf" : "-") : `${each.primary.prefix}…`,
      each.secondary === null ? "-" : `${each.secondary.prefix}…`,
      day(lastUsed(each)),
      day(each.expiresAt),
    ]),
  )
  const more = next === null ? "" : `More: \`--after ${next}\`.\n`
  return `${gateway === null ? "" : `Gateway ${gateway}\n`}${rows}${more}`
}

/** One with all there is to know of it. */
export function subscriptionText(one: Subscription): string {
  const key = (info: Subscription["primary"]) =>
    info === null
      ? "-"
      : `${info.prefix}…  made ${time(info.createdAt)}, ${info.lastUsedAt === null ? "never used" : `last used ${time(info.lastUsedAt)}`}`
  const rows: [string, string][] = [
    ["name", one.name],
    ["opens", scopeText(one)],
    ["state", one.state],
    ["owner", one.owner || "-"],
    ["note", one.note || "-"],
    ["primary", one.source === "text" ? "in gateway.conf" : key(one.primary)],
    ["secondary", one.source === "text" ? "in gateway.conf, if there is one" : key(one.secondary)],
    ["expires", one.expiresAt === null ? "never" : time(one.expiresAt)],
    ["created", one.createdAt === null ? "-" : time(one.createdAt)],
    ["changed", one.changedAt === null ? "-" : time(one.changedAt)],
  ]
  return rows.map(([name, value]) => `${name.padEnd(9)}  ${value}\n`).join("")
}

function scopeText({ scope }: Subscription): string {
  if ("product" in scope) return `product ${scope.product}`
  return "api" in scope ? `api ${scope.api}` : "all APIs"
}

function lastUsed({ primary, secondary }: Subscription): string | null {
  const times = [primary?.lastUsedAt, secondary?.lastUsedAt].filter((each) => typeof each === "string")
  return times.sort().at(-1) ?? null
}

function day(at: string | null): string {
  return at === null ? "-" : at.slice(0, 10)
}

function time(at: string): string {
  return at.replace("T", " ").replace(/\.\d+Z$/, "Z")
}

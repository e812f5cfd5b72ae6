import { randomBytes } from "node:crypto"
import type { IssuedAnswer, Subscription } from "../control/api.ts"
import type { SubscriptionDesk } from "../control/subscription-desk.ts"
import type { KeysAnswer, OwnSubscription, Person } from "./api.ts"
import type { Published } from "./published.ts"

/** Why something was refused; the detail is for the person. */
export interface PortalRefusal {
  readonly refused: "not-found" | "conflict" | "refused"
  readonly detail: string
}

/** Subscriptions that one person may have, whatever their state. */
const ownMax = 200
const nothing: PortalRefusal = { refused: "not-found", detail: "you have no such subscription" }

/** What a person may do with subscriptions: only with the own ones, and only for products that the portal offers. */
export class OwnSubscriptions {
  readonly #desk: SubscriptionDesk

  constructor(desk: SubscriptionDesk) {
    this.#desk = desk
  }

  async list({ owner }: Person, published: Published): Promise<OwnSubscription[]> {
    const { subscriptions } = await this.#desk.list({ owner, after: "", limit: ownMax })
    return subscriptions
      .map((each) => shown(each, published))
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  }

  /** Undefined: the person has no such subscription, which is also said of those of others. */
  async find({ owner }: Person, name: string): Promise<Subscription | undefined> {
    const found = await this.#desk.show(name)
    return "refused" in found || found.source !== "issued" || found.owner !== owner ? undefined : found
  }

  async subscribe(
    person: Person,
    { product, label }: { readonly product: string; readonly label: string },
    published: Published,
  ): Promise<KeysAnswer | PortalRefusal> {
    const offered = published.products.find(({ name }) => name === product)
    if (offered === undefined)
      return { refused: "refused", detail: `the product \`${product}\` is not offered` }
    const { subscriptions } = await this.#desk.list({ owner: person.owner, after: "", limit: ownMax })
    if (subscriptions.length >= ownMax)
      return { refused: "conflict", detail: `you already have ${ownMax} subscriptions` }
    // People do not choose names: a name that is taken would tell of the subscriptions of others.
    const name = `dev-${randomBytes(10).toString("hex")}`
    const scope = { product }
    const made = await this.#desk.create({ name, scope, owner: person.owner, note: label, expiresAt: null })
    if ("refused" in made)
      return made.refused === "conflict"
        ? {
            refused: "conflict",
            detail: `you already have as many subscriptions to \`${product}\` as it allows; cancel one first`,
          }
        : { refused: "refused", detail: `the product \`${product}\` cannot be subscribed at the moment` }
    return issued(made, published)
  }

  async rotate(
    person: Person,
    name: string,
    slot: "primary" | "secondary",
    published: Published,
  ): Promise<KeysAnswer | PortalRefusal> {
    const found = await this.find(person, name)
    if (found === undefined) return nothing
    const made = await this.#desk.rotate(name, slot)
    return "refused" in made ? cannot(found, "get new keys") : issued(made, published)
  }

  /** A suspended subscription is activated by operators only, because it may be they who suspended it. */
  async end(
    person: Person,
    name: string,
    action: "suspend" | "cancel",
    published: Published,
  ): Promise<OwnSubscription | PortalRefusal> {
    const found = await this.find(person, name)
    if (found === undefined) return nothing
    const done = await this.#desk.act(name, action)
    return "refused" in done
      ? cannot(found, `be ${action === "suspend" ? "suspended" : "cancelled"}`)
      : shown(done, published)
  }
}

function cannot({ state }: Subscription, what: string): PortalRefusal {
  return { refused: "conflict", detail: `the subscription is ${state}, so it cannot ${what}` }
}

function issued({ subscription, keys }: IssuedAnswer, published: Published): KeysAnswer {
  const { primary, secondary } = keys
  return {
    subscription: shown(subscription, published),
    keys: {
      ...(primary === undefined ? {} : { primary }),
      ...(secondary === undefined ? {} : { secondary }),
    },
  }
}

/** A subscription as its owner sees it. An operator may have made it for something that the portal does not show. */
export function shown(subscription: Subscription, published: Published): OwnSubscription {
  const { name, note, scope, state, primary, secondary, expiresAt, createdAt } = subscription
  const product = "product" in scope ? scope.product : undefined
  const isKnown = published.products.some((each) => each.name === product)
  const isOver = state === "rejected" || state === "cancelled"
  return {
    ...{ name, label: note, state, primary, secondary, expiresAt, createdAt: createdAt ?? "" },
    product: isKnown ? (product ?? null) : null,
    may: isOver ? [] : ["rotate", ...(state === "active" ? (["suspend"] as const) : []), "cancel"],
  }
}

import type { FastifyInstance, FastifyReply } from "fastify"
import type { PlanBody } from "../plan/plan.ts"
import type { Database } from "../store/database.ts"
import { readQuota } from "../store/quotas.ts"
import {
  changeSubscription,
  countByProduct,
  deleteSubscription,
  findSubscription,
  insertSubscription,
  type KeySlot,
  listSubscriptions,
  replaceKey,
  type StoredKey,
  type SubscriptionRecord,
  stateOf,
} from "../store/subscriptions.ts"
import { periodOf } from "../usage/quotas.ts"
import {
  activateRequest,
  type CreateSubscription,
  createSubscriptionRequest,
  type IssuedAnswer,
  type LimitsAnswer,
  listQuery,
  type ProductListAnswer,
  type ProductSummary,
  rotateRequest,
  type Subscription,
  type SubscriptionQuery,
  type SubscriptionQuotaUse,
  type SubscriptionsAnswer,
} from "./api.ts"
import { bodyOf } from "./body.ts"
import { type CountedStep, countedBySubscription, limitOf, quotaOf } from "./counted-by-subscription.ts"
import { sendProblem } from "./problem.ts"
import { describeKey, newSubscriptionKey, type SubscriptionKey } from "./subscription-key.ts"
import {
  nextState,
  rotationRefused,
  type SubscriptionAction,
  subscriptionActions,
} from "./subscription-states.ts"

/** The dependencies of the desk. */
export interface SubscriptionDeskSettings {
  readonly database: Database
  /** The running plan, with the products and APIs of subscriptions. Null: no plan yet. */
  readonly plan: () => PlanBody | null
  /** Reads a change into this process at once; other processes find it by themselves. */
  readonly changed: () => Promise<void>
  readonly now?: () => number
}

/** Why an action was refused; the message is for operators. */
interface SubscriptionRefusal {
  readonly refused: "absent" | "conflict" | "invalid"
  readonly message: string
}

interface ByName {
  Params: { name: string }
}

const problemOf = { absent: "not-found", conflict: "conflict", invalid: "refused" } as const

/** Issues, lists and changes subscriptions. Subscriptions of gateway.conf are listed but cannot be changed here. */
export class SubscriptionDesk {
  readonly #settings: SubscriptionDeskSettings
  readonly #now: () => number

  constructor(settings: SubscriptionDeskSettings) {
    this.#settings = settings
    this.#now = settings.now ?? Date.now
  }

  async create(request: CreateSubscription): Promise<IssuedAnswer | SubscriptionRefusal> {
    const plan = this.#settings.plan()
    const refused = this.#refuse(request, plan)
    if (refused !== undefined) return refused
    const product = "product" in request.scope ? ownOf(plan?.products, request.scope.product) : undefined
    const keys = {
      primary: keyFor(request.keys?.primary),
      secondary: keyFor(request.keys?.secondary),
    }
    const stored = await insertSubscription(this.#settings.database, {
      name: request.name,
      scope: storedScope(request.scope),
      state: request.state ?? (product?.approval ? "submitted" : "active"),
      owner: request.owner,
      note: request.note,
      expiresAt: request.expiresAt === null ? null : new Date(request.expiresAt),
      keys,
      perOwnerMax: product?.subscriptionsPerOwner ?? null,
    })
    if (typeof stored === "string") return notStored(stored, request, product?.subscriptionsPerOwner ?? 0)
    await this.#settings.changed()
    return {
      subscription: this.#shown(stored),
      keys: request.keys === undefined ? { primary: keys.primary.key, secondary: keys.secondary.key } : {},
    }
  }

  async list(query: SubscriptionQuery): Promise<SubscriptionsAnswer> {
    const records = await listSubscriptions(this.#settings.database, { ...query, limit: query.limit + 1 })
    const all = [...records.map((record) => this.#shown(record)), ...this.#ofText(query)]
    all.sort((a, b) => (a.name < b.name ? -1 : 1))
    const subscriptions = all.slice(0, query.limit)
    return {
      gateway: this.#settings.plan()?.gateway?.name ?? null,
      subscriptions,
      next: all.length > query.limit ? (subscriptions.at(-1)?.name ?? null) : null,
    }
  }

  async show(name: string): Promise<Subscription | SubscriptionRefusal> {
    const ofText = this.#textSubscription(name)
    if (ofText !== undefined) return ofText
    const record = await findSubscription(this.#settings.database, name)
    return record === undefined ? absent(name) : this.#shown(record)
  }

  /** The products of the running plan, with what counts by subscription and how many subscriptions they have. */
  async products(): Promise<ProductListAnswer> {
    const plan = this.#settings.plan()
    if (plan === null) return { products: [] }
    const issued = await countByProduct(this.#settings.database)
    const ofText = countTextSubscriptions(plan)
    const products = Object.keys(plan.products).map((name): ProductSummary => {
      const counts = { ...issued.get(name) }
      const declared = ofText.get(name) ?? 0
      // Their keys are always valid.
      if (declared > 0) counts.active = (counts.active ?? 0) + declared
      return productSummary(plan, name, counts)
    })
    return { products: products.sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  /** What counts by the subscription, with the use of its quotas. `shows`: the versions that the reader may know of (default: all). */
  async limits(
    { name, scope, createdAt }: Pick<Subscription, "name" | "scope" | "createdAt">,
    shows?: (api: string, version: string | null) => boolean,
  ): Promise<LimitsAnswer> {
    const plan = this.#settings.plan()
    const counted = plan === null ? [] : countedBySubscription(plan, scope, shows)
    // As the gateway does: it knows no beginning of a subscription of gateway.conf, and counts from 1970 on.
    const sinceMs = createdAt === null ? 0 : Date.parse(createdAt)
    const quotas = counted.filter(({ isQuota }) => isQuota)
    return {
      limits: counted.flatMap(limitOf),
      quotas: await Promise.all(quotas.map((each) => this.#used(each, name, sinceMs))),
    }
  }

  async #used(counted: CountedStep, name: string, sinceMs: number): Promise<SubscriptionQuotaUse> {
    const { counter, periodSeconds, startsAt } = counted
    const anchorMs = startsAt === undefined ? sinceMs : Date.parse(startsAt)
    const period = periodOf(counter, `subscription:${name}`, periodSeconds, anchorMs, this.#now())
    const { startMs, endsMs } = period
    const used = await readQuota(this.#settings.database, period)
    return {
      ...quotaOf(counted),
      used: used ?? { calls: 0, bytes: 0 },
      startsAt: new Date(startMs).toISOString(),
      endsAt: endsMs === null ? null : new Date(endsMs).toISOString(),
    }
  }

  /** `expiresAt` applies to `activate` only; undefined leaves the end unchanged. */
  async act(
    name: string,
    action: SubscriptionAction,
    expiresAt?: string | null,
  ): Promise<Subscription | SubscriptionRefusal> {
    if (this.#textSubscription(name) !== undefined) return fixed(name)
    const end = expiresAt === undefined || expiresAt === null ? expiresAt : new Date(expiresAt)
    const done = await changeSubscription(this.#settings.database, name, (record) => {
      const next = nextState(name, stateOf(record, this.#now()), action)
      if (typeof next === "string") return next
      const ends = end === undefined ? record.expiresAt : end
      if (next.state === "active" && ends !== null && ends.getTime() <= this.#now())
        return `\`${name}\` expired at ${ends.toISOString()}: set a new end, or none (\`--expires\`, \`expiresAt\`)`
      return { state: next.state, expiresAt: ends }
    })
    return this.#outcome(name, done)
  }

  async rotate(name: string, slot: KeySlot): Promise<IssuedAnswer | SubscriptionRefusal> {
    if (this.#textSubscription(name) !== undefined) return fixed(name)
    const made = newSubscriptionKey()
    const done = await replaceKey(this.#settings.database, name, slot, made, (record) =>
      rotationRefused(name, stateOf(record, this.#now())),
    )
    const outcome = await this.#outcome(name, done)
    return "refused" in outcome ? outcome : { subscription: outcome, keys: { [slot]: made.key } }
  }

  async remove(name: string): Promise<SubscriptionRefusal | undefined> {
    if (this.#textSubscription(name) !== undefined) return fixed(name)
    const gone = await deleteSubscription(this.#settings.database, name)
    if (!gone) return absent(name)
    await this.#settings.changed()
    return undefined
  }

  async #outcome(
    name: string,
    done: SubscriptionRecord | string | undefined,
  ): Promise<Subscription | SubscriptionRefusal> {
    if (done === undefined) return absent(name)
    if (typeof done === "string") return { refused: "conflict", message: done }
    await this.#settings.changed()
    return this.#shown(done)
  }

  #refuse(request: CreateSubscription, plan: PlanBody | null): SubscriptionRefusal | undefined {
    const { name, scope, expiresAt } = request
    const invalid = (message: string): SubscriptionRefusal => ({ refused: "invalid", message })
    if (ownOf(plan?.subscriptions, name) !== undefined)
      return { refused: "conflict", message: `gateway.conf declares a subscription \`${name}\`` }
    if (expiresAt !== null && Date.parse(expiresAt) <= this.#now())
      return invalid(`the end ${expiresAt} (\`--expires\`, \`expiresAt\`) is in the past`)
    if (request.keys !== undefined && request.keys.primary === request.keys.secondary)
      return invalid("primary and secondary key are the same")
    if ("product" in scope) {
      const product = ownOf(plan?.products, scope.product)
      if (product === undefined) return invalid(`the running plan has no product \`${scope.product}\``)
      if (product.unpublished)
        return invalid(`the product \`${scope.product}\` is not published, so callers cannot subscribe to it`)
    }
    if ("api" in scope && !Object.values(plan?.routes ?? {}).some(({ api }) => api === scope.api))
      return invalid(`the running plan has no API \`${scope.api}\``)
    return undefined
  }

  #textSubscription(name: string): Subscription | undefined {
    const declared = ownOf(this.#settings.plan()?.subscriptions, name)
    return declared === undefined ? undefined : textSubscription(name, declared.scope)
  }

  #ofText(query: SubscriptionQuery): Subscription[] {
    const { after, state, product, api, owner, prefix, text } = query
    if ((state !== undefined && state !== "active") || owner !== undefined || prefix !== undefined) return []
    return Object.entries(this.#settings.plan()?.subscriptions ?? {})
      .map(([name, { scope }]) => textSubscription(name, scope))
      .filter(
        ({ name, scope }) =>
          name > after &&
          (product === undefined || ("product" in scope && scope.product === product)) &&
          (api === undefined || ("api" in scope && scope.api === api)) &&
          (text === undefined || name.toLowerCase().includes(text.toLowerCase())),
      )
  }

  #shown(record: SubscriptionRecord): Subscription {
    const { name, scope, owner, note, keys } = record
    return {
      name,
      source: "issued",
      scope: scope.kind === "all" ? { all: true } : shownScope(scope),
      state: stateOf(record, this.#now()),
      owner,
      note,
      primary: shownKey(keys.primary),
      secondary: shownKey(keys.secondary),
      expiresAt: record.expiresAt?.toISOString() ?? null,
      createdAt: record.createdAt.toISOString(),
      changedAt: record.changedAt.toISOString(),
    }
  }
}

function keyFor(given: string | undefined): SubscriptionKey {
  return given === undefined ? newSubscriptionKey() : describeKey(given)
}

function storedScope(scope: CreateSubscription["scope"]): SubscriptionRecord["scope"] {
  if ("all" in scope) return { kind: "all" }
  return "product" in scope ? { kind: "product", name: scope.product } : { kind: "api", name: scope.api }
}

function shownScope({
  kind,
  name,
}: {
  readonly kind: "product" | "api"
  readonly name: string
}): Subscription["scope"] {
  return kind === "product" ? { product: name } : { api: name }
}

function shownKey(key: StoredKey | undefined): Subscription["primary"] {
  if (key === undefined) return null
  const { prefix, createdAt, lastUsedAt } = key
  return { prefix, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null }
}

function textSubscription(name: string, scope: Subscription["scope"]): Subscription {
  const unknown = { owner: "", note: "", primary: null, secondary: null }
  return {
    name,
    source: "text",
    scope,
    state: "active",
    ...unknown,
    expiresAt: null,
    createdAt: null,
    changedAt: null,
  }
}

function countTextSubscriptions({ subscriptions }: PlanBody): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { scope } of Object.values(subscriptions))
    if ("product" in scope) found.set(scope.product, (found.get(scope.product) ?? 0) + 1)
  return found
}

function productSummary(
  plan: PlanBody,
  name: string,
  subscriptions: ProductSummary["subscriptions"],
): ProductSummary {
  const { apis = [], approval, open, unpublished, price, subscriptionsPerOwner } = plan.products[name] ?? {}
  const counted = countedBySubscription(plan, { product: name })
  return {
    ...{ name, apis, approval: approval === true, open: open === true, unpublished: unpublished === true },
    price: price ?? null,
    subscriptionsPerOwner: subscriptionsPerOwner ?? null,
    limits: counted.flatMap(limitOf),
    quotas: counted.filter(({ isQuota }) => isQuota).map(quotaOf),
    subscriptions,
  }
}

function absent(name: string): SubscriptionRefusal {
  return { refused: "absent", message: `there is no subscription \`${name}\`` }
}

function fixed(name: string): SubscriptionRefusal {
  return {
    refused: "conflict",
    message: `\`${name}\` is declared in gateway.conf: change it there and apply the text`,
  }
}

function notStored(
  why: "exists" | "same-key" | "full",
  { name, owner, scope }: CreateSubscription,
  perOwnerMax: number,
): SubscriptionRefusal {
  const message = {
    exists: `a subscription \`${name}\` already exists`,
    "same-key": "one of the keys belongs to another subscription",
    full: `${owner === "" ? "callers without an owner already have" : `\`${owner}\` already has`} ${perOwnerMax} of ${perOwnerMax} subscriptions to \`${"product" in scope ? scope.product : ""}\``,
  }[why]
  return { refused: "conflict", message }
}

/** Own properties only, because users choose the names. */
function ownOf<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

/**
 * `GET /v1/products`, `GET|POST /v1/subscriptions`, `GET|DELETE /v1/subscriptions/{name}`, `GET /v1/subscriptions/{name}/limits`, `POST
 * /v1/subscriptions/{name}/{approve|reject|suspend|activate|cancel|rotate}`. Only the responses of create and rotate contain keys.
 */
export function addSubscriptionRoutes(app: FastifyInstance, desk: SubscriptionDesk): void {
  app.get("/v1/products", () => desk.products())
  app.get("/v1/subscriptions", async (request, reply) => {
    const query = bodyOf(listQuery, request.query, reply)
    return query === undefined ? reply : desk.list(query)
  })
  app.post("/v1/subscriptions", async (request, reply) => {
    const body = bodyOf(createSubscriptionRequest, request.body, reply)
    if (body === undefined) return reply
    return answer(reply.header("cache-control", "no-store"), await desk.create(body), 201)
  })
  app.get<ByName>("/v1/subscriptions/:name", async (request, reply) =>
    answer(reply, await desk.show(request.params.name)),
  )
  app.get<ByName>("/v1/subscriptions/:name/limits", async (request, reply) => {
    const found = await desk.show(request.params.name)
    return answer(reply, "refused" in found ? found : await desk.limits(found))
  })
  app.delete<ByName>("/v1/subscriptions/:name", async (request, reply) => {
    const refused = await desk.remove(request.params.name)
    return refused === undefined ? reply.code(204).send() : answer(reply, refused)
  })
  app.post<ByName>("/v1/subscriptions/:name/rotate", async (request, reply) => {
    const body = bodyOf(rotateRequest, request.body, reply)
    if (body === undefined) return reply
    return answer(reply.header("cache-control", "no-store"), await desk.rotate(request.params.name, body.key))
  })
  for (const action of subscriptionActions) {
    app.post<ByName>(`/v1/subscriptions/:name/${action}`, async (request, reply) => {
      const body = action === "activate" ? bodyOf(activateRequest, request.body ?? {}, reply) : {}
      if (body === undefined) return reply
      return answer(reply, await desk.act(request.params.name, action, body.expiresAt))
    })
  }
}

function answer(reply: FastifyReply, outcome: object | SubscriptionRefusal, status = 200): unknown {
  if ("refused" in outcome) return sendProblem(reply, problemOf[outcome.refused], outcome.message)
  reply.code(status)
  return outcome
}

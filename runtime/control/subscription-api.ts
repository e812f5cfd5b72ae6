import * as z from "zod"

/** Name of a subscription: in logs, in usage, in expressions. */
export const subscriptionName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, "a letter, then letters, digits, `_` or `-`, 63 at most")

/** What it opens: the APIs of a product, one API, or all. */
export const subscriptionScope = z.union([
  z.strictObject({ product: z.string() }),
  z.strictObject({ api: z.string() }),
  z.strictObject({ all: z.literal(true) }),
])

/** States of a subscription. Only `active` lets its keys in. */
export const subscriptionStates = [
  "submitted",
  "active",
  "suspended",
  "rejected",
  "cancelled",
  "expired",
] as const
/** One of `subscriptionStates`. */
export type SubscriptionStatus = (typeof subscriptionStates)[number]

/** A key as it can be recognised; times are RFC 3339, `lastUsedAt` is right within a minute. */
const keyInfo = z.strictObject({
  prefix: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
})

/** A subscription, issued or of the text. Of one of the text only name, scope and state are known. */
export const subscription = z.strictObject({
  name: z.string(),
  source: z.enum(["issued", "text"]),
  scope: subscriptionScope,
  state: z.enum(subscriptionStates),
  owner: z.string(),
  note: z.string(),
  primary: keyInfo.nullable(),
  secondary: keyInfo.nullable(),
  expiresAt: z.string().nullable(),
  createdAt: z.string().nullable(),
  changedAt: z.string().nullable(),
})
export type Subscription = z.infer<typeof subscription>

const moment = z.iso.datetime({ offset: true })
/** Keys made elsewhere are taken as they are: callers need not change theirs. Shorter ones could be guessed. */
const givenKey = z.string().regex(/^[\x21-\x7e]{24,512}$/, "24 to 512 characters without blanks")

/** Body of `POST /v1/subscriptions`. Without `state` the product says: `submitted` where it wants approval, else `active`. */
export const createSubscriptionRequest = z.strictObject({
  name: subscriptionName,
  scope: subscriptionScope,
  owner: z.string().max(200).default(""),
  note: z.string().max(2000).default(""),
  expiresAt: moment.nullable().default(null),
  state: z.enum(["submitted", "active"]).optional(),
  keys: z.strictObject({ primary: givenKey, secondary: givenKey }).optional(),
})
/** See `createSubscriptionRequest`. */
export type CreateSubscription = z.infer<typeof createSubscriptionRequest>

/** Body of `POST /v1/subscriptions/{name}/activate`: an expired one needs a new end, or `null` for none. */
export const activateRequest = z.strictObject({ expiresAt: moment.nullable().optional() })

/** Body of `POST /v1/subscriptions/{name}/rotate`. */
export const rotateRequest = z.strictObject({ key: z.enum(["primary", "secondary"]) })

/** Answer of create and rotate. `keys` are shown this once, and only those made here. */
export const issuedAnswer = z.strictObject({
  subscription,
  keys: z.strictObject({ primary: z.string().optional(), secondary: z.string().optional() }),
})
export type IssuedAnswer = z.infer<typeof issuedAnswer>

/** Answer of `GET /v1/subscriptions`, by name; `after` of the next page, null at the end. `gateway` is the name the running plan has for itself. */
export const subscriptionsAnswer = z.strictObject({
  gateway: z.string().nullable(),
  subscriptions: z.array(subscription),
  next: z.string().nullable(),
})
export type SubscriptionsAnswer = z.infer<typeof subscriptionsAnswer>

/** Query of `GET /v1/subscriptions`. */
export const listQuery = z.strictObject({
  state: z.enum(subscriptionStates).optional(),
  product: z.string().optional(),
  api: z.string().optional(),
  owner: z.string().optional(),
  prefix: z.string().max(512).optional(),
  text: z.string().max(200).optional(),
  after: z.string().max(100).default(""),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})
/** See `listQuery`. */
export type SubscriptionQuery = z.infer<typeof listQuery>

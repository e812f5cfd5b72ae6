import * as z from "zod"

/*
 * The JSON API behind the pages of the developer portal. All paths begin with `/api/`; everything else is a file of the pages, or a path of
 * the login.
 *
 * - `GET /api/portal` → PortalAnswer
 * - `GET /api/apis` → ApisAnswer · `GET /api/apis/{api}/{version}` → ApiAnswer; the version of an API without versions is `-`
 * - `GET /api/apis/{api}/{version}/openapi.json` → the whole OpenAPI 3.1 document
 * - `GET /api/apis/{api}/{version}/operations/{id}` → OperationAnswer
 * - `GET /api/products` → ProductsAnswer
 * - `GET /api/changelog` → ChangelogAnswer · `?api=NAME` for one API
 * - `GET /api/pages/{slug}` → PageAnswer
 * - `GET /api/assets/logo.svg`, `GET /api/assets/style.css`: the files of the plan
 *
 * The following need a signed-in person, and show only what that person owns:
 *
 * - `GET /api/subscriptions` → OwnSubscriptionsAnswer · `POST` SubscribeRequest → KeysAnswer, 201
 * - `GET /api/subscriptions/{name}` → OwnSubscription
 * - `POST /api/subscriptions/{name}/rotate` RotateKeyRequest → KeysAnswer
 * - `POST /api/subscriptions/{name}/suspend`, `…/cancel` → OwnSubscription
 * - `GET /api/subscriptions/{name}/usage` UsageRange → OwnUsageAnswer
 * - `GET /api/subscriptions/{name}/limits` → LimitsAnswer of the control API, for the published APIs of the subscription
 * - `GET /api/subscriptions/{name}/errors` → OwnErrorsAnswer
 *
 * Every `POST` needs `Content-Type: application/json`, a body (`{}` if it has no fields) and the `Origin` of the portal. Failures are
 * problem bodies (RFC 9457), see PortalProblem. A login begins with a navigation to `signIn.login`, with `?return_to=/PATH`; a logout is a
 * POST of `{}` to `signIn.logout` with `Accept: application/json` → LogoutAnswer, or a form.
 */

/** Names of problems; the last part of `type` is `urn:sallyport:portal:NAME`. */
export type PortalProblemName =
  | "bad-request"
  | "unauthenticated"
  | "no-sign-in"
  | "forbidden"
  | "cross-origin"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "refused"
  | "too-large"
  | "unsupported-media-type"
  | "too-many-requests"
  | "unavailable"
  | "internal"

/** The body of a failure (RFC 9457). `detail` may be shown to the person. */
export interface PortalProblem {
  readonly type: `urn:sallyport:portal:${PortalProblemName}`
  readonly title: string
  readonly status: number
  readonly detail: string
}

/** Response to a logout. `page`: where the session at the identity provider ends; null: it has no page for that. */
export interface LogoutAnswer {
  readonly page: string | null
}

/** The signed-in person. `owner`: the value of the claim by which subscriptions belong to people. `name`: for display. */
export interface Person {
  readonly owner: string
  readonly name: string
}

/**
 * What every page needs. `logo`, `style`: URLs of files, null if the plan has none. `texts`: texts of the pages that the plan replaces, by
 * their keys. `signIn` null: the catalogue can be read, and nothing can be subscribed. `person` null: not signed in. `gateway`: URL of the
 * gateway as callers see it, without a slash at the end; null: not known. `tryIt`: pages of this portal may call the published APIs at
 * `gateway` (CORS). `canSubscribe`: at least one product is offered.
 */
export interface PortalAnswer {
  readonly title: string
  readonly logo: string | null
  readonly style: string | null
  readonly texts: Readonly<Record<string, string>>
  readonly pages: readonly { readonly slug: string; readonly title: string }[]
  readonly signIn: { readonly login: string; readonly logout: string } | null
  readonly person: Person | null
  readonly gateway: string | null
  readonly tryIt: boolean
  readonly canSubscribe: boolean
}

/**
 * When a version ends. `deprecated`: a day (`2027-01-31`), true without one, false if only the sunset is announced. `sunset` null: not
 * decided. `closes`: requests get 410 from the sunset on. `successor`: the version to use instead, if it is published.
 */
export interface Lifecycle {
  readonly deprecated: string | boolean
  readonly sunset: string | null
  readonly closes: boolean
  readonly successor: string | null
}

/** A version of a published API. `version` null: the API has no versions; its part of URLs is then `-`. `lifecycle` null: no end is announced. */
export interface PublishedVersion {
  readonly version: string | null
  readonly title: string
  readonly description: string | null
  readonly path: string
  readonly operations: number
  readonly lifecycle: Lifecycle | null
}

/** A published API. `products`: names of the offered products that contain it. */
export interface PublishedApi {
  readonly name: string
  readonly versions: readonly PublishedVersion[]
  readonly products: readonly string[]
}

/** Response of `GET /api/apis`, APIs by name, versions as the plan has them. */
export interface ApisAnswer {
  readonly apis: readonly PublishedApi[]
}

/** An operation in a list. `id`: its part of URLs, unique in the version. `template`: below the path of the version. */
export interface OperationSummary {
  readonly id: string
  readonly method: string
  readonly template: string
  readonly summary: string | null
  readonly tags: readonly string[]
  readonly deprecated: boolean
}

/** Response of `GET /api/apis/{api}/{version}`: operations in the order of the document. */
export interface ApiAnswer extends PublishedVersion {
  readonly name: string
  readonly list: readonly OperationSummary[]
}

/** A JSON value of an OpenAPI document. */
export type DocumentValue = string | number | boolean | null | readonly DocumentValue[] | DocumentObject

/** A JSON object of an OpenAPI document. */
export type DocumentObject = { readonly [name: string]: DocumentValue }

/** Languages of examples. */
export const exampleLanguages = ["curl", "javascript", "python", "go", "java", "csharp"] as const
/** One of `exampleLanguages`. */
export type ExampleLanguage = (typeof exampleLanguages)[number]

/**
 * An example request, from which the try-it form can begin. `url` is relative to `gateway`. `headers` name credentials with placeholders in
 * capital letters (`YOUR_KEY`, `YOUR_TOKEN`). `body` null: none.
 */
export interface ExampleRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

/**
 * Response of `GET /api/apis/{api}/{version}/operations/{id}`. `operation`: the Operation Object of OpenAPI 3.1. `schemas`: the schemas that it
 * refers to (`#/components/schemas/NAME`), directly or through others; a schema may refer to itself. `securitySchemes`, `responses`: the same
 * for those components. `examples`: source text by language.
 */
export interface OperationAnswer extends OperationSummary {
  readonly api: string
  readonly version: string | null
  readonly path: string
  readonly operation: DocumentObject
  readonly schemas: DocumentObject
  readonly securitySchemes: DocumentObject
  readonly responses: DocumentObject
  /** Scheme and host where callers reach it: those of the API's own `host`, or of the gateway; null: not known. */
  readonly gateway: string | null
  readonly request: ExampleRequest
  readonly examples: Readonly<Record<ExampleLanguage, string>>
}

/** An amount of money: a decimal number as text, and an ISO 4217 code. */
export interface Money {
  readonly amount: string
  readonly currency: string
}

/** A product that can be subscribed. `apis`: its published ones. `price`: of a call. `approval`: a new subscription waits until it is approved. */
export interface OfferedProduct {
  readonly name: string
  readonly apis: readonly string[]
  readonly approval: boolean
  readonly price: Money | null
  readonly subscriptionsPerOwner: number | null
}

/** Response of `GET /api/products`. */
export interface ProductsAnswer {
  readonly products: readonly OfferedProduct[]
}

/** How much a change of the published documents matters to callers, the most first. */
export const noteKinds = ["breaking", "deprecated", "added", "changed"] as const
/** One of `noteKinds`. */
export type NoteKind = (typeof noteKinds)[number]

/** A change for callers, in one sentence. `operation`: `GET /orders/{id}`; null: it concerns the whole API. */
export interface ChangeNote {
  readonly kind: NoteKind
  readonly api: string
  readonly version: string | null
  readonly operation: string | null
  readonly text: string
}

/** The changes of one plan, breaking ones first. `at` is RFC 3339. `cut`: there are more. */
export interface ChangeEntry {
  readonly at: string
  readonly notes: readonly ChangeNote[]
  readonly cut: boolean
}

/** The end of a published version, as the running plan announces it. */
export interface AnnouncedEnd {
  readonly api: string
  readonly version: string | null
  readonly lifecycle: Lifecycle
}

/** Response of `GET /api/changelog`: what ends, the earliest first, and the changes, newest first; plans without changes for callers are absent. */
export interface ChangelogAnswer {
  readonly ends: readonly AnnouncedEnd[]
  readonly entries: readonly ChangeEntry[]
}

/** Response of `GET /api/pages/{slug}`: a page in Markdown. It may contain HTML, which must not be inserted into the document. */
export interface PageAnswer {
  readonly slug: string
  readonly title: string
  readonly markdown: string
}

/** A key as far as it may be shown again. Times are RFC 3339; `lastUsedAt` null: never. */
export interface OwnKey {
  readonly prefix: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/**
 * A subscription of the signed-in person. `product` null: it is not for a product that this portal shows. `label`: the person's own note.
 * `may`: what the person can do with it now.
 */
export interface OwnSubscription {
  readonly name: string
  readonly label: string
  readonly product: string | null
  readonly state: "submitted" | "active" | "suspended" | "rejected" | "cancelled" | "expired"
  readonly primary: OwnKey | null
  readonly secondary: OwnKey | null
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly may: readonly ("rotate" | "suspend" | "cancel")[]
}

/** Response of `GET /api/subscriptions`, newest first, at most 200. */
export interface OwnSubscriptionsAnswer {
  readonly subscriptions: readonly OwnSubscription[]
}

/** Body of `POST /api/subscriptions`. `label`: shown only to the person and to operators. */
export const subscribeRequest = z.strictObject({
  product: z.string().min(1).max(128),
  label: z.string().max(200).default(""),
})

/** Body of `POST /api/subscriptions/{name}/rotate`. */
export const rotateKeyRequest = z.strictObject({ key: z.enum(["primary", "secondary"]) })

/** Body of the other `POST` requests. */
export const emptyRequest = z.strictObject({})

/** Keys that were made now. They are never shown again. */
export interface KeysAnswer {
  readonly subscription: OwnSubscription
  readonly keys: { readonly primary?: string; readonly secondary?: string }
}

/** Query of `…/usage`: days in UTC, both included (default: the last 30 days); at most 366. */
export const usageRange = z.strictObject({ from: z.iso.date().optional(), to: z.iso.date().optional() })

/** Calls of a day (`2027-01-31`, UTC). `failed`: with a status of 400 or above, or without a response. `p95` in milliseconds; null without calls. */
export interface UsageDay {
  readonly day: string
  readonly calls: number
  readonly failed: number
  readonly billed: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly p95: number | null
  readonly cost: readonly Money[]
}

/** Calls of an operation in the range. `api` null: operations that this portal does not show, together. */
export interface UsageOfOperation {
  readonly api: string | null
  readonly version: string | null
  readonly operation: string | null
  readonly calls: number
  readonly failed: number
}

/** Response of `…/usage`. Every day of the range has an entry, so that it can be plotted. Operations with the most calls first, at most 200. */
export interface OwnUsageAnswer {
  readonly from: string
  readonly to: string
  readonly days: readonly UsageDay[]
  readonly operations: readonly UsageOfOperation[]
  readonly total: Omit<UsageDay, "day">
}

/** A refused or failed call. `id`: what `X-Request-Id` of the response said. `problem`: name of the problem; null: the backend responded. `reason`: why, and what to do. */
export interface OwnError {
  readonly id: string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly problem: string | null
  readonly reason: string
}

/** Response of `…/errors`: calls of the last hour, newest first, at most 100. */
export interface OwnErrorsAnswer {
  readonly errors: readonly OwnError[]
}

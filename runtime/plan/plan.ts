import * as z from "zod"
import { modelPlan } from "./authorization-model.ts"
import { authz } from "./authz.ts"
import { changeRules } from "./change-rules.ts"
import { controlPlan } from "./control.ts"
import { oidcClient } from "./oidc-client.ts"
import { portalPlan } from "./portal.ts"
import {
  backend,
  certificate,
  gateway,
  introspection,
  issuer,
  outline,
  pdp,
  product,
  route,
  setting,
  settingPlace,
  subscription,
  tokenClient,
  users,
  value,
} from "./resources.ts"
import { step } from "./steps.ts"
import { name, reference, stepId } from "./text.ts"
import { valueSchema } from "./value-schema.ts"

/** Raised when a reader of the old format could misread the new one. */
export const planFormat = 1

/** `sha256:` and 64 hex digits. */
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/** Everything a runtime needs, without positions and without secrets. Tables are keyed by name, so that the order of declarations changes nothing. */
export const planBody = z.strictObject({
  gateway: gateway.nullable(),
  authz: authz.nullable(),
  /** Absent: operators use only the address with which the process was started. */
  control: controlPlan.optional(),
  /** Absent: there is no developer portal. */
  portal: portalPlan.optional(),
  /** Absent: everybody who may apply plans may apply any plan. */
  change: changeRules.optional(),
  values: z.record(name, value),
  secrets: z.record(name, reference),
  /** By place: what each process reads from its environment; absent: nothing. */
  settings: z.record(settingPlace, setting).optional(),
  issuers: z.record(name, issuer),
  backends: z.record(name, backend),
  /** Certificates of listeners, and certificates and token clients by which the gateway authenticates itself; absent: none. */
  certificates: z.record(name, certificate).optional(),
  tokenClients: z.record(name, tokenClient).optional(),
  introspections: z.record(name, introspection).optional(),
  users: z.record(name, users).optional(),
  /** Clients of OpenID providers that log browsers in; absent: none. */
  oidcClients: z.record(name, oidcClient).optional(),
  /** Decision points that steps use instead of the engine; absent: none. */
  pdps: z.record(name, pdp).optional(),
  products: z.record(name, product),
  subscriptions: z.record(name, subscription),
  /** Key: `METHOD /full/path`; for specific hosts `METHOD host,host/full/path`. */
  routes: z.record(z.string(), route),
  steps: z.record(stepId, step),
  /** The policy-document elements from which the steps of a route were made; absent if none were. Keys as in `steps`. */
  outlines: z.record(stepId, outline).optional(),
  /** Key: digest of the model's canonical JSON. */
  models: z.record(digest, modelPlan),
  /** JSON Schemas used by steps. Key: digest of the schema's canonical JSON. */
  schemas: z.record(digest, valueSchema),
})
export type PlanBody = z.infer<typeof planBody>

/**
 * A plan as a file and on the wire. `digest` covers only the canonical bytes of `plan`, so that moving a line changes no digest.
 * `origins` maps places of the plan to `file:line`:
 * - `gateway`, `backends.orders_v1`.
 * - A use of a step: the route and its index path, e.g. `routes.GET /v1/orders/{id}.inbound.3` or `….inbound.3.matched.0`.
 * - An expression: its step and number, `steps.0123456789abcdef.expressions.0`. The value has the column (`file:line:column`), several are joined by `
 *   or `.
 * - A schema (`schemas.NAME`) that is the target of references: the value is the pointer, `api.yaml#/components/schemas/Order`.
 */
export const plan = z.strictObject({
  format: z.literal(planFormat),
  digest,
  plan: planBody,
  origins: z.record(z.string(), z.string()),
})
export type Plan = z.infer<typeof plan>

import * as z from "zod"
import { modelPlan } from "./authorization-model.ts"
import { authz } from "./authz.ts"
import {
  backend,
  clientCertificate,
  gateway,
  introspection,
  issuer,
  outline,
  pdp,
  product,
  route,
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

/** All that a runtime needs, free of positions and of secrets. Everything is keyed by name, so that order of declaration changes nothing. */
export const planBody = z.strictObject({
  gateway: gateway.nullable(),
  authz: authz.nullable(),
  values: z.record(name, value),
  secrets: z.record(name, reference),
  issuers: z.record(name, issuer),
  backends: z.record(name, backend),
  /** Certificates and clients by which the gateway shows who it is; absent: none. */
  certificates: z.record(name, clientCertificate).optional(),
  tokenClients: z.record(name, tokenClient).optional(),
  introspections: z.record(name, introspection).optional(),
  users: z.record(name, users).optional(),
  /** Decision points that steps ask instead of the engine; absent: none. */
  pdps: z.record(name, pdp).optional(),
  products: z.record(name, product),
  subscriptions: z.record(name, subscription),
  /** Key: `METHOD /full/path`, with hosts `METHOD host,host/full/path`. */
  routes: z.record(z.string(), route),
  steps: z.record(stepId, step),
  /** What policy documents the steps of routes were made of; absent: of none. Key: as those of steps. */
  outlines: z.record(stepId, outline).optional(),
  /** Key: digest of the model's canonical JSON. */
  models: z.record(digest, modelPlan),
  /** JSON Schemas that steps judge by. Key: digest of the schema's canonical JSON. */
  schemas: z.record(digest, valueSchema),
})
export type PlanBody = z.infer<typeof planBody>

/**
 * A plan as file and on the wire. `digest` is over the canonical bytes of `plan` alone, so that moving a line changes no digest.
 * `origins` maps places of the plan to `file:line`: `gateway`, `backends.orders_v1`, and for a use of a step the route and its index path, e.g.
 * `routes.GET /v1/orders/{id}.inbound.3` or `….inbound.3.matched.0`; for an expression its step and number, `steps.0123456789abcdef.expressions.0`, with the
 * column (`file:line:column`), several joined by ` or `. Of a schema (`schemas.NAME`) that references lead to it is the pointer, `api.yaml#/components/schemas/Order`.
 */
export const plan = z.strictObject({
  format: z.literal(planFormat),
  digest,
  plan: planBody,
  origins: z.record(z.string(), z.string()),
})
export type Plan = z.infer<typeof plan>

/**
 * A plan sealed by `sallyport plan --out`: applied only while the running plan is still the one it was compared with. `base` null: nothing was running; its stamp tells it from a plan of the same serial in
 * another history of the database. Without serial and stamp it was compared with the plan in a file, whatever process serves that. `seal` is the digest of the base and of the plan's digest (`sealPlan`), so that no part of it can be edited without its being seen.
 */
export const sealedPlan = z.strictObject({
  sealed: z.literal(2),
  base: z
    .strictObject({ serial: z.number().int().min(1).optional(), stamp: z.string().optional(), digest })
    .nullable(),
  plan,
  seal: digest,
})
export type SealedPlan = z.infer<typeof sealedPlan>

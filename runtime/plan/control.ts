import * as z from "zod"
import { controlListener } from "./resources.ts"
import { loadText, name } from "./text.ts"

/** What operators may do, from little to everything; each includes those before it. */
export const controlRoles = ["viewer", "operator", "publisher", "admin"] as const
/** One of `controlRoles`. */
export type OperatorRole = (typeof controlRoles)[number]

/** Whether a role includes another. */
export function includesRole(role: OperatorRole, needed: OperatorRole): boolean {
  return controlRoles.indexOf(role) >= controlRoles.indexOf(needed)
}

const claimName = z.string().min(1).max(256)

/**
 * Whose tokens operators have. A token has the highest role whose `claim` contains one of the `values`; without `claim`, every token of the issuer
 * has the role. `name`: the claim with the name of the person; absent: `sub`. `login`: the public client of `sallyport login`.
 */
const operatorIssuer = z.strictObject({
  roles: z
    .array(
      z.strictObject({
        role: z.enum(controlRoles),
        claim: claimName.optional(),
        values: z.array(z.string().max(1024)).min(1).max(1000).optional(),
      }),
    )
    .min(1)
    .max(100),
  /** Groups that rules of `change` name, by claims as for roles. */
  groups: z
    .array(
      z.strictObject({
        group: z.string().min(1).max(256),
        claim: claimName,
        values: z.array(z.string().max(1024)).min(1).max(1000),
      }),
    )
    .min(1)
    .max(100)
    .optional(),
  name: claimName.optional(),
  login: z
    .strictObject({ client: z.string().min(1).max(256), scope: z.string().max(1024).optional() })
    .optional(),
})
/** The roles of an issuer's tokens. */
export type OperatorIssuerPlan = z.infer<typeof operatorIssuer>

/** The control listeners of a plan, in addition to the address with which the process was started, and who may call them. */
export const controlPlan = z.strictObject({
  listen: z.array(controlListener).max(16),
  /** By the issuer's name. Absent: only the shared token and tokens made by the control API are accepted. */
  issuers: z.record(name, operatorIssuer).optional(),
  /** False: the token with which the process was started is refused. Absent: it is accepted, with the role `admin`. */
  sharedToken: z.literal(false).optional(),
  /** Routes have CORS for `console`, so that its pages can call `gateway`; both are scheme and host as browsers see them. */
  tryIt: z.strictObject({ console: loadText, gateway: loadText }).optional(),
})
/** How operators reach the control API, and who they are. */
export type ControlPlan = z.infer<typeof controlPlan>

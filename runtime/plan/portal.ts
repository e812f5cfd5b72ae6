import * as z from "zod"
import { oidcClient } from "./oidc-client.ts"
import { controlListener } from "./resources.ts"
import { loadText, name } from "./text.ts"

/** Largest published document of one API version, in characters. */
export const portalDocumentMax = 4 * 1024 * 1024
/** Largest sum of all published documents, in characters. */
export const portalDocumentsMax = 16 * 1024 * 1024
/** Largest logo, style sheet or page, in characters. */
export const portalFileMax = 256 * 1024
/** Pages of a portal. */
export const portalPagesMax = 100

/** What may be seen of one version of an API. `document`: OpenAPI 3.1 as JSON text. `path`: prefix of its routes. */
const publishedVersion = z.strictObject({
  api: name,
  version: name.nullable(),
  path: z.string().max(2048),
  document: z.string().max(portalDocumentMax),
})
/** A published version of an API. */
export type PublishedVersionPlan = z.infer<typeof publishedVersion>

/** A page in Markdown. `slug`: its name in URLs. */
const page = z.strictObject({
  slug: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  title: z.string().min(1).max(200),
  markdown: z.string().max(portalFileMax),
})

/**
 * The developer portal: a listener of its own, and everything that it shows.
 * - `external`: scheme and host as browsers see the portal; `gateway`: the same of the gateway, for callers. Absent: not known.
 * - `tryIt`: routes of published APIs have CORS for `external`.
 * - `signIn`: absent: nobody can sign in. `name` and `client` are those of the `oidc` declaration; `owner`: the claim by which subscriptions belong to people.
 */
export const portalPlan = z.strictObject({
  listen: z.array(controlListener).min(1).max(16),
  external: loadText.optional(),
  gateway: loadText.optional(),
  tryIt: z.literal(true).optional(),
  signIn: z.strictObject({ name, client: oidcClient, owner: z.string().min(1).max(256) }).optional(),
  title: z.string().min(1).max(200),
  logo: z.string().max(portalFileMax).optional(),
  style: z.string().max(portalFileMax).optional(),
  texts: z.record(z.string().min(1).max(100), z.string().max(2000)).optional(),
  pages: z.array(page).max(portalPagesMax).optional(),
  apis: z.array(publishedVersion).max(1000),
})
/** The developer portal of a plan. */
export type PortalPlan = z.infer<typeof portalPlan>

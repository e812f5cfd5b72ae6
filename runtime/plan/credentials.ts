import * as z from "zod"
import { loadText, name } from "./text.ts"

/** What we show when we are asked who we are in TLS: PEM files, read again when they change. */
export const clientCertificate = z.strictObject({
  cert: z.strictObject({ file: z.string().min(1) }),
  key: z.strictObject({ file: z.string().min(1) }),
})
/** A certificate of the plan. */
export type ClientCertificatePlan = z.infer<typeof clientCertificate>

/**
 * Gets tokens for ourselves by client credentials (RFC 6749 §4.4), from the token endpoint of a discovery document or of its own. `inBody`: the secret goes
 * in the form and not in an Authorization header (§2.3.1); absent: as the discovery document says.
 */
export const tokenClient = z.strictObject({
  endpoint: z.union([z.strictObject({ discovery: loadText }), z.strictObject({ url: loadText })]),
  client: loadText,
  secret: name,
  scope: loadText.optional(),
  audience: loadText.optional(),
  inBody: z.boolean().optional(),
})
/** A token client of the plan. */
export type TokenClientPlan = z.infer<typeof tokenClient>

/** How the gateway shows a backend who it is, in every request. */
export const backendAuthentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: loadText, password: name }),
  z.strictObject({ scheme: z.literal("token"), client: name }),
])
/** Credentials of a backend. */
export type BackendAuthentication = z.infer<typeof backendAuthentication>

/** Who is asked about opaque tokens (RFC 7662), with our own credentials there. What it said counts for `cacheSeconds` at most, and never beyond `exp`. */
export const introspection = z.strictObject({
  url: loadText,
  client: loadText,
  secret: name,
  cacheSeconds: z.number().int().min(0).max(3_600),
})

/** Users with passwords: names of secrets, whose text is the password or its `scrypt:` hash. */
export const users = z.strictObject({
  users: z
    .array(
      z.strictObject({
        user: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[^:\p{Cc}]*$/u),
        secret: name,
      }),
    )
    .min(1)
    .max(10_000),
})
/** A table of users of the plan. */
export type UsersPlan = z.infer<typeof users>

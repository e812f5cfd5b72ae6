import * as z from "zod"
import { loadText, name } from "./text.ts"

/** A path that the gateway serves itself: literal segments in canonical form. */
const ownPath = z
  .string()
  .max(512)
  .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/)
  .refine(
    (path) => !path.split("/").some((segment) => segment === "." || segment === ".."),
    "has dot segments",
  )

/**
 * A client of an OpenID provider that logs browsers in (authorization code with PKCE). `issuer` has a discovery document. Absent `secret`: a public client.
 * - `sessionKeys`: the first one encrypts sessions, each one decrypts them.
 * - `store`: where sessions are; `redis` is that of `gateway.shared`.
 * - `external`: scheme and host as browsers see the gateway; absent: those of the request.
 * - `backChannelLogout`: the path to which the provider sends logouts; only with `store` `redis`.
 * - `afterLogout`: the path after a logout; absent: the page of the provider.
 */
export const oidcClient = z
  .strictObject({
    issuer: name,
    client: loadText,
    secret: name.optional(),
    scope: z.string().min(1).max(1000),
    parameters: z.record(z.string().min(1).max(128), loadText).optional(),
    sessionKeys: z
      .array(z.strictObject({ secret: name }))
      .min(1)
      .max(5),
    store: z.enum(["cookie", "redis"]),
    lifetimeSeconds: z.number().int().min(60).max(2_592_000),
    external: loadText.optional(),
    paths: z.strictObject({ login: ownPath, callback: ownPath, logout: ownPath }),
    backChannelLogout: ownPath.optional(),
    afterLogout: z.string().min(1).max(512).optional(),
  })
  .refine(({ store, backChannelLogout }) => store === "redis" || backChannelLogout === undefined, {
    message: "sessions in cookies cannot be ended by the provider",
    path: ["backChannelLogout"],
  })
/** An OIDC client of the gateway, for browsers. */
export type OidcClientPlan = z.infer<typeof oidcClient>

import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { named } from "../facts.ts"
import { headerOf } from "../places.ts"
import { authorization, claimRule, constantCount, count } from "../step-values.ts"
import { name, text } from "../text.ts"

/**
 * Requires a session of an OIDC client. A navigation without one is redirected to the provider; any other request gets `status`. Sets the caller's claims to
 * those of the ID token, or with `claimsFrom` to those of the access token, a JWT that the issuer must accept; `exp` is the end of the session. Claims not met: `claimStatus`. `forward`: the token that goes to the backend as `Authorization:
 * Bearer`; absent: none. Cookies of sessions never reach a step or a backend.
 */
export const oidcSession = defineCredential(
  "oidc-session",
  {
    client: name,
    claims: z.array(claimRule).max(50),
    claimsFrom: z.literal("access-token").optional(),
    forward: z.enum(["access-token", "id-token"]).optional(),
    status: count,
    claimStatus: count,
    message: text.optional(),
  },
  ({ client, claims, forward, status, claimStatus }) => ({
    shown: { is: "session" },
    names: named("oidcClients", "client", client),
    reads: [headerOf("request", "cookie"), headerOf("request", "accept"), `service:${client}`, "clock"],
    writes: ["caller", ...(forward === undefined ? [] : [authorization])],
    // A refreshed session, or the cookie of a login.
    leaves: ["answer.header:set-cookie", `service:${client}`],
    ends: ["refuse", "fail", "answer"],
    statuses: [
      302,
      constantCount(status, 401),
      ...(claims.length === 0 ? [] : [constantCount(claimStatus, 403)]),
    ],
    waits: true,
  }),
)

import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { headerOf } from "../places.ts"
import { constantCount, count } from "../step-values.ts"
import { text } from "../text.ts"

const distinguishedName = z.string().min(1).max(4096)

const identity = z.strictObject({
  thumbprint: z
    .string()
    .regex(/^[0-9A-F]{40}$/)
    .optional(),
  serial: z
    .string()
    .regex(/^[0-9A-F]{2,64}$/)
    .optional(),
  commonName: z.string().min(1).max(256).optional(),
  subject: distinguishedName.optional(),
  dns: z.string().min(1).max(253).optional(),
  issuer: distinguishedName.optional(),
})

/**
 * Requires a client certificate that the listener verified, with one of the values of each given list. Names are in the spelling of `canonicalName`,
 * thumbprints SHA-256 in lower-case hexadecimal. Sets the claims `sub`, `iss`, `cn`, `dns`, `uri`, `email`, `ip` and `thumbprint`. `forward`: the
 * backend gets the certificate, or also its chain (RFC 9440).
 */
export const validateCertificate = defineCredential(
  "validate-certificate",
  {
    subjects: z.array(distinguishedName).min(1).max(100).optional(),
    names: z
      .array(
        z.strictObject({ kind: z.enum(["dns", "uri", "email", "ip"]), value: z.string().min(1).max(2048) }),
      )
      .min(1)
      .max(100)
      .optional(),
    issuers: z.array(distinguishedName).min(1).max(100).optional(),
    thumbprints: z
      .array(z.string().regex(/^[0-9a-f]{64}$/))
      .min(1)
      .max(1000)
      .optional(),
    /** Of policy documents: one of these must match with all that it names. Thumbprints are SHA-1, as .NET writes them. */
    identities: z.array(identity).min(1).max(100).optional(),
    /** The listener must check for revocation. */
    revocation: z.literal(true).optional(),
    status: count,
    message: text.optional(),
    forward: z.enum(["certificate", "chain"]).optional(),
  },
  ({ status, forward }) => ({
    shown: { is: "certificate" },
    writes: [
      "caller",
      ...(forward === undefined ? [] : [headerOf("request", "client-cert")]),
      ...(forward === "chain" ? [headerOf("request", "client-cert-chain")] : []),
    ],
    ends: ["refuse"],
    statuses: [constantCount(status, 401), 403],
  }),
)

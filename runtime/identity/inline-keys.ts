import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { JWK } from "jose"
import { fileReason } from "../plan/file-reason.ts"
import { type KeySet, readKeySet, type VerificationKey } from "./key-set.ts"

/** A key written in the plan. `id`: the `kid` of its tokens; null: any. `secret`: base64url of the shared secret's bytes. */
export type IssuerKey =
  | { readonly id: string | null; readonly jwk: Readonly<Record<string, unknown>> }
  | { readonly id: string | null; readonly certificateFile: string }
  | { readonly id: string | null; readonly secret: string }

/** Minimum length of a secret in bytes: that of the hash (RFC 7518 §3.2). */
const secretBytesMin: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 }

/** Imports keys of a plan. A shared secret verifies only HMAC signatures; a public key never does. @throws Error that names the unusable key and the reason. */
export async function readInlineKeys(
  keys: readonly IssuerKey[],
  algorithms: readonly string[],
): Promise<KeySet> {
  const found: VerificationKey[] = []
  for (const key of keys) {
    if ("secret" in key) found.push(secretKey(key, algorithms))
    else {
      const jwk = "jwk" in key ? key.jwk : await certificateKey(key.certificateFile)
      found.push(...(await readKeySet({ keys: [{ ...jwk, kid: key.id ?? undefined }] }, algorithms)))
    }
  }
  return found
}

/** A shared secret, for the algorithms that it is long enough for. */
function secretKey(
  key: { id: string | null; secret: string },
  algorithms: readonly string[],
): VerificationKey {
  const bytes = Buffer.from(key.secret, "base64url")
  const fitting = algorithms.filter(
    (name) => bytes.length >= (secretBytesMin[name] ?? Number.POSITIVE_INFINITY),
  )
  if (fitting.length === 0) {
    const least = Math.min(...algorithms.map((name) => secretBytesMin[name] ?? Number.POSITIVE_INFINITY))
    throw new Error(
      Number.isFinite(least)
        ? `a shared secret of ${bytes.length} bytes is too short: ${algorithms.join(", ")} needs at least ${least} (RFC 7518 section 3.2)`
        : `a shared secret cannot verify ${algorithms.join(", ")}`,
    )
  }
  return { kid: key.id ?? undefined, algorithms: new Set(fitting), key: new Uint8Array(bytes) }
}

/** The public key of a certificate. Its dates and issuer are not checked: the plan trusts this file. */
async function certificateKey(path: string): Promise<JWK> {
  const pem = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Error(`the certificate ${path} cannot be read: ${fileReason(error)}`)
  })
  try {
    return new X509Certificate(pem).publicKey.export({ format: "jwk" }) as JWK
  } catch {
    throw new Error(`${path} is not a certificate (PEM); one starts with \`-----BEGIN CERTIFICATE-----\``)
  }
}

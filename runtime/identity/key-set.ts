import { type CryptoKey, importJWK, type JWK } from "jose"

/** An imported key. `algorithms`: those of the issuer's list for which the key may be used. */
export interface VerificationKey {
  readonly kid: string | undefined
  readonly algorithms: ReadonlySet<string>
  readonly key: CryptoKey | Uint8Array
}

/** The keys of one issuer. */
export type KeySet = readonly VerificationKey[]

/** No issuer has more keys; a larger set is rejected, because it would only make look-ups slow. */
const keysMax = 100
const rsaBitsMin = 2048

/** The key type that a JWS algorithm requires (RFC 7518 §3.1, RFC 8037, RFC 9864). */
const families: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: "RSA" },
  RS384: { kty: "RSA" },
  RS512: { kty: "RSA" },
  PS256: { kty: "RSA" },
  PS384: { kty: "RSA" },
  PS512: { kty: "RSA" },
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  EdDSA: { kty: "OKP", crv: "Ed25519" },
  Ed25519: { kty: "OKP", crv: "Ed25519" },
}

/**
 * Reads a JSON Web Key Set (RFC 7517) and returns the keys that can verify one of `algorithms`. Skips keys for encryption, symmetric, weak (RSA under
 * 2048 bits or with an exponent under 3) and unusable keys, as §5 requires.
 * @throws Error with the reason, if it is not a key set or contains no usable key: callers then keep their current keys.
 */
export async function readKeySet(json: unknown, algorithms: readonly string[]): Promise<KeySet> {
  const keys = typeof json === "object" && json !== null && "keys" in json ? json.keys : undefined
  if (!Array.isArray(keys)) throw new Error("the key set has no `keys`")
  if (keys.length > keysMax) throw new Error(`the key set has more than ${keysMax} keys`)
  const usable: VerificationKey[] = []
  for (const candidate of keys) usable.push(...(await importKey(candidate, algorithms)))
  if (usable.length === 0) throw new Error(`the key set contains no key for ${algorithms.join(", ")}`)
  return usable
}

async function importKey(candidate: unknown, algorithms: readonly string[]): Promise<VerificationKey[]> {
  if (typeof candidate !== "object" || candidate === null) return []
  const jwk = candidate as JWK
  const fitting = algorithms.filter((algorithm) => fits(jwk, algorithm))
  if (fitting.length === 0 || !isStrong(jwk)) return []
  const kid = typeof jwk.kid === "string" ? jwk.kid : undefined
  const imported: VerificationKey[] = []
  // WebCrypto binds a key to one algorithm, so a key for several algorithms is imported once for each.
  for (const algorithm of fitting) {
    try {
      imported.push({
        kid,
        algorithms: new Set([algorithm]),
        key: await importJWK(publicPart(jwk), algorithm),
      })
    } catch {
      // A key that this platform cannot import is skipped like a key of unknown type (RFC 7517 §5).
    }
  }
  return imported
}

function fits(jwk: JWK, algorithm: string): boolean {
  const family = families[algorithm]
  if (family === undefined || jwk.kty !== family.kty) return false
  if (family.crv !== undefined && jwk.crv !== family.crv) return false
  if (jwk.alg !== undefined && jwk.alg !== algorithm) return false
  if (jwk.use !== undefined && jwk.use !== "sig") return false
  return jwk.key_ops === undefined || (Array.isArray(jwk.key_ops) && jwk.key_ops.includes("verify"))
}

function isStrong(jwk: JWK): boolean {
  if (jwk.kty !== "RSA") return true
  if (typeof jwk.n !== "string" || typeof jwk.e !== "string") return false
  const modulus = Buffer.from(jwk.n, "base64url")
  const leadingZeros = modulus.findIndex((byte) => byte !== 0)
  if (leadingZeros === -1 || (modulus.length - leadingZeros) * 8 < rsaBitsMin) return false
  const exponent = Buffer.from(jwk.e, "base64url")
  return exponent.length > 0 && BigInt(`0x${exponent.toString("hex")}`) >= 3n
}

/** Only the members of the public key: private members in a set by mistake must not become part of this process's keys. */
function publicPart(jwk: JWK): JWK {
  const { kty, crv, n, e, x, y } = jwk
  return Object.fromEntries(
    Object.entries({ kty, crv, n, e, x, y }).filter(([, value]) => value !== undefined),
  ) as JWK
}

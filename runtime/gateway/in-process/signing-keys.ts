import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

/** A generated key for one algorithm of JWS. */
export interface TokenKey {
  readonly algorithm: string
  /** Of a public key; undefined for a shared secret. */
  readonly jwk: Readonly<Record<string, unknown>> | undefined
  /** The shared secret in base64url; undefined for a public key. */
  readonly secret: string | undefined
  signature(input: string): Buffer
}

/** Cheap algorithms come first: tests sign many tokens, and a key for RSA takes a tenth of a second. */
const preferred = ["EdDSA", "Ed25519", "ES256", "HS256", "HS384", "HS512", "ES384", "ES512"]

const curves: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" }

const keys = new Map<string, TokenKey>()

/**
 * A key for one of the algorithms, the same during the life of the process.
 * @throws Error when none of them is an algorithm of JWS
 */
export function signingKeyFor(algorithms: readonly string[]): TokenKey {
  const algorithm = preferred.find((name) => algorithms.includes(name)) ?? algorithms[0] ?? "ES256"
  let key = keys.get(algorithm)
  if (key === undefined) {
    key = algorithm.startsWith("HS") ? secretKey(algorithm) : pairFor(algorithm)
    keys.set(algorithm, key)
  }
  return key
}

/** Long enough for every hash (RFC 7518 §3.2), and fixed, so that equal tokens have equal texts. */
function secretKey(algorithm: string): TokenKey {
  const secret = Buffer.alloc(64, "sallyport")
  return {
    algorithm,
    jwk: undefined,
    secret: secret.toString("base64url"),
    signature: (input) => createHmac(hashOf(algorithm), secret).update(input).digest(),
  }
}

function pairFor(algorithm: string): TokenKey {
  const { publicKey, privateKey } = pairOf(algorithm)
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "test", use: "sig" }
  return { algorithm, jwk, secret: undefined, signature: (input) => signed(algorithm, input, privateKey) }
}

function pairOf(algorithm: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (algorithm === "EdDSA" || algorithm === "Ed25519") return generateKeyPairSync("ed25519")
  const namedCurve = curves[algorithm]
  if (namedCurve !== undefined) return generateKeyPairSync("ec", { namedCurve })
  if (/^[RP]S(?:256|384|512)$/.test(algorithm)) return generateKeyPairSync("rsa", { modulusLength: 2048 })
  throw new Error(`no token can be signed by \`${algorithm}\``)
}

/** RFC 7518 §3.3–3.5, RFC 8037 §3.1. */
function signed(algorithm: string, input: string, key: KeyObject): Buffer {
  const data = Buffer.from(input)
  if (algorithm.startsWith("Ed")) return sign(null, data, key)
  if (algorithm.startsWith("ES")) return sign(hashOf(algorithm), data, { key, dsaEncoding: "ieee-p1363" })
  if (algorithm.startsWith("RS")) return sign(hashOf(algorithm), data, key)
  // 6: RSA_PKCS1_PSS_PADDING; -1: the salt is as long as the hash.
  return sign(hashOf(algorithm), data, { key, padding: 6, saltLength: -1 })
}

function hashOf(algorithm: string): string {
  return `sha${algorithm.slice(2)}`
}

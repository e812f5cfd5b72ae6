import { digestBytes, type HashAlgorithm, hmacBytes } from "#platform"
import { ExpressionError } from "./expression-error.ts"
import { chargeLength } from "./meter.ts"
import { SecretKey } from "./secret-key.ts"
import { kindOf } from "./values.ts"

type Applied = (...args: unknown[]) => unknown

/** Algorithms of `hmac`. */
export const hmacAlgorithms: readonly string[] = ["sha1", "sha256", "sha384", "sha512"]

function bytesOf(name: string, value: unknown): Uint8Array | string {
  if (typeof value !== "string" && !(value instanceof Uint8Array))
    throw new ExpressionError("type", `\`${name}\` takes a string or bytes, not ${kindOf(value)}`)
  chargeLength(value.length)
  return value
}

const sha256: Applied = (data) => digestBytes("sha256", bytesOf("sha256", data))

function isAlgorithm(value: unknown): value is HashAlgorithm {
  return typeof value === "string" && hmacAlgorithms.includes(value)
}

/** HMAC (RFC 2104). */
const hmac: Applied = (algorithm, key, data) => {
  if (!isAlgorithm(algorithm))
    throw new ExpressionError(
      "other",
      `unknown algorithm of \`hmac\`; use one of ${hmacAlgorithms.join(", ")}`,
    )
  const secret = bytesOf("hmac", key instanceof SecretKey ? SecretKey.textOf(key) : key)
  // With an empty key anyone could sign. It is probably a value that was not set.
  if (secret.length === 0) throw new ExpressionError("other", "the key of `hmac` is empty")
  return hmacBytes(algorithm, secret, bytesOf("hmac", data))
}

/** Digests of texts (as UTF-8) and bytes. */
export const digestFunctions: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["sha256", sha256],
  ["hmac", hmac],
])

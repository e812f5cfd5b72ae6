import type { Key, ParsedCertificate, RsaSigning } from "./node-keys.ts"

// `#keys` in a browser, which has no synchronous functions for keys. What only the runtime does with them throws; what the compiler says about
// them is either decided here too (`signerKeyKind`), or not said (`readsKeys`).

/** As in node-keys.ts. */
export const readsKeys: boolean = false

function missing(): never {
  throw new Error("keys and certificates cannot be used in a browser")
}

/** As in node-keys.ts; throws. */
export function parseCertificate(_data: string | Uint8Array): ParsedCertificate {
  return missing()
}

/** As in node-keys.ts; throws. */
export function parsePrivateKey(_pem: string): Key {
  return missing()
}

/** As in node-keys.ts; throws. */
export function parsePublicKey(_der: Uint8Array): Key {
  return missing()
}

/** As in node-keys.ts; throws. */
export function publicKeyOf(_key: Key): Key {
  return missing()
}

/** As in node-keys.ts; throws. */
export function publicKeyBytes(_key: Key): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function signBytes(_hash: "sha256" | null, _bytes: Uint8Array, _key: Key): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function isSigned(
  _hash: "sha256" | null,
  _bytes: Uint8Array,
  _key: Key,
  _signature: Uint8Array,
): boolean {
  return missing()
}

/** As in node-keys.ts; throws. */
export function rsaSign(_how: RsaSigning, _bytes: Uint8Array, _key: Key): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function rsaVerify(_how: RsaSigning, _bytes: Uint8Array, _key: Key, _signature: Uint8Array): boolean {
  return missing()
}

/** As in node-keys.ts; throws. */
export function rsaEncrypt(_oaepHash: string | undefined, _bytes: Uint8Array, _key: Key): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function rsaDecrypt(_oaepHash: string | undefined, _bytes: Uint8Array, _key: Key): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function aesCbc(
  _encrypting: boolean,
  _bytes: Uint8Array,
  _key: Uint8Array,
  _iv: Uint8Array,
): Uint8Array {
  return missing()
}

/** As in node-keys.ts; throws. */
export function kindOfSigner(_key: Key): "ed25519" | "p256" | undefined {
  return missing()
}

/** What precedes the 32 bytes of an Ed25519 key in DER (RFC 8410), and the point of a P-256 key (RFC 5480), whole or compressed. */
const ed25519Head = "302a300506032b6570032100"
const wholeHead = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
const compressedHead = "3039301306072a8648ce3d020106082a8648ce3d030107032200"

/** As in node-keys.ts. Like OpenSSL, it ignores what follows the key. */
export function signerKeyKind(der: Uint8Array): "ed25519" | "p256" | undefined {
  const hex = Array.from(der, (byte) => byte.toString(16).padStart(2, "0")).join("")
  if (hex.startsWith(ed25519Head) && hex.length >= ed25519Head.length + 64) return "ed25519"
  const head = [wholeHead, compressedHead].find((each) => hex.startsWith(each))
  return head !== undefined && isPoint(hex.slice(head.length)) ? "p256" : undefined
}

// The curve P-256 (FIPS 186-4, D.1.2.3): y² = x³ - 3x + b modulo p.
const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

function isPoint(point: string): boolean {
  const [, form, digits = ""] = /^(04(?=.{128})|0[23](?=.{64}))(.+)$/.exec(point) ?? []
  if (form === undefined) return false
  const x = BigInt(`0x${digits.slice(0, 64)}`)
  const square = ((((x * x - 3n) * x + b) % p) + p) % p
  if (x >= p) return false
  // Euler's criterion: whether some y has this square.
  if (form !== "04") return square === 0n || power(square, (p - 1n) / 2n) === 1n
  const y = BigInt(`0x${digits.slice(64, 128)}`)
  return y < p && (y * y) % p === square
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let factor = base
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * factor) % p
    factor = (factor * factor) % p
  }
  return result
}

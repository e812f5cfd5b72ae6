import { ed25519 } from "@noble/curves/ed25519.js"
import { p256, p384, p521 } from "@noble/curves/nist.js"
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js"
import { Buffer } from "./buffer.ts"

// The signatures of `node:crypto`, for tokens of played issuers. The keys are made in the page and are good for nothing else.

const curves = { "P-256": p256, "P-384": p384, "P-521": p521 } as const
const hashes = { sha256, sha384, sha512 } as const

type Jwk = Readonly<Record<string, string>>
type HashName = keyof typeof hashes

/** A private key: what it signs, and its public half. */
interface PrivateKey {
  sign(hash: HashName | null, data: Uint8Array, usesPss: boolean): Uint8Array
}

interface KeyPair {
  readonly publicKey: { export(): Jwk }
  readonly privateKey: PrivateKey
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url" as BufferEncoding)
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`)

/** RFC 7518 §6.3, as far as it is used. */
interface RsaKey {
  readonly n?: string
  readonly e?: string
  readonly d?: string
}

/** Generating a key for RSA takes a second in JavaScript, so the browser's own code does it before the first is needed. */
const rsaKey: RsaKey | undefined = await crypto.subtle
  ?.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign"],
  )
  .then(({ privateKey }) => crypto.subtle.exportKey("jwk", privateKey))

/** @throws Error for another kind of key */
export function generateKeyPairSync(kind: string, options?: { readonly namedCurve?: string }): KeyPair {
  if (kind === "ed25519") return edwardsPair()
  const curve = options?.namedCurve as keyof typeof curves | undefined
  if (kind === "ec" && curve !== undefined && curves[curve] !== undefined) return curvePair(curve)
  if (kind === "rsa" && rsaKey !== undefined) return rsaPair(rsaKey)
  throw new Error(`a browser makes no key \`${kind}\` here: tokens need a page from https or localhost`)
}

function edwardsPair(): KeyPair {
  const { secretKey, publicKey } = ed25519.keygen()
  return {
    publicKey: { export: () => ({ kty: "OKP", crv: "Ed25519", x: base64url(publicKey) }) },
    privateKey: { sign: (_, data) => ed25519.sign(data, secretKey) },
  }
}

function curvePair(crv: keyof typeof curves): KeyPair {
  const curve = curves[crv]
  const { secretKey } = curve.keygen()
  const point = curve.getPublicKey(secretKey, false)
  const half = (point.length - 1) / 2
  const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)].map(base64url) as [string, string]
  return {
    publicKey: { export: () => ({ kty: "EC", crv, x, y }) },
    privateKey: {
      sign: (hash, data) =>
        curve.sign(hashes[hash ?? "sha256"](data), secretKey, { prehash: false, lowS: false }),
    },
  }
}

function rsaPair({ n = "", e = "", d = "" }: RsaKey): KeyPair {
  const [modulus, exponent] = [n, d].map((text) => numberOf(Buffer.from(text, "base64"))) as [bigint, bigint]
  const length = Buffer.from(n, "base64").length
  const raised = (padded: Uint8Array) =>
    Buffer.from(
      power(numberOf(padded), exponent, modulus)
        .toString(16)
        .padStart(2 * length, "0"),
      "hex",
    )
  return {
    publicKey: { export: () => ({ kty: "RSA", n, e }) },
    privateKey: {
      sign: (hash, data, usesPss) => {
        const name = hash ?? "sha256"
        const digest = hashes[name](data)
        return raised(usesPss ? pssPadding(digest, hashes[name], length) : pkcs1Padding(digest, name, length))
      },
    },
  }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** The DER of DigestInfo before the digest (RFC 8017 §9.2, note 1). */
const digestInfo = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
} as const

/** RFC 8017 §9.2. */
function pkcs1Padding(digest: Uint8Array, name: HashName, length: number): Uint8Array {
  const info = Buffer.concat([Buffer.from(digestInfo[name], "hex"), digest])
  return Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.alloc(length - info.length - 3, 0xff),
    Buffer.from([0]),
    info,
  ])
}

/** RFC 8017 §9.1.1, with a salt as long as the digest. The modulus has a multiple of eight bits. */
function pssPadding(digest: Uint8Array, hash: (typeof hashes)[HashName], length: number): Uint8Array {
  const salt = crypto.getRandomValues(new Uint8Array(digest.length))
  const h = hash(Buffer.concat([Buffer.alloc(8), digest, salt]))
  const db = Buffer.concat([Buffer.alloc(length - salt.length - h.length - 2), Buffer.from([1]), salt])
  const pieces: Uint8Array[] = []
  for (let counter = 0; counter * h.length < db.length; counter += 1)
    pieces.push(hash(Buffer.concat([h, Buffer.from([0, 0, 0, counter])])))
  const mask = Buffer.concat(pieces)
  const masked = db.map((byte, at) => byte ^ (mask[at] as number))
  masked[0] = (masked[0] as number) & 0x7f
  return Buffer.concat([masked, h, Buffer.from([0xbc])])
}

interface SigningKey {
  readonly key: PrivateKey
  readonly padding?: number
}

/** RSA_PKCS1_PSS_PADDING of OpenSSL. */
const pss = 6

export function sign(hash: HashName | null, data: Uint8Array, key: PrivateKey | SigningKey): Uint8Array {
  const { key: own, padding } = "key" in key ? key : { key, padding: undefined }
  return Buffer.from(own.sign(hash, data, padding === pss))
}

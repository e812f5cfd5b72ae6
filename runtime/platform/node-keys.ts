import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  sign,
  verify,
  X509Certificate,
} from "node:crypto"

// `#keys` in Node.js: what needs OpenSSL. browser-keys.ts exports the same functions.

/** Whether keys and certificates can be read here. */
export const readsKeys: boolean = true

/** A public or private key. */
export type Key = KeyObject

/** A parsed certificate. */
export type ParsedCertificate = X509Certificate

/** Reads a certificate, PEM or DER. @throws Error when it is damaged */
export function parseCertificate(data: string | Uint8Array): ParsedCertificate {
  return new X509Certificate(data)
}

/** Reads a private key in PEM. @throws Error when it is damaged or has a password */
export function parsePrivateKey(pem: string): Key {
  return createPrivateKey(pem)
}

/** Reads a public key in DER (SubjectPublicKeyInfo). @throws Error when it is damaged */
export function parsePublicKey(der: Uint8Array): Key {
  return createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" })
}

/** The public key of a private one. */
export function publicKeyOf(key: Key): Key {
  return key.type === "public" ? key : createPublicKey(key)
}

/** A public key in DER (SubjectPublicKeyInfo). */
export function publicKeyBytes(key: Key): Uint8Array {
  return key.export({ format: "der", type: "spki" })
}

/** A signature by Ed25519 (`hash` null) or ECDSA. */
export function signBytes(hash: "sha256" | null, bytes: Uint8Array, key: Key): Uint8Array {
  return sign(hash, bytes, key)
}

/** Whether a signature by Ed25519 (`hash` null) or ECDSA is right. */
export function isSigned(hash: "sha256" | null, bytes: Uint8Array, key: Key, signature: Uint8Array): boolean {
  return verify(hash, bytes, key, signature)
}

/** How RSA signs: with a hash, and PSS padding or that of PKCS#1. */
export interface RsaSigning {
  readonly hash: string
  readonly pss: boolean
}

/** A signature by RSA. @throws Error of OpenSSL */
export function rsaSign({ hash, pss }: RsaSigning, bytes: Uint8Array, key: Key): Uint8Array {
  return new Uint8Array(sign(hash, bytes, { key, ...signaturePadding(pss) }))
}

/** Whether a signature by RSA is right. @throws Error of OpenSSL */
export function rsaVerify(
  { hash, pss }: RsaSigning,
  bytes: Uint8Array,
  key: Key,
  signature: Uint8Array,
): boolean {
  return verify(hash, bytes, { key: publicKeyOf(key), ...signaturePadding(pss) }, signature)
}

/** Encrypts by RSA. `oaepHash`: OAEP with this hash; undefined: the padding of PKCS#1. @throws Error of OpenSSL */
export function rsaEncrypt(oaepHash: string | undefined, bytes: Uint8Array, key: Key): Uint8Array {
  return new Uint8Array(publicEncrypt({ key, ...encryptionPadding(oaepHash) }, bytes))
}

/** Decrypts by RSA; see `rsaEncrypt`. @throws Error of OpenSSL */
export function rsaDecrypt(oaepHash: string | undefined, bytes: Uint8Array, key: Key): Uint8Array {
  return new Uint8Array(privateDecrypt({ key, ...encryptionPadding(oaepHash) }, bytes))
}

/** AES in CBC mode with PKCS#7 padding. The key has 16, 24 or 32 bytes, the initialization vector 16. @throws Error of OpenSSL */
export function aesCbc(encrypting: boolean, bytes: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  const name = `aes-${key.length * 8}-cbc`
  const made = encrypting ? createCipheriv(name, key, iv) : createDecipheriv(name, key, iv)
  return new Uint8Array(Buffer.concat([made.update(bytes), made.final()]))
}

/** The kind of a public key in DER that seals of plans can be signed with; undefined: it is no such key. */
export function signerKeyKind(der: Uint8Array): "ed25519" | "p256" | undefined {
  try {
    return kindOfSigner(parsePublicKey(der))
  } catch {
    return undefined
  }
}

/** The kind of a key that seals of plans can be signed with; undefined: it is no such key. */
export function kindOfSigner(key: Key): "ed25519" | "p256" | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === "ed25519") return "ed25519"
  return type === "ec" && details?.namedCurve === "prime256v1" ? "p256" : undefined
}

function signaturePadding(pss: boolean): { padding: number; saltLength?: number } {
  return pss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { padding: constants.RSA_PKCS1_PADDING }
}

function encryptionPadding(oaepHash: string | undefined): { padding: number; oaepHash?: string } {
  return oaepHash === undefined
    ? { padding: constants.RSA_PKCS1_PADDING }
    : { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }
}

import { gcm } from "@noble/ciphers/aes.js"
import { hkdf } from "@noble/hashes/hkdf.js"
import { hmac } from "@noble/hashes/hmac.js"
import { md5, sha1 } from "@noble/hashes/legacy.js"
import { scrypt as deriveKey } from "@noble/hashes/scrypt.js"
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js"
import { randomUuid } from "../../../runtime/platform/browser.ts"
import { absent, absentClass } from "./absent.ts"
import { Buffer } from "./buffer.ts"
import * as signatures from "./signatures.ts"

// `node:crypto`: digests, keys and AES of libraries, because those of browsers are asynchronous.

const hashes = { md5, sha1, sha256, sha384, sha512 } as const
type Data = string | Uint8Array

function hashOf(name: string): (typeof hashes)[keyof typeof hashes] {
  const found = hashes[name.toLowerCase().replace("-", "") as keyof typeof hashes]
  if (found === undefined) throw new Error(`the digest \`${name}\` does not exist`)
  return found
}

const bytesOf = (data: Data, encoding?: string): Uint8Array =>
  typeof data === "string" ? Buffer.from(data, encoding as BufferEncoding) : data

interface Summing {
  update(data: Uint8Array): unknown
  digest(): Uint8Array
}

class Sum {
  readonly #state: Summing

  constructor(state: Summing) {
    this.#state = state
  }

  update(data: Data, encoding?: string): this {
    this.#state.update(bytesOf(data, encoding))
    return this
  }

  digest(): Buffer
  digest(encoding: string): string
  digest(encoding?: string): Buffer | string {
    const bytes = Buffer.from(this.#state.digest())
    return encoding === undefined ? (bytes as never) : bytes.toString(encoding as BufferEncoding)
  }
}

/** A secret as a key: its bytes. */
class SecretKey {
  readonly type = "secret"
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

export const createSecretKey = (bytes: Uint8Array): SecretKey => new SecretKey(bytes)

export const createHash = (name: string): Sum => new Sum(hashOf(name).create())

export const createHmac = (name: string, key: Data | SecretKey): Sum =>
  new Sum(hmac.create(hashOf(name), key instanceof SecretKey ? key.bytes : bytesOf(key)))

export const hash = (name: string, data: Data, encoding = "hex"): string =>
  createHash(name).update(data).digest(encoding)

export function hkdfSync(name: string, key: Data, salt: Data, info: Data, length: number): ArrayBuffer {
  return hkdf(hashOf(name), bytesOf(key), bytesOf(salt), bytesOf(info), length).slice().buffer as ArrayBuffer
}

interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

export const scryptSync = (password: Data, salt: Data, length: number, { N, r, p }: ScryptCost): Buffer =>
  Buffer.from(deriveKey(bytesOf(password), bytesOf(salt), { N, r, p, dkLen: length })) as never

export function scrypt(
  password: Data,
  salt: Data,
  length: number,
  cost: ScryptCost,
  done: (error: Error | null, key: Buffer) => void,
): void {
  queueMicrotask(() => done(null, scryptSync(password, salt, length, cost)))
}

/** In constant time, as far as a browser's compiler leaves it. @throws RangeError for different lengths */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) throw new RangeError("Input buffers must have the same byte length")
  let difference = 0
  for (const [at, byte] of one.entries()) difference |= byte ^ (other[at] as number)
  return difference === 0
}

export const randomFillSync = <T extends Uint8Array>(bytes: T): T =>
  crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>) as unknown as T
export const randomBytes = (length: number): Buffer =>
  Buffer.from(randomFillSync(new Uint8Array(length))) as never
export const randomUUID = randomUuid
export const { generateKeyPairSync, sign } = signatures

const tagBytes = 16

/** AES in Galois/counter mode, the only cipher in use. The whole text comes in one piece. */
class Cipher {
  readonly #key: Uint8Array
  readonly #iv: Uint8Array
  #additional = new Uint8Array()
  #tag: Uint8Array = new Uint8Array()
  readonly #isOpening: boolean

  constructor(isOpening: boolean, name: string, key: Uint8Array, iv: Uint8Array) {
    if (name !== "aes-256-gcm") throw new Error(`the cipher \`${name}\` does not exist in a browser`)
    this.#isOpening = isOpening
    this.#key = key
    this.#iv = iv
  }

  setAAD(bytes: Uint8Array): this {
    this.#additional = new Uint8Array(bytes)
    return this
  }

  setAuthTag(tag: Uint8Array): this {
    this.#tag = tag
    return this
  }

  getAuthTag(): Buffer {
    return Buffer.from(this.#tag) as never
  }

  /** @throws Error when the text was not sealed with this key, IV and additional data */
  update(data: Data, encoding?: string, output?: string): Buffer | string {
    const cipher = gcm(this.#key, this.#iv, this.#additional)
    const given = bytesOf(data, encoding)
    if (this.#isOpening) {
      const opened = Buffer.from(cipher.decrypt(Buffer.concat([given, this.#tag])))
      return output === undefined ? (opened as never) : opened.toString(output as BufferEncoding)
    }
    const sealed = cipher.encrypt(given)
    this.#tag = sealed.slice(-tagBytes)
    return Buffer.from(sealed.slice(0, -tagBytes)) as never
  }

  final(output?: string): Buffer | string {
    return output === undefined ? (Buffer.alloc(0) as never) : ""
  }
}

export const createCipheriv = (name: string, key: Uint8Array, iv: Uint8Array): Cipher =>
  new Cipher(false, name, key, iv)
export const createDecipheriv = (name: string, key: Uint8Array, iv: Uint8Array): Cipher =>
  new Cipher(true, name, key, iv)

export const X509Certificate = absentClass("crypto.X509Certificate")
export const verify = absent("crypto.verify")
export const constants = {}

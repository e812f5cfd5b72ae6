import { createHash, createHmac, hash, randomUUID, timingSafeEqual } from "node:crypto"

// `#platform` in Node.js. browser.ts exports the same functions; test/platform compares the two.

/** Hash functions that both platforms have. */
export type HashAlgorithm = "md5" | "sha1" | "sha256" | "sha384" | "sha512"

/** The SHA-256 of a text as UTF-8, in 64 hex digits. */
export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex")
}

/** The digest of bytes, or of a text as UTF-8. */
export function digestBytes(algorithm: HashAlgorithm, data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash(algorithm).update(data).digest())
}

/** HMAC (RFC 2104). Texts count as UTF-8. */
export function hmacBytes(
  algorithm: HashAlgorithm,
  key: Uint8Array | string,
  data: Uint8Array | string,
): Uint8Array {
  return new Uint8Array(createHmac(algorithm, key).update(data).digest())
}

/** A random UUID (version 4). */
export function randomUuid(): string {
  return randomUUID()
}

/** The number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/** A text as UTF-8. An unpaired surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "utf8"))
}

/** UTF-8 as text. Invalid bytes become U+FFFD; a byte order mark is kept. */
export function utf8Text(bytes: Uint8Array): string {
  return viewOf(bytes).toString("utf8")
}

/** A text as UTF-16, little-endian. */
export function utf16Bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "utf16le"))
}

/** UTF-16, little-endian, as text. An odd byte at the end is ignored. */
export function utf16Text(bytes: Uint8Array): string {
  return viewOf(bytes).toString("utf16le")
}

/** ISO 8859-1 as text: each byte is a character. */
export function latin1Text(bytes: Uint8Array): string {
  return viewOf(bytes).toString("latin1")
}

/** Bytes as hex digits in lower case. */
export function toHex(bytes: Uint8Array): string {
  return viewOf(bytes).toString("hex")
}

/** The bytes of hex digits, an even number of them. */
export function fromHex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits, "hex"))
}

/** Bytes as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return viewOf(bytes).toString("base64")
}

/** The bytes of base64 or base64url, with or without padding. Other characters before the padding are ignored. */
export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"))
}

/** Byte strings one after the other. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** Negative, 0 or positive: the order of two byte strings. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right)
}

/** Whether two byte strings are equal, in a time that depends on their length only. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Runs a task after the events that are waiting. */
export function afterEvents(task: () => void): void {
  setImmediate(task)
}

/** A timer that does not keep the process alive. */
export function setBackgroundTimer(task: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(task, ms)
  timer.unref()
  return timer
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

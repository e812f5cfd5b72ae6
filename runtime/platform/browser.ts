import { hmac } from "@noble/hashes/hmac.js"
import { md5, sha1 } from "@noble/hashes/legacy.js"
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import type { HashAlgorithm } from "./node.ts"

// `#platform` in a browser: the functions of node.ts without Node.js. Web Crypto has no synchronous digest, so the digests are a library's.

const hashes = { md5, sha1, sha256, sha384, sha512 } as const
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
/** `String.fromCharCode` gets at most this many characters, because arguments are on the stack. */
const characters = 8192

/** As in node.ts. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(encoder.encode(text)))
}

/** As in node.ts. */
export function digestBytes(algorithm: HashAlgorithm, data: Uint8Array | string): Uint8Array {
  return hashes[algorithm](bytesOf(data))
}

/** As in node.ts. */
export function hmacBytes(
  algorithm: HashAlgorithm,
  key: Uint8Array | string,
  data: Uint8Array | string,
): Uint8Array {
  return hmac(hashes[algorithm], bytesOf(key), bytesOf(data))
}

/** As in node.ts. `crypto.randomUUID` works in secure contexts only, so not in a page from `http://HOST`. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** As in node.ts. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

/** As in node.ts. */
export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

/** As in node.ts. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** As in node.ts. */
export function utf16Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    bytes[at * 2] = unit & 0xff
    bytes[at * 2 + 1] = unit >> 8
  }
  return bytes
}

/** As in node.ts. `TextDecoder` would replace unpaired surrogates. */
export function utf16Text(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length >> 1)
  for (let at = 0; at < units.length; at++)
    units[at] = (bytes[at * 2] as number) | ((bytes[at * 2 + 1] as number) << 8)
  return textOfUnits(units)
}

/** As in node.ts. */
export function latin1Text(bytes: Uint8Array): string {
  return textOfUnits(bytes)
}

/** As in node.ts. */
export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}

/** As in node.ts. */
export function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** As in node.ts. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(textOfUnits(bytes))
}

/** As in node.ts. */
export function fromBase64(text: string): Uint8Array {
  const digits = (text.split("=", 1)[0] as string)
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/[^A-Za-z0-9+/]/g, "")
  // A last digit alone has too few bits for a byte.
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0))
}

/** As in node.ts. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** As in node.ts. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++)
    if (left[at] !== right[at]) return (left[at] as number) < (right[at] as number) ? -1 : 1
  return Math.sign(left.length - right.length)
}

/** As in node.ts. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let at = 0; at < left.length; at++) difference |= (left[at] as number) ^ (right[at] as number)
  return difference === 0
}

/** As in node.ts. Browsers delay nested timers by 4 ms, but not messages. */
export function afterEvents(task: () => void): void {
  channel ??= openChannel()
  waiting.push(task)
  channel.port2.postMessage(null)
}

const waiting: (() => void)[] = []
let channel: ReturnType<typeof openChannel> | undefined

function openChannel() {
  const opened = new MessageChannel()
  opened.port1.addEventListener("message", () => waiting.shift()?.())
  opened.port1.start()
  return opened
}

/** As in node.ts. A page ends when it is closed, whatever timers it has. */
export function setBackgroundTimer(task: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(task, ms)
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? encoder.encode(data) : data
}

function textOfUnits(units: Uint8Array | Uint16Array): string {
  let text = ""
  for (let at = 0; at < units.length; at += characters)
    text += String.fromCharCode(...units.subarray(at, at + characters))
  return text
}

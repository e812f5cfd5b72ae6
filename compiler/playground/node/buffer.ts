import { Buffer as Bytes } from "buffer/"

// `node:buffer`: a library's, which does not know base64url in texts that it makes.

const textOf = Bytes.prototype.toString

Bytes.prototype.toString = function (this: Bytes, encoding?: string, start?: number, end?: number): string {
  if (encoding !== "base64url") return textOf.call(this, encoding as BufferEncoding, start, end)
  const text = textOf.call(this, "base64", start, end)
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
} as typeof textOf

const from = Bytes.from as (value: unknown, ...more: unknown[]) => Bytes
const isEncoding = Bytes.isEncoding

Object.assign(Bytes, {
  // Its base64 reads both alphabets.
  from: (value: unknown, encoding?: unknown, ...more: unknown[]) =>
    from(value, encoding === "base64url" ? "base64" : encoding, ...more),
  isEncoding: (encoding: string) => encoding === "base64url" || isEncoding(encoding),
})

export const Buffer = Bytes
export type Buffer = Bytes

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80)
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

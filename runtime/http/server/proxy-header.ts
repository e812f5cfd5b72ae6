import { isIP } from "node:net"

/**
 * The header of a connection by the PROXY protocol. `address`: that of the client; undefined when the proxy does not say one, for example in its own
 * health checks. `size`: bytes before those of the client.
 */
export interface ProxyHeader {
  readonly address: string | undefined
  readonly size: number
}

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1")
const prefix = Buffer.from("PROXY ", "latin1")
/** With its end, a header of version 1 has at most this many bytes (§2.1). */
const textBytesMax = 107

/**
 * Reads the header (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, versions 1 and 2) from the first bytes of a connection. `more`: it is
 * not complete. Undefined: there is none, or it is invalid.
 */
export function proxyHeader(bytes: Buffer): ProxyHeader | "more" | undefined {
  if (startsLike(bytes, signature)) return bytes.length < 16 ? "more" : binaryHeader(bytes)
  return startsLike(bytes, prefix) ? textHeader(bytes) : undefined
}

function startsLike(bytes: Buffer, start: Buffer): boolean {
  const size = Math.min(bytes.length, start.length)
  return bytes.subarray(0, size).equals(start.subarray(0, size))
}

/** `PROXY TCP4 SOURCE DESTINATION PORT PORT`, or `PROXY UNKNOWN …`. */
function textHeader(bytes: Buffer): ProxyHeader | "more" | undefined {
  const text = bytes.toString("latin1", 0, textBytesMax)
  const end = text.indexOf("\r\n")
  if (end < 0) return text.length < textBytesMax ? "more" : undefined
  const size = end + 2
  const line = text.slice(0, end)
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { address: undefined, size }
  const parts = /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line)
  if (parts === null) return undefined
  const [, family, source = "", destination = ""] = parts
  const isValid = [source, destination].every((each) => isIP(each) === Number(family))
  return isValid ? { address: source, size } : undefined
}

/** Version and command, family and transport, length, addresses; more fields may follow (§2.2). */
function binaryHeader(bytes: Buffer): ProxyHeader | "more" | undefined {
  const [command, family] = [bytes.readUInt8(12), bytes.readUInt8(13)]
  const length = bytes.readUInt16BE(14)
  const size = 16 + length
  if (command !== 0x20 && command !== 0x21) return undefined
  if (bytes.length < size) return "more"
  // LOCAL: the proxy itself connects. Of other families only the transport is known here.
  if (command === 0x20 || family === 0x00) return { address: undefined, size }
  if (family === 0x11 && length >= 12) return { address: [...bytes.subarray(16, 20)].join("."), size }
  if (family === 0x21 && length >= 36) return { address: ipv6Text(bytes.subarray(16, 32)), size }
  return undefined
}

function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16))
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1)
}

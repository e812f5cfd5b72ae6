import { isIPv4, isIPv6 } from "node:net"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Word } from "../ast.ts"
import type { Slot } from "../schema/row.ts"

/** `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`. An IPv6 host is returned without brackets, in its shortest spelling. */
export function readAddress(
  word: Word,
  _slot: Slot,
  report: Report,
): { host: string; port: number } | undefined {
  const help = "Write address and port, e.g. `127.0.0.1:8000`, `[::1]:8000`, `0.0.0.0:8000`."
  const fail = (why: string): undefined => {
    report.add("SP2024", word.span, `\`${shown(word.text)}\` ${why}`, { help })
  }
  const found = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,6})$/.exec(word.text)
  if (found === null) {
    // A port alone is the commonest mistake, and has a message of its own.
    if (/^\d+$/.test(word.text)) return fail("has no address")
    return fail(
      // `::1` alone ends in digits behind a colon, like a port.
      isIPv6(word.text) ? "is an IPv6 address without brackets and port" : "is not an address with a port",
    )
  }
  const port = Number(found[3])
  if (port < 1 || port > 65_535) return fail("has no valid port: ports go from 1 to 65535")
  const [, inBrackets, plain] = found
  if (inBrackets !== undefined) {
    return isIPv6(inBrackets)
      ? { host: shortestIPv6(inBrackets), port }
      : fail("has no IPv6 address in its brackets")
  }
  const host = plain as string
  if (isIPv4(host)) return { host, port }
  // Digits and dots that are no IPv4 address would otherwise pass as a host name (RFC 1123, section 2.1).
  if (/^[\d.]+$/.test(host)) return fail("has no valid IPv4 address")
  return isHostName(host) ? { host: host.toLowerCase(), port } : fail("has no valid host")
}

/** A network in CIDR notation, in its shortest spelling. A single address gets its full prefix length. */
export function readNetwork(word: Word, _slot: Slot, report: Report): string | undefined {
  const help = "Write a network such as `10.0.0.0/8` or `fd00::/8`, or one address."
  const fail = (why: string, better = help): undefined => {
    report.add("SP2025", word.span, `\`${shown(word.text)}\` ${why}`, { help: better })
  }
  const [address, prefixText, ...more] = word.text.split("/")
  const bytes = bytesOf(address as string)
  if (bytes === undefined || more.length > 0) return fail("is not a network")
  const bits = bytes.length * 8
  // Three digits cover `/128`.
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return fail("has an invalid prefix length")
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  if (prefix > bits) return fail(`has a prefix longer than the ${bits} bits of an address`)
  const masked = bytes.map(
    (byte, index) => byte & (0xff << (8 - Math.min(8, Math.max(0, prefix - index * 8)))),
  )
  const canonical = `${printAddress(masked)}/${prefix}`
  if (masked.some((byte, index) => byte !== bytes[index])) {
    return fail("has bits set after its prefix", `Did you mean \`${canonical}\`?`)
  }
  return canonical
}

/** A network, or a range of addresses. */
export function readNetworkOrRange(
  word: Word,
  slot: Slot,
  report: Report,
): string | { from: string; to: string } | undefined {
  const [from, to, ...more] = word.text.split("-")
  if (to === undefined) return readNetwork(word, slot, report)
  const [low, high] = [bytesOf(from ?? ""), bytesOf(to)]
  const fits =
    low !== undefined &&
    high !== undefined &&
    more.length === 0 &&
    low.length === high.length &&
    Buffer.from(low).compare(Buffer.from(high)) <= 0
  if (fits) return { from: printAddress(low), to: printAddress(high) }
  report.add("SP2025", word.span, `\`${shown(word.text)}\` is not a range of addresses`, {
    help: "Write the lower address, `-` and the higher one, e.g. `192.0.2.10-192.0.2.20`.",
  })
  return undefined
}

/** Whether a name is a valid DNS host name (RFC 1123 §2.1). */
export function isHostName(host: string): boolean {
  return (
    host.length <= 253 && /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?$/.test(host)
  )
}

/** Bytes of an IPv4 or IPv6 address; undefined for anything else. */
export function bytesOf(address: string): number[] | undefined {
  if (isIPv4(address)) return address.split(".").map(Number)
  if (!isIPv6(address) || address.includes("%")) return undefined
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address)
  const [a, b, c, d] = dotted === null ? [0, 0, 0, 0] : (dotted[2] as string).split(".").map(Number)
  const tail = dotted === null ? "" : `${hex(a, b)}:${hex(c, d)}`
  const text = dotted === null ? address : `${dotted[1]}${tail}`
  const [left = "", right] = text.split("::")
  const before = left === "" ? [] : left.split(":")
  const after = right === undefined || right === "" ? [] : right.split(":")
  const zeros = Array.from({ length: right === undefined ? 0 : 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 0xff]
  })
}

function hex(high = 0, low = 0): string {
  return ((high << 8) | low).toString(16)
}

function shortestIPv6(address: string): string {
  return printAddress(bytesOf(address) ?? [])
}

/** IPv6 in the spelling of RFC 5952. */
function printAddress(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".")
  const groups = Array.from({ length: 8 }, (_, index) => hex(bytes[index * 2], bytes[index * 2 + 1]))
  let best = { start: 0, length: 1 }
  for (let start = 0; start < 8; start++) {
    let length = 0
    while (groups[start + length] === "0") length++
    if (length > best.length) best = { start, length }
  }
  if (best.length < 2) return groups.join(":")
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`
}

import { isIPv4, isIPv6 } from "./ip-text.ts"

/**
 * Reads a network in CIDR notation and returns its shortest spelling. A single address gets its full prefix length. For anything else, `problem`
 * completes "`TEXT` …"; `meant` is the network without the bits after its prefix.
 */
export function readNetworkText(
  text: string,
): string | { readonly problem: string; readonly meant?: string } {
  const [address, prefixText, ...more] = text.split("/")
  const bytes = bytesOf(address as string)
  if (bytes === undefined || more.length > 0) return { problem: "is not a network" }
  const bits = bytes.length * 8
  // Three digits cover `/128`.
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText))
    return { problem: "has an invalid prefix length" }
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  if (prefix > bits) return { problem: `has a prefix longer than the ${bits} bits of an address` }
  const masked = bytes.map(
    (byte, index) => byte & (0xff << (8 - Math.min(8, Math.max(0, prefix - index * 8)))),
  )
  const canonical = `${printAddress(masked)}/${prefix}`
  if (masked.some((byte, index) => byte !== bytes[index]))
    return { problem: "has bits set after its prefix", meant: canonical }
  return canonical
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

/** IPv6 in the spelling of RFC 5952. */
export function printAddress(bytes: readonly number[]): string {
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

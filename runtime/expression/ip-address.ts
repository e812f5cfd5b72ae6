import { isIP } from "../plan/ip-text.ts"
import { IpAddress } from "./values.ts"

function parseIPv4(text: string): bigint {
  let bits = 0n
  for (const part of text.split(".")) bits = (bits << 8n) | BigInt(part)
  return bits
}

/** 128 bits of an IPv6 address. The last two groups may be written as IPv4. */
function parseIPv6(text: string): bigint {
  const dot = text.lastIndexOf(".") === -1 ? -1 : text.lastIndexOf(":")
  let groups = text
  if (dot !== -1) {
    const low = parseIPv4(text.slice(dot + 1))
    groups = `${text.slice(0, dot + 1)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`
  }
  const [head = "", tail] = groups.split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = new Array<string>(8 - before.length - after.length).fill("0")
  let bits = 0n
  for (const group of [...before, ...zeros, ...after]) bits = (bits << 16n) | BigInt(`0x${group}`)
  return bits
}

/** Parses an IPv4 or IPv6 address without zone; undefined if the text is invalid (leading zeros and short forms are invalid). */
export function parseIpAddress(text: string): IpAddress | undefined {
  const version = text.includes("%") ? 0 : isIP(text)
  if (version === 0) return undefined
  return version === 4 ? new IpAddress(4, parseIPv4(text)) : new IpAddress(6, parseIPv6(text))
}

interface Cidr {
  readonly version: 4 | 6
  readonly bits: bigint
  readonly shift: bigint
}

/** Parses `address/length` (RFC 4632, RFC 4291); undefined if the text is invalid. A range of IPv4-mapped addresses becomes an IPv4 range. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const address = match?.[1] === undefined ? undefined : parseIpAddress(match[1])
  if (match === null || address === undefined) return undefined
  const isMapped = address.version === 4 && match[1]?.includes(":")
  const length = Number(match[2]) - (isMapped ? 96 : 0)
  const width = address.version === 4 ? 32 : 128
  if (length < 0 || length > width) return undefined
  const shift = BigInt(width - length)
  return { version: address.version, bits: address.bits >> shift, shift }
}

/** Whether the range contains the address. */
export function isInCidr(address: IpAddress, cidr: Cidr): boolean {
  return address.version === cidr.version && address.bits >> cidr.shift === cidr.bits
}

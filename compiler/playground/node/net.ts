import * as texts from "../../../runtime/plan/ip-text.ts"
import { bytesOf } from "../../../runtime/plan/network.ts"
import { absent } from "./absent.ts"

// `node:net`: addresses only.

export const { isIP, isIPv6 } = texts

type Family = "ipv4" | "ipv6"

interface Range {
  readonly from: bigint
  readonly to: bigint
}

const mapped = 0xffffn << 32n

/** Networks and ranges of addresses, as numbers of IPv6: an IPv4 address is the IPv4-mapped one, as in Node.js. */
export class BlockList {
  readonly #ranges: Range[] = []

  addRange(from: string, to: string): void {
    this.#ranges.push({ from: numberOf(from), to: numberOf(to) })
  }

  addSubnet(address: string, prefix: number, family: Family = "ipv4"): void {
    const host = BigInt((family === "ipv4" ? 32 : 128) - prefix)
    const from = (numberOf(address) >> host) << host
    this.#ranges.push({ from, to: from + (1n << host) - 1n })
  }

  check(address: string): boolean {
    const value = numberOf(address)
    return this.#ranges.some(({ from, to }) => from <= value && value <= to)
  }
}

/** @throws Error for a text that is not an address */
function numberOf(address: string): bigint {
  const bytes = bytesOf(address)
  if (bytes === undefined) throw new Error(`\`${address}\` is not an IP address`)
  const number = bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  return bytes.length === 4 ? mapped | number : number
}

export const connect = absent("net.connect")

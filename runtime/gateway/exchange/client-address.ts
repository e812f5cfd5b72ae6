import { BlockList, isIP } from "node:net"
import { ipv6PrefixDefault } from "../../plan/resources.ts"
import { callerNetwork } from "./caller-network.ts"

/** What is believed about where a request comes from. */
export interface ClientAddress {
  readonly ip: string
  /** Whether the peer is a trusted proxy. */
  readonly trusted: boolean
}

/** A chain of proxies longer than this is no chain: what stands further left is not looked at. */
const hopsMax = 64

/** The client's address: of the peer, or, as long as that is a trusted proxy, of the hop it names; the rightmost one that is not trusted. */
export class ClientAddresses {
  readonly #list = new BlockList()
  readonly #none: boolean
  readonly #peers = new Map<string, ClientAddress>()
  readonly #ipv6Prefix: number

  /** @throws Error for what is neither an address nor a CIDR. */
  constructor(trust: readonly string[], ipv6Prefix = ipv6PrefixDefault) {
    this.#ipv6Prefix = ipv6Prefix
    this.#none = trust.length === 0
    for (const range of trust) this.#add(range)
  }

  /** `peer`: the socket's address. `forwarded`: the X-Forwarded-For lines joined with commas. */
  of(peer: string, forwarded: string | undefined): ClientAddress {
    const known = this.#peer(peer)
    if (!known.trusted || forwarded === undefined) return known
    const hops = forwarded.split(",")
    let client = known.ip
    for (let at = hops.length - 1; at >= 0 && at >= hops.length - hopsMax; at -= 1) {
      const hop = normalAddress(hops[at] as string)
      // What is no address was not written by a proxy that follows the rules: nothing left of it can be believed.
      if (hop === undefined) break
      client = hop
      if (!this.#trusts(hop)) break
    }
    return { ip: client, trusted: true }
  }

  /** What limits count as one caller: the address of `of`, or its network. */
  countedAs(ip: string): string {
    return callerNetwork(ip, this.#ipv6Prefix)
  }

  /** Peers are few and come again; a bounded memory of them spares the look-up. */
  #peer(peer: string): ClientAddress {
    let known = this.#peers.get(peer)
    if (known === undefined) {
      const ip = normalAddress(peer) ?? peer
      known = { ip, trusted: this.#trusts(ip) }
      if (this.#peers.size >= 4096) this.#peers.clear()
      this.#peers.set(peer, known)
    }
    return known
  }

  #trusts(ip: string): boolean {
    if (this.#none) return false
    const family = isIP(ip)
    return family !== 0 && this.#list.check(ip, family === 6 ? "ipv6" : "ipv4")
  }

  #add(range: string): void {
    const [text = "", prefix] = range.split("/")
    const ip = normalAddress(text)
    const family = ip === undefined ? 0 : isIP(ip)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    if (ip === undefined || !Number.isInteger(bits) || bits < 0 || bits > (family === 6 ? 128 : 32))
      throw new Error(`trust: \`${range}\` is no address and no CIDR`)
    this.#list.addSubnet(ip, bits, family === 6 ? "ipv6" : "ipv4")
  }
}

/**
 * One spelling per host: IPv4 in IPv6 becomes IPv4, IPv6 is compressed and lower case, a port (as some proxies add) and brackets are cut.
 * Undefined for what is no address.
 */
export function normalAddress(text: string): string | undefined {
  let ip = text.trim()
  if (ip.length > 64) return undefined
  if (ip.startsWith("[")) ip = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(ip)?.[1] ?? ""
  else if (/^[^:]+:\d{1,5}$/.test(ip)) ip = ip.slice(0, ip.indexOf(":"))
  const family = isIP(ip)
  if (family === 4) return ip
  if (family !== 6 || ip.includes("%")) return undefined
  const spelled = new URL(`http://[${ip}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(spelled)
  if (mapped === null) return spelled
  const high = Number.parseInt(mapped[1] as string, 16)
  const low = Number.parseInt(mapped[2] as string, 16)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

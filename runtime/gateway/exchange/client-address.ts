import { BlockList, isIP } from "node:net"
import { ipv6PrefixDefault } from "../../plan/resources.ts"

/** The believed origin of a request. */
export interface ClientAddress {
  readonly ip: string
  /** Whether the peer is a trusted proxy. */
  readonly trusted: boolean
}

/** In a longer chain of proxies, entries further left are not checked. */
const hopsMax = 64

/** 64:ff9b::/96 (RFC 6052): IPv4 addresses translated to IPv6; the last 32 bits are the IPv4 address. */
const translated = [0x64, 0xff9b, 0, 0, 0, 0]

/**
 * Finds the client's address: the peer's, or, while that is a trusted proxy, the address it reports. The result is the rightmost address that is not
 * trusted.
 */
export class ClientAddresses {
  readonly #list = new BlockList()
  readonly #none: boolean
  readonly #peers = new Map<string, ClientAddress>()
  readonly #ipv6Prefix: number

  /** @throws Error for a text that is neither an address nor a CIDR */
  constructor(trust: readonly string[], ipv6Prefix = ipv6PrefixDefault) {
    this.#ipv6Prefix = ipv6Prefix
    this.#none = trust.length === 0
    for (const range of trust) this.#add(range)
  }

  /** `peer`: the socket's address. `forwarded`: the X-Forwarded-For lines, joined with commas. */
  of(peer: string, forwarded: string | undefined): ClientAddress {
    const known = this.#peer(peer)
    if (!known.trusted || forwarded === undefined) return known
    const hops = forwarded.split(",")
    let client = known.ip
    for (let at = hops.length - 1; at >= 0 && at >= hops.length - hopsMax; at -= 1) {
      const hop = normalAddress(hops[at] as string)
      // A valid proxy writes addresses; entries left of an invalid one cannot be believed.
      if (hop === undefined) break
      client = hop
      if (!this.#trusts(hop)) break
    }
    return { ip: client, trusted: true }
  }

  /** The address that limits count as one caller: the address of `of`, or its network. */
  countedAs(ip: string): string {
    return callerNetwork(ip, this.#ipv6Prefix)
  }

  /** Peers are few and recur; a bounded cache avoids the lookup. */
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

  /** Adds a network of trusted proxies. */
  #add(range: string): void {
    const [text = "", prefix] = range.split("/")
    const ip = normalAddress(text)
    const family = ip === undefined ? 0 : isIP(ip)
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix)
    if (ip === undefined || !Number.isInteger(bits) || bits < 0 || bits > (family === 6 ? 128 : 32))
      throw new Error(`trust: \`${range}\` is not an IP address or CIDR range`)
    this.#list.addSubnet(ip, bits, family === 6 ? "ipv6" : "ipv4")
  }
}

/**
 * The canonical form of an address: IPv4-mapped IPv6 becomes IPv4, IPv6 is compressed and lower case, ports (which some proxies add) and brackets are
 * removed. Undefined for an invalid address.
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

/**
 * The address that limits count as one caller: an IPv4 address, or the network of an IPv6 address. `ip` is in the form of `normalAddress`, or the
 * peer's with its zone.
 */
function callerNetwork(ip: string, prefix: number): string {
  if (!ip.includes(":")) return ip
  const address = ip.split("%", 1)[0] as string
  if (isIP(address) !== 6) return ip
  const groups = groupsOf(address)
  if (translated.every((group, at) => groups[at] === group))
    return [6, 7].map((at) => `${(groups[at] as number) >> 8}.${(groups[at] as number) & 255}`).join(".")
  if (prefix >= 128) return ip
  const kept = groups.map((group, at) => {
    const bits = Math.min(16, Math.max(0, prefix - at * 16))
    return (group & (0xffff << (16 - bits)) & 0xffff).toString(16)
  })
  return `${kept.slice(0, Math.ceil(prefix / 16)).join(":")}::/${prefix}`
}

function groupsOf(address: string): number[] {
  const [head = "", tail = ""] = address.split("::")
  const numbers = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))
  const [before, after] = [numbers(head), numbers(tail)]
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

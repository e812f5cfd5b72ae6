import { isIP } from "node:net"

/** 64:ff9b::/96 (RFC 6052): a translator's name for the IPv4 address in the last 32 bits. */
const translated = [0x64, 0xff9b, 0, 0, 0, 0]

/** What limits count as one caller: an IPv4 address, or the network of an IPv6 address. `ip` is in the spelling of `normalAddress`, or the peer's with its zone. */
export function callerNetwork(ip: string, prefix: number): string {
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

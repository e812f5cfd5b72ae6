/**
 * Whether every address of `inner` is in `outer`. Accepts networks like `10.0.0.0/8` or `2001:db8::/32`, and single addresses. False for
 * other texts.
 */
export function holds(outer: string, inner: string): boolean {
  const [wide, narrow] = [readNetwork(outer), readNetwork(inner)]
  if (wide === undefined || narrow === undefined || wide.bits.length !== narrow.bits.length) return false
  return wide.length <= narrow.length && narrow.bits.startsWith(wide.bits.slice(0, wide.length))
}

/**
 * The parts of each network in a list that no network of the other list contains: the whole network, or the remaining subnets. Ranges and
 * other texts are compared as text.
 */
export function outside(networks: readonly string[], others: readonly string[]): string[] {
  const known = others.flatMap((other) => readNetwork(other) ?? [])
  return networks.flatMap((text) => {
    const network = readNetwork(text)
    if (network === undefined || others.includes(text)) return others.includes(text) ? [] : [text]
    const left = partsOutside(network, known)
    return left.length === 1 && left[0] === network ? [text] : left.map(networkText)
  })
}

/** Halves the network until each part is inside or outside of the others. */
function partsOutside(network: Network, others: readonly Network[]): Network[] {
  const { bits, length } = network
  const isIn = (inner: Network, outer: Network) =>
    inner.bits.length === outer.bits.length &&
    outer.length <= inner.length &&
    inner.bits.startsWith(outer.bits.slice(0, outer.length))
  if (others.some((other) => isIn(network, other))) return []
  const within = others.filter((other) => isIn(other, network))
  if (within.length === 0) return [network]
  return ["0", "1"].flatMap((bit) => {
    const half = `${bits.slice(0, length)}${bit}`.padEnd(bits.length, "0")
    return partsOutside({ bits: half, length: length + 1 }, within)
  })
}

function networkText({ bits, length }: Network): string {
  if (bits.length === 32)
    return `${[0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join(".")}/${length}`
  const groups = Array.from({ length: 8 }, (_, at) =>
    Number.parseInt(bits.slice(at * 16, at * 16 + 16), 2).toString(16),
  )
  return `${groups.join(":")}/${length}`
}

interface Network {
  /** 32 or 128 binary digits. */
  readonly bits: string
  readonly length: number
}

function readNetwork(text: string): Network | undefined {
  const [address = "", prefix] = text.split("/")
  const bits = address.includes(":") ? bitsOfIpv6(address) : bitsOfIpv4(address)
  if (bits === undefined) return undefined
  const length = prefix === undefined ? bits.length : Number(prefix)
  return Number.isInteger(length) && length >= 0 && length <= bits.length ? { bits, length } : undefined
}

function bitsOfIpv4(address: string): string | undefined {
  const parts = address.split(".").map(Number)
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return undefined
  return parts.map((part) => part.toString(2).padStart(8, "0")).join("")
}

/** An IPv6 address as 128 binary digits; undefined for other text. */
function bitsOfIpv6(address: string): string | undefined {
  const [head = "", tail, ...more] = address.split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":"))
  const [first, last] = [groups(head), groups(tail ?? "")]
  const missing = 8 - first.length - last.length
  if (more.length > 0 || missing < 0 || (tail === undefined && missing > 0)) return undefined
  const all = [...first, ...Array.from({ length: missing }, () => "0"), ...last]
  if (all.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0")).join("")
}

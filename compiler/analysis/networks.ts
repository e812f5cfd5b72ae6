/** Whether every address of `inner` is in `outer`: networks as `10.0.0.0/8`, `2001:db8::/32`, or single addresses. False for what is neither. */
export function holds(outer: string, inner: string): boolean {
  const [wide, narrow] = [readNetwork(outer), readNetwork(inner)]
  if (wide === undefined || narrow === undefined || wide.bits.length !== narrow.bits.length) return false
  return wide.length <= narrow.length && narrow.bits.startsWith(wide.bits.slice(0, wide.length))
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

/** The position of a caller in a trace (W3C Trace Context, section 3.2). Ids are lower-case hexadecimal: 32 and 16 digits. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const noTraceId = "0".repeat(32)
const noSpanId = "0".repeat(16)

/** Reads a `traceparent` field; undefined when it is not valid. Later versions are read as far as version 00 defines them (section 3.2.2.1). */
export function parseTraceparent(text: string): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = parentPattern.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined
  if (traceId === noTraceId || spanId === noSpanId) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** A `traceparent` field of version 00. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`
}

const stateMembersMax = 32
const stateMember =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** Whether a `tracestate` field is valid (section 3.3.1): at most 32 members, each key once. Empty members are allowed. */
export function isTracestate(text: string): boolean {
  const members = text.split(",").map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ""))
  const present = members.filter((member) => member !== "")
  if (present.length === 0 || present.length > stateMembersMax) return false
  const keys = new Set(present.map((member) => member.slice(0, member.indexOf("="))))
  return keys.size === present.length && present.every((member) => stateMember.test(member))
}

const baggageBytesMax = 8192
const baggageMembersMax = 64
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const octets = "[\\x21\\x23-\\x2b\\x2d-\\x3a\\x3c-\\x5b\\x5d-\\x7e]*"
const property = `[ \\t]*;[ \\t]*${token}(?:[ \\t]*=[ \\t]*${octets})?`
const baggageMember = new RegExp(`^[ \\t]*${token}[ \\t]*=[ \\t]*${octets}(?:${property})*[ \\t]*$`)

/** Whether a `baggage` field is valid (W3C Baggage, section 3.3): at most 64 members and 8,192 bytes, the sizes that every party must pass on. */
export function isBaggage(text: string): boolean {
  if (text.length > baggageBytesMax) return false
  const members = text.split(",")
  return members.length <= baggageMembersMax && members.every((member) => baggageMember.test(member))
}

import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"

type Plan = StepOf<"validate-hmac">

/** The signatures of a request, each as long as the digest, and what was read with them. `timestamp`: as sent; empty when none is read. */
export interface GivenSignature {
  readonly signatures: readonly Buffer[]
  readonly timestamp: string
  /** The signed headers, and that of the replay guard, by name. */
  readonly headers: ReadonlyMap<string, string>
}

/** Why the head of a request does not contain a usable signature. */
export interface SignatureFault {
  readonly problem: `signature-${"missing" | "malformed" | "invalid" | "expired" | "replayed"}`
  readonly cause: string
}

/** Signatures that are compared. A list of more is refused. */
const signaturesMax = 16
const digestBytes = { sha256: 32, sha384: 48, sha512: 64 } as const

type ReadSignature = (exchange: Exchange, nowMs: number) => GivenSignature | SignatureFault

/** Compiles how the signature, its timestamp and the signed headers are read from the head of a request. The time is checked. */
export function compileSignature(plan: Plan): ReadSignature {
  const { header, separator } = plan.signature
  const signaturesOf = compileSignatures(plan)
  const names = headersOf(plan)
  return (exchange, nowMs) => {
    const value = exchange.headers.get(header)
    if (value === undefined) return { problem: "signature-missing", cause: `there is no header ${header}` }
    if (exchange.headers.count(header) > 1) return malformed(`the header ${header} is given twice`)
    const entries = separator === undefined ? [value] : value.split(separator).map((each) => each.trim())
    const signatures = signaturesOf(entries)
    if (typeof signatures === "string") return malformed(signatures)
    const timestamp = timestampOf(plan, entries, exchange)
    if (typeof timestamp === "object") return malformed(timestamp.cause)
    const late = lateness(plan, timestamp, nowMs)
    if (late !== undefined) return { problem: "signature-expired", cause: late }
    const headers = new Map<string, string>()
    for (const name of names) {
      const field = exchange.headers.get(name)
      if (field === undefined) return malformed(`the signed header ${name} is missing`)
      if (exchange.headers.count(name) > 1) return malformed(`the signed header ${name} is given twice`)
      headers.set(name, field)
    }
    return { signatures, timestamp, headers }
  }
}

function malformed(cause: string): SignatureFault {
  return { problem: "signature-malformed", cause }
}

/** Reads the signatures among the entries of the header; entries of other forms are skipped. A text says why there are none. */
function compileSignatures({
  signature,
  algorithm,
}: Plan): (entries: readonly string[]) => Buffer[] | string {
  const { header, prefix = "", encoding } = signature
  const bytes = digestBytes[algorithm]
  const form = encoding === "hex" ? /^[0-9a-fA-F]+$/ : /^[A-Za-z0-9+/]+={0,2}$/
  const what = `${prefix === "" ? "" : `\`${prefix}\` and `}${encoding === "hex" ? "a hexadecimal" : "a Base64"} digest`
  const none = `the header ${header} does not contain ${what} of ${bytes} bytes`
  return (entries) => {
    const marked = entries.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length))
    if (marked.length > signaturesMax) return `the header ${header} has more than ${signaturesMax} signatures`
    const found = marked
      .filter((each) => form.test(each))
      .map((each) => Buffer.from(each, encoding))
      .filter((each) => each.length === bytes)
    return found.length > 0 ? found : none
  }
}

/** The text of the timestamp; empty when the plan reads none. */
function timestampOf(
  { timestamp, signature }: Plan,
  entries: readonly string[],
  { headers }: Exchange,
): string | { readonly cause: string } {
  if (timestamp === undefined) return ""
  const { from } = timestamp
  if ("header" in from && headers.count(from.header) > 1)
    return { cause: `the header ${from.header} is given twice` }
  const found =
    "header" in from
      ? [headers.get(from.header) ?? ""]
      : entries.filter((each) => each.startsWith(from.prefix)).map((each) => each.slice(from.prefix.length))
  const [text = ""] = found
  if (found.length === 1 && /^\d{1,15}$/.test(text)) return text
  return { cause: `there is no timestamp in the header ${"header" in from ? from.header : signature.header}` }
}

/** What is wrong with the time of the signature. A time in the future is wrong, too: it would keep the request valid for longer. */
function lateness({ timestamp }: Plan, text: string, nowMs: number): string | undefined {
  if (timestamp === undefined) return undefined
  const { unit, toleranceSeconds } = timestamp
  const seconds = Math.round((nowMs - Number(text) * (unit === "seconds" ? 1000 : 1)) / 1000)
  if (Math.abs(seconds) <= toleranceSeconds) return undefined
  return `its time is ${Math.abs(seconds)} s ${seconds < 0 ? "in the future" : "in the past"}; ${toleranceSeconds} s are allowed`
}

/** The headers whose values are needed. */
function headersOf({ signed, replay }: Plan): readonly string[] {
  const names = signed.flatMap((part) => (typeof part === "object" && "header" in part ? [part.header] : []))
  return replay?.header === undefined ? names : [...names, replay.header]
}

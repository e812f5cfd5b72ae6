/** Why the syntax of a request is refused, with the status. The names are those of the gateway's problems. */
export const faultStatus = {
  "invalid-request": 400,
  "invalid-path": 400,
  "invalid-header": 400,
  "https-required": 400,
  "certificate-required": 401,
  "method-not-allowed": 405,
  "request-timeout": 408,
  "body-too-large": 413,
  "target-too-long": 414,
  "expectation-failed": 417,
  misdirected: 421,
  "header-too-large": 431,
  "not-implemented": 501,
  "version-not-supported": 505,
} as const

/** What is wrong with a request. */
export type FaultName = keyof typeof faultStatus

/** `cause` names the error without a value from the request. */
export interface RequestFault {
  readonly name: FaultName
  readonly cause: string
}

const targetLengthMax = 16_384
const hostPattern = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._~-]{1,253})(?::\d{1,5})?$/

/** The checked parts of a request line. */
export interface RequestLine {
  readonly method?: string | undefined
  readonly httpVersionMajor: number
  readonly httpVersionMinor: number
  readonly isHttp2?: true
  /** A fault that was found while the head was read. */
  readonly headFault?: RequestFault | undefined
}

/** RFC 9112 §2.3 and §3: the checks that llhttp's strict mode does not make. */
export function lineFault(
  { method, httpVersionMajor, httpVersionMinor, isHttp2, headFault }: RequestLine,
  target: string,
): RequestFault | undefined {
  if (headFault !== undefined) return headFault
  if (isHttp2 !== true && (httpVersionMajor !== 1 || httpVersionMinor > 1))
    return { name: "version-not-supported", cause: "only HTTP/1.1 and HTTP/1.0 have a request line" }
  if (method === "TRACE" || method === "CONNECT")
    return { name: "method-not-allowed", cause: `${method} is never served` }
  if (target.length > targetLengthMax)
    return { name: "target-too-long", cause: `the target has more than ${targetLengthMax} characters` }
  return undefined
}

/**
 * The fields that frame a request or name its target. Their values must have exactly the standard form, because two readers could interpret other
 * forms differently.
 */
export class FramingFields {
  fault: RequestFault | undefined
  host: string | undefined
  contentLength: number | undefined
  chunked = false
  expectsContinue = false

  takeHost(value: string): void {
    if (this.host !== undefined) this.refuse("invalid-header", "two Host fields")
    else if (value === "") this.refuse("invalid-header", "empty Host")
    this.host = value
  }

  takeLength(value: string): void {
    if (this.contentLength !== undefined || !/^\d{1,15}$/.test(value))
      this.refuse("invalid-header", "Content-Length")
    this.contentLength = Number(value)
  }

  /** Only `chunked`, once: other codings are not implemented (RFC 9112 §6.1). */
  takeCoding(value: string): void {
    if (this.chunked || value.trim().toLowerCase() !== "chunked")
      this.refuse("not-implemented", "a transfer coding other than chunked")
    this.chunked = true
  }

  takeExpectation(value: string): void {
    if (value.toLowerCase() === "100-continue") this.expectsContinue = true
    else this.refuse("expectation-failed", "an expectation other than 100-continue")
  }

  refuse(name: FaultName, cause: string): void {
    this.fault = { name, cause }
  }

  /** The faults that depend on several fields. */
  wholeFault({ isHttp2, httpVersionMinor }: RequestLine): RequestFault | undefined {
    if (this.fault !== undefined) return this.fault
    // RFC 9112 §6.1: HTTP/1.0 has no transfer codings, so an earlier hop may have found another end of this body.
    if (this.chunked && httpVersionMinor === 0)
      return { name: "invalid-request", cause: "Transfer-Encoding in HTTP/1.0" }
    if (this.host === undefined ? isHttp2 === true || httpVersionMinor !== 0 : !hostPattern.test(this.host))
      return { name: "invalid-header", cause: "Host" }
    return undefined
  }
}

/** The target in origin form; undefined when it is invalid. An absolute form (§3.2.2) must name the same authority as Host. */
export function originForm(target: string, authority: string): string | undefined {
  if (target.startsWith("/")) return target
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target)
  if (absolute === null || absolute[1]?.toLowerCase() !== authority.toLowerCase()) return undefined
  return absolute[2]?.startsWith("/") === true ? absolute[2] : `/${absolute[2] ?? ""}`
}

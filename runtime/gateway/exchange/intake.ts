import { TLSSocket } from "node:tls"
import type { IncomingRequest } from "../../http/server/incoming.ts"
import { FramingFields, lineFault, originForm, type RequestFault } from "../../http/server/request-fault.ts"
import type { PathForms } from "../../plan/resources.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"
import type { ContextFields } from "../../tracing/tracer.ts"
import type { ClientAddresses } from "./client-address.ts"
import { headerNameOf, nominated } from "./header-names.ts"

/** A checked request: everything that two readers could interpret differently has been refused or rewritten. */
export interface Intake {
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly authority: string
  readonly scheme: string
  readonly ip: string
  readonly requestId: string | undefined
  /** Undefined: the request has none of these fields. */
  readonly context: ContextFields | undefined
  /** The request came through a proxy of `trust`. */
  readonly trusted: boolean
  /** End-to-end fields in order, lower case, with the forwarding fields of the gateway. */
  readonly headers: string[]
  /** The X-Forwarded-For value of a trusted proxy, and the proxy's own address, which `upstreamFields` appends; undefined when the proxy sent none. */
  readonly cameBy: { readonly forwardedFor: string; readonly peer: string } | undefined
  /** `none`: no body. `chunked`: unknown length. Otherwise the length. */
  readonly body: "none" | "chunked" | number
  /** Content-Length as sent, including 0. */
  readonly sentLength: number | undefined
  readonly expectsContinue: boolean
  readonly wantsWebSocket: boolean
  /** `TE: trailers` (RFC 9110 §10.1.4). */
  readonly takesTrailers: boolean
}

export interface IntakeRules {
  readonly headersMax: number
  readonly addresses: ClientAddresses
  /** Name of this gateway in Via (RFC 9110 §7.6.3). */
  readonly via: string
  /** Path forms that at least one route passes. */
  readonly forms: PathForms
}

const requestIdPattern = /^[\w.-]{1,128}$/
const queryPattern = /^[\x21-\x22\x24-\x7e]*$/

/** Reads the head of a request, or returns the problem. It reads the raw fields in one pass: Node's merged ones hide duplicates. */
export function takeIn(request: IncomingRequest, target: string, rules: IntakeRules): Intake | Problem {
  const line = lineFault(request, target)
  if (line !== undefined) return problemOf(line)
  const fields = new Fields(request.rawHeaders, rules.headersMax)
  const fault = fields.wholeFault(request)
  if (fault !== undefined) return problemOf(fault)
  const authority = fields.host ?? ""
  const place = placeOf(target, authority, rules.forms)
  if (place === undefined) return problem("invalid-path")
  const isHttp2 = request.isHttp2 === true
  const peerAddress = request.socket.remoteAddress ?? ""
  const address = rules.addresses.of(peerAddress, fields.forwardedFor)
  const isSecured = request.socket instanceof TLSSocket
  const scheme =
    ((address.trusted ? lastWord(fields.forwardedProto) : undefined) ?? (isSecured ? "https" : "http")) ===
    "https"
      ? "https"
      : "http"
  const headers = fields.endToEnd()
  const peer = rules.addresses.of(peerAddress, undefined).ip
  const via = `${isHttp2 ? "2.0" : "1.1"} ${rules.via}`
  addForwarding(headers, fields, { trusted: address.trusted, peer, scheme, authority, via })
  const { requestId, contentLength } = fields
  // Written out, because spreading into an object literal of this size costs ten microseconds.
  return {
    path: place.path,
    query: place.query,
    authority,
    scheme,
    ip: address.ip,
    requestId:
      address.trusted && requestId !== undefined && requestIdPattern.test(requestId) ? requestId : undefined,
    context: fields.context,
    trusted: address.trusted,
    headers,
    cameBy:
      address.trusted && fields.forwardedFor !== undefined
        ? { forwardedFor: fields.forwardedFor, peer }
        : undefined,
    // In HTTP/2 a body ends with its stream, so its length may be unknown without a transfer coding.
    body:
      fields.chunked || (isHttp2 && contentLength === undefined && !request.complete)
        ? "chunked"
        : contentLength === undefined || contentLength === 0
          ? "none"
          : contentLength,
    sentLength: contentLength,
    expectsContinue: fields.expectsContinue,
    takesTrailers: fields.takesTrailers,
    wantsWebSocket: fields.nominated.includes("upgrade") && namesWebSocket(fields.upgrade),
  }
}

/** No route allows CONNECT or TRACE, so `Allow` is empty. */
function problemOf({ name, cause }: RequestFault): Problem {
  return problem(name, name === "method-not-allowed" ? { headers: ["allow", ""], cause } : { cause })
}

/** Path and query of a request target; undefined if the path has no canonical form, because it could mean something else to the backend. */
function placeOf(
  target: string,
  authority: string,
  forms: PathForms,
): { path: string; query: string } | undefined {
  const local = originForm(target, authority)
  if (local === undefined) return undefined
  const at = local.indexOf("?")
  const path = canonicalPath(at === -1 ? local : local.slice(0, at), forms)
  const query = at === -1 ? "" : local.slice(at + 1)
  if (path === undefined || !queryPattern.test(query)) return undefined
  return { path, query }
}

/** The values of the raw fields. */
class Fields extends FramingFields {
  forwardedFor: string | undefined
  forwardedProto: string | undefined
  forwardedHost: string | undefined
  requestId: string | undefined
  context: { -readonly [Name in keyof ContextFields]: ContextFields[Name] } | undefined
  via: string | undefined
  upgrade: string | undefined
  takesTrailers = false
  nominated: string[] = noNames
  readonly #kept: string[] = []
  #once = ""

  /** Reads the head once, field by field, and stops at the first fault. */
  constructor(raw: readonly string[], headersMax: number) {
    super()
    if (raw.length > headersMax * 2) {
      this.refuse("header-too-large", `${raw.length / 2} fields`)
      return
    }
    for (let at = 0; at < raw.length; at += 2) {
      this.#field(raw[at] as string, raw[at + 1] as string)
      if (this.fault !== undefined) return
    }
  }

  /** The fields to forward, without those that Connection names (RFC 9110 §7.6.1). */
  endToEnd(): string[] {
    const names = this.nominated
    if (names.length === 0) return this.#kept
    const kept: string[] = []
    for (let at = 0; at < this.#kept.length; at += 2) {
      const name = this.#kept[at] as string
      if (!names.includes(name)) kept.push(name, this.#kept[at + 1] as string)
    }
    return kept
  }

  #field(sent: string, value: string): void {
    const { lower, role } = headerNameOf(sent)
    if (role === "pass") this.#kept.push(lower, value)
    else this.#special(role, lower, value)
  }

  /** Fields that the gateway acts upon. A field that must be unique and is not is refused: two readers could choose different ones. */
  #special(role: string, lower: string, value: string): void {
    switch (role) {
      case "once":
        if (this.#once.includes(`${lower}\n`)) this.refuse("invalid-header", `two ${lower} fields`)
        this.#once += `${lower}\n`
        this.#kept.push(lower, value)
        return
      case "trace-context": {
        const name = lower as keyof ContextFields
        this.context ??= { traceparent: undefined, tracestate: undefined, baggage: undefined }
        this.context[name] = joined(this.context[name], value)
        this.#kept.push(lower, value)
        return
      }
      case "connection":
        this.#connection(value)
        return
      case "host":
        this.takeHost(value)
        return
      case "content-length":
        this.takeLength(value)
        return
      case "transfer-encoding":
        this.takeCoding(value)
        return
      default:
        this.#about(role, value)
    }
  }

  #connection(value: string): void {
    // `keep-alive` and `close` are by far the most common and name no field that is kept.
    if (value === "keep-alive" || value === "close") return
    this.nominated = [...this.nominated, ...nominated(value)]
  }

  /** Fields that describe how the request came. Several lines of one field are one list. */
  #about(role: string, value: string): void {
    if (role === "forwarded-for") this.forwardedFor = joined(this.forwardedFor, value)
    else if (role === "forwarded-proto") this.forwardedProto = joined(this.forwardedProto, value)
    else if (role === "forwarded-host") this.forwardedHost = joined(this.forwardedHost, value)
    else if (role === "via") this.via = joined(this.via, value)
    else if (role === "request-id") this.requestId = value
    else if (role === "upgrade") this.upgrade = joined(this.upgrade, value.toLowerCase())
    else if (role === "te") this.takesTrailers ||= /(?:^|,)\s*trailers\s*(?:$|[,;])/i.test(value)
    else if (role === "expect") this.takeExpectation(value)
  }
}

const noNames: string[] = []

interface Hop {
  readonly trusted: boolean
  readonly peer: string
  readonly scheme: string
  readonly authority: string
  readonly via: string
}

/**
 * The fields about the request's origin; steps see them as the nearest proxy sent them. They are added last, so that a Connection field of the client
 * cannot remove them.
 */
function addForwarding(headers: string[], fields: Fields, hop: Hop): void {
  const before = hop.trusted ? fields.forwardedFor : undefined
  headers.push("x-forwarded-for", before ?? hop.peer, "x-forwarded-proto", hop.scheme)
  const host = (hop.trusted ? lastWord(fields.forwardedHost) : undefined) ?? hop.authority
  if (host !== "") headers.push("x-forwarded-host", host)
  headers.push("via", fields.via === undefined ? hop.via : `${fields.via}, ${hop.via}`)
}

function namesWebSocket(upgrade: string | undefined): boolean {
  return upgrade?.split(",").some((protocol) => protocol.trim() === "websocket") === true
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

/** Each proxy appends to such a list; only the last word, that of the nearest proxy, can be trusted. */
function lastWord(list: string | undefined): string | undefined {
  const word = list?.slice(list.lastIndexOf(",") + 1).trim()
  return word === "" ? undefined : word
}

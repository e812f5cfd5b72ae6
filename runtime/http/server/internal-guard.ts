import { isIP } from "node:net"
import { hostname } from "node:os"
import type { IncomingRequest } from "./incoming.ts"
import { FramingFields, faultStatus, lineFault, originForm, type RequestFault } from "./request-fault.ts"

/** Limits for the head of a request to an internal listener; those of the gateway are in gateway.conf, with the same defaults. */
const headersMax = 100

/** The same for `openListener`. */
export const internalLimits = { headerBytesMax: 16 * 1024, headMs: 10_000 } as const

/** Why an internal listener refuses a request before it is handled; `detail` may be sent to the client. */
export interface Refusal {
  readonly name: RequestFault["name"]
  readonly status: number
  readonly detail: string
}

const namePattern = /^(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[?[0-9a-f:.]+\]?)$/

const judgedMax = 1_000

/** Converts a fault to a refusal. */
export function refusalOf({ name, cause }: RequestFault): Refusal {
  return { name, status: faultStatus[name], detail: `the request is refused: ${cause}` }
}

/** Checks the head of a request as strictly as the gateway does, and that its Host is a name of the listener. `target` is the request target as sent. */
export function judgeRequest(
  request: IncomingRequest,
  target: string,
  names: Pick<OwnNames, "has">,
): Refusal | undefined {
  const line = lineFault(request, target)
  if (line !== undefined) return refusalOf(line)
  const fields = framingOf(request.rawHeaders)
  const fault = fields.wholeFault(request)
  if (fault !== undefined) return refusalOf(fault)
  const { host } = fields
  if (originForm(target, host ?? "") === undefined)
    return refusalOf({
      name: "invalid-path",
      cause: "the target is not a path, or its host differs from the Host header",
    })
  // A request without Host cannot come from a browser, because browsers send HTTP/1.1.
  if (host === undefined || names.has(host)) return undefined
  return {
    name: "misdirected",
    status: 421,
    detail:
      `this listener does not accept the host name \`${host}\`, because a web page could point such a name at it. ` +
      "Use an IP address or `localhost`, or add the name to SALLYPORT_HOSTS of this process (names separated by commas, `*.example.internal` for all names below one)",
  }
}

/** Checks how the request is framed. A field that must be unique is refused when it is repeated. */
function framingOf(raw: readonly string[]): FramingFields {
  const fields = new FramingFields()
  if (raw.length > headersMax * 2) fields.refuse("header-too-large", `${raw.length / 2} fields`)
  let once = ""
  for (let at = 0; at < raw.length && fields.fault === undefined; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    if (name === "host") fields.takeHost(value)
    else if (name === "content-length") fields.takeLength(value)
    else if (name === "transfer-encoding") fields.takeCoding(value)
    else if (name === "expect") fields.takeExpectation(value)
    else if (name === "authorization" || name === "content-type") {
      if (once.includes(name)) fields.refuse("invalid-header", `two ${name} fields`)
      once = once === "" ? name : `${once} ${name}`
    }
  }
  return fields
}

/** Whether the text is valid in the list of additional names. It has no port: ports may be forwarded, so only names are compared. */
export function isOwnName(text: string): boolean {
  return namePattern.test(text.toLowerCase())
}

/**
 * The names of a listener: `localhost` and names below it, the name of the machine, the host part of `listen`, and `more`: `authz.internal`,
 * `*.svc.cluster.local` for all names below it, or `*` for any name. This prevents DNS rebinding, where a page's own name is made to resolve to this
 * address. All IP addresses are accepted: they do not depend on DNS, and probes use the IP address of their pod.
 */
export class OwnNames {
  readonly #always: ReadonlySet<string>
  readonly #more: () => readonly string[]
  #judgedBy: readonly string[] = []
  readonly #judged = new Map<string, boolean>()

  constructor(listen: string, more: () => readonly string[]) {
    this.#always = new Set(["localhost", hostname(), listen].map(plainName))
    this.#more = more
  }

  /** Whether a request with this Host is for the listener. */
  has(host: string): boolean {
    const more = this.#more()
    if (more !== this.#judgedBy || this.#judged.size > judgedMax) this.#judged.clear()
    this.#judgedBy = more
    const known = this.#judged.get(host)
    if (known !== undefined) return known
    const own = this.#judge(plainName(host.replace(/:\d{1,5}$/, "")), more)
    this.#judged.set(host, own)
    return own
  }

  #judge(name: string, more: readonly string[]): boolean {
    if (isIP(name) !== 0 || this.#always.has(name) || name.endsWith(".localhost")) return true
    return more.some((each) => {
      const own = plainName(each)
      return own === "*" || own === name || (own.startsWith("*.") && name.endsWith(own.slice(1)))
    })
  }
}

/** In lower case, without brackets and without the dot of the DNS root. */
function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
}

import { hash } from "node:crypto"
import type { IncomingRequest } from "../../http/server/incoming.ts"
import { peerCertificateOf } from "../../http/server/peer-certificate.ts"
import type { Plan } from "../../plan/plan.ts"
import { isCredential, shownTo } from "../../plan/steps.ts"
import type { ClientAddresses } from "../exchange/client-address.ts"

/** Where requests may show who sends them: names of fields in lower case, and of query parameters. */
interface IdentityPlaces {
  readonly keyHeaders: ReadonlySet<string>
  readonly keyQueries: ReadonlySet<string>
  readonly tokenHeaders: ReadonlySet<string>
  readonly tokenQueries: ReadonlySet<string>
  readonly hasCertificates: boolean
}

/**
 * Chooses a share of the callers, before any step runs and so before a credential was verified. The same caller is chosen in every process, and by a
 * larger share of the same plan, too. A client that invents credentials can choose its side; both plans authenticate it.
 */
export class CallerShare {
  readonly #places: IdentityPlaces
  readonly #salt: string
  readonly #below: number

  /** `plans`: the old and the new one, since callers may show themselves to either. `percent`: more than 0 and less than 100. */
  constructor(plans: readonly Plan[], salt: string, percent: number) {
    this.#places = placesOf(plans)
    this.#salt = salt
    this.#below = Math.round((percent / 100) * 2 ** 32)
  }

  /** Whether the request's caller is one of those. `target`: the request target as sent. */
  has(request: IncomingRequest, target: string, addresses: ClientAddresses): boolean {
    const caller = identityOf(request, target, this.#places) ?? addressOf(request, addresses)
    return Number.parseInt(hash("sha256", `${this.#salt}\n${caller}`, "hex").slice(0, 8), 16) < this.#below
  }
}

function placesOf(plans: readonly Plan[]): IdentityPlaces {
  const [keyHeaders, keyQueries, tokenQueries] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const tokenHeaders = new Set(["authorization"])
  let hasCertificates = false
  for (const step of plans.flatMap(({ plan }) => Object.values(plan.steps))) {
    if (!isCredential(step)) continue
    const shown = shownTo(step)
    if (shown.is === "certificate") hasCertificates = true
    else if (shown.is === "key") {
      if (shown.header !== null) keyHeaders.add(shown.header.toLowerCase())
      if (shown.query !== null) keyQueries.add(shown.query)
    } else if (shown.is === "token") {
      if ("header" in shown.from) tokenHeaders.add(shown.from.header.toLowerCase())
      else if ("query" in shown.from) tokenQueries.add(shown.from.query)
    }
  }
  return { keyHeaders, keyQueries, tokenHeaders, tokenQueries, hasCertificates }
}

/** A subscription key, else whom a token or a password is for, else the client certificate; undefined: the request shows none of them. */
function identityOf(request: IncomingRequest, target: string, places: IdentityPlaces): string | undefined {
  const at = target.indexOf("?")
  const query = at < 0 ? "" : target.slice(at + 1)
  const key = shownIn(request, query, places.keyHeaders, places.keyQueries)
  if (key !== undefined) return `key ${key}`
  const token = shownIn(request, query, places.tokenHeaders, places.tokenQueries)
  if (token !== undefined) return holderOf(token)
  const certificate = places.hasCertificates ? peerCertificateOf(request.socket) : undefined
  return certificate === undefined ? undefined : `certificate ${certificate.thumbprint}`
}

function shownIn(
  { headers }: IncomingRequest,
  query: string,
  fields: ReadonlySet<string>,
  parameters: ReadonlySet<string>,
): string | undefined {
  for (const name of fields) {
    const value = headers[name]
    if (value !== undefined && value !== "") return String(value)
  }
  if (query === "" || parameters.size === 0) return undefined
  const given = new URLSearchParams(query)
  for (const name of parameters) {
    const value = given.get(name)
    if (value !== null && value !== "") return value
  }
  return undefined
}

/** A caller gets a new token every few minutes, so what counts of a JWT is whom it is for. An opaque token counts as it is. */
function holderOf(credential: string): string {
  const [, scheme, text = credential] = /^(bearer|basic) +(.*)$/is.exec(credential) ?? []
  if (scheme?.toLowerCase() === "basic") {
    const pair = Buffer.from(text, "base64").toString("utf8")
    return `user ${pair.slice(0, Math.max(0, pair.indexOf(":")))}`
  }
  const [, payload, signature] = text.split(".", 3)
  if (payload !== undefined && signature !== undefined && payload.length <= payloadMax) {
    const { iss, sub } = claimsIn(payload)
    if (typeof sub === "string") return `subject ${String(iss)} ${sub}`
  }
  return `token ${text}`
}

/** Larger ones are not decoded: they cost more than the choice is worth. */
const payloadMax = 8_192

function claimsIn(payload: string): { readonly iss?: unknown; readonly sub?: unknown } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"))
    return typeof claims === "object" && claims !== null ? claims : {}
  } catch {
    return {}
  }
}

/** The address that limits count as one caller. */
function addressOf({ socket, headers }: IncomingRequest, addresses: ClientAddresses): string {
  const forwarded = headers["x-forwarded-for"]
  const { ip } = addresses.of(
    socket.remoteAddress ?? "",
    forwarded === undefined ? undefined : String(forwarded),
  )
  return `address ${addresses.countedAs(ip)}`
}

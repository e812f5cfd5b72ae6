import { isIP } from "../../../plan/ip-text.ts"
import { CsEnum } from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import { badFormat } from "../errors.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { declareEnum } from "./object.ts"

/** System.Net.IPAddress. */
class Address extends CsObject {
  readonly typeName = "System.Net.IPAddress"
  readonly written: string
  readonly bytes: Uint8Array
  constructor(written: string) {
    super()
    const version = isIP(written)
    if (version === 0) throw badFormat("An invalid IP address was specified.")
    this.written =
      version === 6 ? new URL(`http://[${written.replace(/%.*$/, "")}]`).hostname.slice(1, -1) : written
    this.bytes = version === 4 ? Uint8Array.from(written.split("."), Number) : sixBytes(this.written)
  }
  override text(): string {
    return this.written
  }
  override same(other: unknown): boolean {
    return other instanceof Address && other.written === this.written
  }
  override hash(): unknown {
    return `ip:${this.written}`
  }
}

/** The 16 bytes of an IPv6 address. `::` stands for as many groups of zeros as are missing. */
function sixBytes(text: string): Uint8Array {
  const [head = "", tail] = text.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const groups = [...left, ...new Array<string>(8 - left.length - right.length).fill("0"), ...right]
  return Uint8Array.from(
    groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}

/** The names of `HttpStatusCode`, as policies write them. */
const statuses: Readonly<Record<string, number>> = {
  Continue: 100,
  OK: 200,
  Created: 201,
  Accepted: 202,
  NoContent: 204,
  MovedPermanently: 301,
  Found: 302,
  SeeOther: 303,
  NotModified: 304,
  BadRequest: 400,
  Unauthorized: 401,
  PaymentRequired: 402,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestTimeout: 408,
  Conflict: 409,
  Gone: 410,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  InternalServerError: 500,
  NotImplemented: 501,
  BadGateway: 502,
  ServiceUnavailable: 503,
  GatewayTimeout: 504,
}

/** `IPAddress` and `HttpStatusCode`. */
export function declareNetwork(): void {
  declareEnum("HttpStatusCode", "System.Net", statuses)
  declareEnum("AddressFamily", "System.Net.Sockets", { InterNetwork: 2, InterNetworkV6: 23 })
  declareType(
    "IPAddress",
    { holds: (value) => value instanceof Address },
    {
      "static Parse(string text): IPAddress": (text: string) => new Address(text.trim()),
      "static TryParse(string text, out IPAddress result): bool": (text: string | null, out: OutPlace) => {
        const isAddress = text !== null && isIP(text.trim()) !== 0
        out.set(isAddress ? new Address(text.trim()) : null)
        return isAddress
      },
      "GetAddressBytes(): byte[]": (self: Address) => Uint8Array.from(self.bytes),
      "AddressFamily: AddressFamily": (self: Address) =>
        self.bytes.length === 4
          ? new CsEnum("System.Net.Sockets.AddressFamily", ["InterNetwork"], 2)
          : new CsEnum("System.Net.Sockets.AddressFamily", ["InterNetworkV6"], 23),
      "static IsLoopback(IPAddress address): bool": (address: Address) =>
        address.bytes[0] === 127 || address.written === "::1",
    },
  )
}

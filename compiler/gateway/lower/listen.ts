import type { ControlPlan } from "../../../runtime/plan/control.ts"
import { bytesOf } from "../../../runtime/plan/network.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { PortalPlan } from "../../../runtime/plan/portal.ts"
import type {
  Address,
  AddressSourcePlan,
  DeclaredListener,
  ListenerTlsPlan,
} from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type AddressSource, addressOf } from "../bind/addresses.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { clientCertificatesOf, reportUnused } from "./client-certificates.ts"
import type { Values } from "./values.ts"

/** Where a listener is: known now, or read when the plan is loaded. */
type Place = Address | { readonly at: AddressSourcePlan }

/** One address of a `listen`, with the block that applies to all its addresses. */
interface Listener {
  readonly address: Place
  readonly span: Span
  readonly block: BoundBlock | undefined
}

/** Limit of the plan; no real host has that many addresses. */
const listenersMax = 16

/** What the addresses of listeners are read with. */
interface ListenContext {
  readonly values: Values
  readonly report: Report
}

/** The listeners of the gateway: those that redirect need one with TLS, or a port. */
export function publicListeners(program: Program, context: ListenContext): DeclaredListener[] {
  const { report } = context
  const listeners = listenersOf(program.gateway?.block, context)
  const secured = sorted(listeners.filter(({ block }) => statementOf(block, "tls") !== undefined))[0]
  return sorted(listeners).map(({ address, block }) => {
    const tls = tlsOf(block, report)
    const redirect = statementOf(block, "redirect")
    const more = { ...http2Of(block), ...proxiesOf(block) }
    if (redirect === undefined) return { ...address, ...tls, ...more }
    const port = redirect.args.value<number>("port") ?? knownPort(secured)
    if (port === undefined && secured === undefined) return { ...address, ...tls, ...more }
    return { ...address, ...tls, ...more, redirect: { ...(port === undefined ? {} : { port }) } }
  })
}

/** Undefined: the runtime takes the port of the first listener with TLS, when it knows the address. */
function knownPort(listener: Listener | undefined): number | undefined {
  return listener !== undefined && "port" in listener.address ? listener.address.port : undefined
}

/** The listeners of the engine. `mustBePrivate`: it has no `auth`, so only addresses inside are allowed. */
export function engineListeners(
  program: Program,
  mustBePrivate: boolean,
  context: ListenContext,
): NonNullable<PlanBody["authz"]>["listen"] {
  const { report } = context
  const listeners = listenersOf(program.authz?.block, context)
  if (mustBePrivate) for (const listener of listeners) checkPrivate(listener, report)
  for (const { block } of statementsOf(program.authz?.block, "listen")) {
    reportUnused(statementOf(block, "tls")?.block, "the engine", report)
    checkGrpc(block, report)
  }
  return sorted(listeners).map(({ address, block }) => {
    const isGrpc = statementOf(block, "grpc") !== undefined
    const served = isGrpc ? { grpc: true as const } : http2Of(block)
    return { ...address, ...tlsOf(block, report), ...served, ...proxiesOf(block) }
  })
}

function checkGrpc(block: BoundBlock | undefined, report: Report): void {
  const grpc = statementOf(block, "grpc")
  const http2 = statementOf(block, "http2")
  if (grpc === undefined || http2 === undefined) return
  report.add(
    "SP2017",
    headSpan(http2.statement),
    "`http2` has no effect on a listener with `grpc`, which always uses HTTP/2",
    {
      related: [{ span: headSpan(grpc.statement), message: "its `grpc`" }],
    },
  )
}

/** The listeners of the control API. */
export function controlListeners(program: Program, context: ListenContext): ControlPlan["listen"] {
  const { report } = context
  for (const { block } of statementsOf(program.control?.block, "listen"))
    reportUnused(statementOf(block, "tls")?.block, "the control API", report)
  return sorted(listenersOf(program.control?.block, context)).map(({ address, block }) => ({
    ...{ ...address, ...tlsOf(block, report), ...http2Of(block), ...proxiesOf(block) },
  }))
}

/** The listeners of the developer portal. */
export function portalListeners(program: Program, context: ListenContext): PortalPlan["listen"] {
  const { report } = context
  for (const { block } of statementsOf(program.portal?.block, "listen"))
    reportUnused(statementOf(block, "tls")?.block, "the portal", report)
  return sorted(listenersOf(program.portal?.block, context)).map(({ address, block }) => ({
    ...{ ...address, ...tlsOf(block, report), ...http2Of(block), ...proxiesOf(block) },
  }))
}

/** Reports what is wrong with several listeners together: addresses that exclude each other, redirects that lead nowhere. */
export function checkListeners(program: Program, context: ListenContext): void {
  checkClashes(program, context)
  checkRedirects(program, context.report)
}

function checkRedirects(program: Program, report: Report): void {
  const statements = statementsOf(program.gateway?.block, "listen")
  const isSecured = statements.some(({ block, broken }) => broken || statementOf(block, "tls") !== undefined)
  for (const { block } of statements) {
    const redirect = statementOf(block, "redirect")
    if (redirect === undefined || redirect.broken) continue
    const tls = statementOf(block, "tls")
    if (tls !== undefined)
      report.add(
        "SP2017",
        headSpan(redirect.statement),
        "`redirect https` has no effect on a listener with `tls`",
        {
          related: [{ span: headSpan(tls.statement), message: "its `tls`" }],
        },
      )
    else if (!isSecured && redirect.args.get("port") === undefined)
      report.add("SP3044", headSpan(redirect.statement), "no `listen` of this gateway has a `tls` block")
  }
}

/** The proxies whose connections begin with a header of the PROXY protocol. The order has no meaning. */
function proxiesOf(block: BoundBlock | undefined): { readonly proxies?: string[] } {
  const networks = statementsOf(block, "proxy-protocol").flatMap(({ args }) =>
    args.all("network").flatMap(({ value }) => (typeof value === "string" ? [value] : [])),
  )
  return networks.length === 0 ? {} : { proxies: [...new Set(networks)].toSorted() }
}

/** TLS of a listener. Absent: plain HTTP. */
function tlsOf(block: BoundBlock | undefined, report: Report): { readonly tls?: ListenerTlsPlan } {
  const tls = statementOf(block, "tls")
  const certificates = statementsOf(tls?.block, "certificate").flatMap(({ args }) =>
    args.words("certificate"),
  )
  const names = [...new Set(certificates.map(({ text }) => text))]
  if (tls === undefined || names.length === 0) return {}
  const choice = (keyword: string) => statementOf(tls.block, keyword)?.args.word("choice")?.text
  const hsts = statementOf(tls.block, "hsts")
  return {
    tls: {
      certificates: names,
      ...(choice("profile") === "modern" ? { profile: "modern" } : {}),
      ...(choice("unknown-host") === "refuse" ? { unknownHosts: "refuse" } : {}),
      ...clientCertificatesOf(tls.block, report),
      ...(hsts === undefined ? {} : hstsOf(hsts, report)),
    },
  }
}

/** Only what differs from the default, which is on with TLS and off without. */
function http2Of(block: BoundBlock | undefined): { readonly http2?: boolean } {
  const choice = statementOf(block, "http2")?.args.word("choice")?.text
  if (choice === undefined) return {}
  const isOn = choice === "on"
  return isOn === (statementOf(block, "tls") !== undefined) ? {} : { http2: isOn }
}

const yearMs = 365 * 86_400_000

/** The field as RFC 6797 defines it; `preload` is a rule of the browsers' common list (hstspreload.org). */
function hstsOf({ args, statement }: BoundStatement, report: Report): Pick<ListenerTlsPlan, "hsts"> {
  const maxAgeMs = args.value<number>("time")
  if (maxAgeMs === undefined) return {}
  const has = (slot: string): boolean => args.word(slot) !== undefined
  if (has("preload") && maxAgeMs < yearMs)
    report.add(
      "SP2017",
      headSpan(statement),
      "browsers do not put this host on their list, because `preload` needs at least `365d`",
    )
  return {
    hsts: {
      maxAgeSeconds: maxAgeMs / 1000,
      ...(has("subdomains") ? { subdomains: true } : {}),
      ...(has("preload") ? { preload: true } : {}),
    },
  }
}

/** Reports addresses, of the gateway, the engine, the control API and the portal, that cannot be listened on at the same time. */
function checkClashes(program: Program, context: ListenContext): void {
  const { report } = context
  // All sides in one list: they cannot share a port either.
  const all = [program.gateway, program.authz, program.control, program.portal].flatMap((side) =>
    listenersOf(side?.block, context),
  )
  all.forEach((later, index) => {
    const earlier = all.slice(0, index).find((each) => clash(each.address, later.address))
    if (earlier === undefined) return
    const [first, second] = [earlier.address, later.address]
    const detail =
      "at" in first || "at" in second || first.host === second.host
        ? "another listener already uses this address"
        : `\`${second.host}\` and \`${first.host}\` overlap on port ${second.port}`
    report.add("SP3015", later.span, detail, {
      related: [{ span: earlier.span, message: "the other listener" }],
    })
  })
}

/** All addresses of a block, as far as the plan can have them. */
function listenersOf(within: BoundBlock | undefined, { values, report }: ListenContext): Listener[] {
  const listeners = statementsOf(within, "listen").flatMap(({ args, block }) =>
    args.all("address").flatMap(({ argument, value }) => {
      const address = placeOf(value as Address | AddressSource, { values, report })
      return address === undefined ? [] : [{ address, span: argument.span, block }]
    }),
  )
  const tooMany = listeners[listenersMax]
  if (tooMany !== undefined)
    report.add(
      "SP3016",
      tooMany.span,
      `there are ${listeners.length} addresses; the maximum is ${listenersMax}`,
    )
  // The rest is cut, so that the plan stays valid and one mistake is one finding.
  return listeners.slice(0, listenersMax)
}

/** An address, or where it comes from. A text that is known now, or by the defaults of its values, must be one. */
function placeOf(source: Address | AddressSource, { values, report }: ListenContext): Place | undefined {
  if ("port" in source) return source
  if ("env" in source) return { at: source }
  if ("file" in source) return undefined
  const text = values.loadText(source)
  if (text === undefined) return undefined
  if (typeof text === "string") return addressOf(text, source.span, report)
  const parts = values.preview(text)
  if (!parts.includes(undefined) && addressOf(parts.join(""), source.span, report) === undefined)
    return undefined
  return { at: text }
}

/** In the order of their addresses: that of statements must not change the plan. */
function sorted(listeners: readonly Listener[]): Listener[] {
  // Port as text of one width: the order of texts is then the order of numbers.
  const key = ({ address }: Listener): string =>
    "at" in address
      ? `~ ${JSON.stringify(address.at)}`
      : `${address.host} ${String(address.port).padStart(5, "0")}`
  return listeners.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** An engine without `auth` may be reached from inside only. */
function checkPrivate({ address, span }: Listener, report: Report): void {
  if ("at" in address) {
    report.add("SP3014", span, "this address is only known on the machine that runs the gateway")
    return
  }
  const where = reachOf(address.host)
  if (where === "inside") return
  const why =
    where === "everywhere"
      ? `\`${address.host}\` listens on every interface`
      : where === "unknown"
        ? `the address of \`${address.host}\` is only known on the machine that runs the gateway`
        : `\`${address.host}\` is a public address`
  report.add("SP3014", span, why)
}

/** Loopback, private (RFC 1918, RFC 4193), link-local and shared (RFC 6598) addresses count as inside. */
export function reachOf(host: string): "inside" | "everywhere" | "outside" | "unknown" {
  if (host === "localhost" || host === "localhost.") return "inside"
  const bytes = bytesOf(host)
  // A host name, or a value of the environment: nobody can say here who reaches it.
  if (bytes === undefined) return "unknown"
  if (bytes.every((byte) => byte === 0)) return "everywhere"
  // `::ffff:10.0.0.1` is an IPv4 address in IPv6 notation (RFC 4291, section 2.5.5.2).
  const mapped =
    bytes.length === 16 &&
    bytes.slice(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  const [a = 0, b = 0] = mapped ? bytes.slice(12) : bytes
  if (bytes.length === 4 || mapped) {
    const inside =
      a === 127 ||
      a === 10 ||
      (a === 172 && b >= 16 && b < 32) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 100 && b >= 64 && b < 128)
    return inside ? "inside" : "outside"
  }
  const loopback = bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1
  // `fc00::/7` (RFC 4193) and `fe80::/10` (RFC 4291).
  return loopback || (a & 0xfe) === 0xfc || (a === 0xfe && (b & 0xc0) === 0x80) ? "inside" : "outside"
}

/** `0.0.0.0` occupies a port on every IPv4 address, `::` on every address. */
function clash(a: Place, b: Place): boolean {
  if ("at" in a || "at" in b) return JSON.stringify(a) === JSON.stringify(b)
  if (a.port !== b.port) return false
  if (a.host === b.host) return true
  const isV4 = (host: string): boolean => !host.includes(":")
  const covers = (wide: string, host: string): boolean => wide === "::" || (wide === "0.0.0.0" && isV4(host))
  return covers(a.host, b.host) || covers(b.host, a.host)
}

import type { LimitKey } from "../../../runtime/plan/step-values.ts"
import type { Related, Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, type BoundStatement, type Filled, mentions } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** Private networks have at least this many prefix bits (RFC 1918: /8, RFC 4193: /7). A shorter prefix includes public addresses. */
const publicBits = { ipv4: 8, ipv6: 7 }
/** Maximum number of statements that a finding lists as examples of what can be bypassed. */
const examplesMax = 3

/** Statements that depend on the caller's address. */
interface AddressUses {
  /** `allow ip`, `deny ip`. */
  readonly filters: Span[]
  /** Keys of limits and quotas. */
  readonly limits: Span[]
}

/**
 * Warns about limits by address: without any `trust` statement, with trusted networks that make all callers count as one, and with keys
 * that come after `ip`.
 */
export function checkNetworks(program: Program, report: Report): void {
  const { gateway } = program
  const silent = gateway?.block?.damaged === false && !mentions(gateway.block, "trust")
  const uses: AddressUses = { filters: [], limits: [] }
  walk(program.root, silent, uses, report)
  for (const { row, args } of gateway?.block?.statements ?? []) {
    if (row.keyword !== "trust") continue
    for (const { argument, value } of args.all("network"))
      checkTrusted(value as string, argument.span, uses, report)
  }
}

/** Visits limits by address and address filters. `silent`: the gateway says nothing about proxies, neither `trust` nor `trust none`. */
function walk(block: BoundBlock | undefined, silent: boolean, uses: AddressUses, report: Report): void {
  for (const bound of block?.statements ?? []) {
    if (isAddressFilter(bound)) uses.filters.push(bound.statement.keyword.span)
    const { filled } = bound.args
    const at = filled.findIndex(isAddressKey)
    const ip = filled[at]
    const next = ip && filled.slice(at + 1).find(isKey)
    if (ip !== undefined) uses.limits.push(ip.argument.span)
    if (ip !== undefined && silent) {
      report.add(
        "SP3009",
        ip.argument.span,
        "behind a proxy, all callers have the address of the proxy and share this limit",
      )
    }
    if (ip !== undefined && next !== undefined) {
      report.add("SP3022", next.argument.span, "every caller has an address, so this key is never used", {
        related: [{ span: ip.argument.span, message: "the address" }],
      })
    }
    walk(bound.block, silent, uses, report)
    walk(bound.otherwise, silent, uses, report)
  }
}

function isKey({ slot }: Filled): boolean {
  return slot.slot === "key" && slot.kind === "limit-key"
}

function isAddressKey(each: Filled): boolean {
  return isKey(each) && (each.value as LimitKey).by === "ip"
}

function isAddressFilter({ args }: BoundStatement): boolean {
  return args.get("network")?.slot.kind === "network-or-range"
}

/** `network`: a CIDR or a single address. */
function checkTrusted(network: string, span: Span, { filters, limits }: AddressUses, report: Report): void {
  const bits = Number(network.split("/")[1] ?? Number.NaN)
  const isWide = bits < (network.includes(":") ? publicBits.ipv6 : publicBits.ipv4)
  if (!isWide) return
  const who =
    bits === 0
      ? "this network contains every address, so every caller can claim any address in `X-Forwarded-For`"
      : "this network contains public Internet addresses, so callers from there can claim any address"
  const lost = [
    ...(filters.length === 0 ? [] : ["bypass `allow ip` and `deny ip`"]),
    ...(limits.length === 0 ? [] : ["avoid limits by `ip`"]),
  ]
  const related: Related[] = [
    ...filters.slice(0, examplesMax).map((at) => ({ span: at, message: "can be bypassed" })),
    ...limits.slice(0, examplesMax).map((at) => ({ span: at, message: "can be avoided" })),
  ]
  report.add("SP3023", span, lost.length === 0 ? who : `${who}, and ${lost.join(" and ")}`, { related })
}

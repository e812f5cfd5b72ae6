import type { LimitKey } from "../../../runtime/plan/steps-access.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, mentions } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** Warns about limits by address: where nothing is said about proxies in front, and where other keys stand behind the address. */
export function checkNetworks(program: Program, report: Report): void {
  const { gateway } = program
  const silent = gateway?.block?.damaged === false && !mentions(gateway.block, "trust")
  walk(program.root, silent, report)
}

function walk(block: BoundBlock | undefined, silent: boolean, report: Report): void {
  for (const bound of block?.statements ?? []) {
    const keys = bound.args.all("key").filter(({ slot }) => slot.kind === "limit-key")
    const at = keys.findIndex(({ value }) => (value as LimitKey).by === "ip")
    const [ip, next] = [keys[at], keys[at + 1]]
    if (ip !== undefined && silent) {
      report.add(
        "SP3009",
        ip.argument.span,
        "behind a proxy all callers have its address, and share this limit",
      )
    }
    if (ip !== undefined && next !== undefined) {
      report.add("SP3022", next.argument.span, "every caller has an address, so this is never looked at", {
        related: [{ span: ip.argument.span, message: "the address" }],
      })
    }
    walk(bound.block, silent, report)
    walk(bound.otherwise, silent, report)
  }
}

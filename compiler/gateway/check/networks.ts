import type { LimitKey } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, mentions } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** Warns about limits by address where nothing is said about proxies in front. */
export function checkNetworks(program: Program, report: Report): void {
  const { gateway } = program
  if (gateway === undefined || gateway.block?.damaged !== false || mentions(gateway.block, "trust")) return
  walk(program.root, report)
}

function walk(block: BoundBlock | undefined, report: Report): void {
  for (const bound of block?.statements ?? []) {
    for (const { slot, argument, value } of bound.args.filled) {
      if (slot.kind !== "limit-key" || (value as LimitKey).by !== "ip") continue
      report.add("SP3009", argument.span, "behind a proxy all callers have its address, and share this limit")
    }
    walk(bound.block, report)
  }
}

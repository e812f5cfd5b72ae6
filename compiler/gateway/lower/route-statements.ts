import { type BoundBlock, type BoundStatement, statementOf } from "../bind/bound.ts"
import type { RouteScope } from "../routes.ts"
import type { Item } from "./scope.ts"

/** `inbound`, and `respond` in an operation, which is short for it. */
export function runsInbound({ row }: BoundStatement): boolean {
  return row.keyword === "inbound" || row.keyword === "respond"
}

/** Whether nothing after the statement runs: `respond`, both branches of a `when`, a block with such a statement. */
export function alwaysAnswers(bound: BoundStatement): boolean {
  const blockAnswers = (block: BoundBlock | undefined): boolean =>
    block?.statements.some(alwaysAnswers) ?? false
  if (bound.row.keyword === "when") return blockAnswers(bound.block) && blockAnswers(bound.otherwise)
  if (bound.row.keyword === "redirect") return true
  return bound.row.keyword === "respond" || (bound.row.keyword === "inbound" && blockAnswers(bound.block))
}

/** Whether `inbound` statements answer every request of a route. */
export function answersItself(items: readonly Item[]): boolean {
  return items.some(({ bound }) => runsInbound(bound) && alwaysAnswers(bound))
}

/** `auth` of the innermost scope that has some. */
export function nearestAuth(items: readonly Item[]): Item[] {
  const auths = items.filter(({ bound }) => bound.row.keyword === "auth")
  const depth = Math.max(...auths.map((item) => item.depth))
  return auths.filter((item) => item.depth === depth)
}

/** Whether a check reads who the caller is: it can only be made when that is known. */
export function namesCaller({ statement }: BoundStatement): boolean {
  const { file, start, end } = statement.span
  return /\$\{[^}]*\b(?:jwt|subscription|product)\b/.test(file.text.slice(start, end))
}

/** The `timeout` of the innermost scope that has one; null: none. */
export function timeoutOfChain(
  chain: readonly (RouteScope | undefined)[],
  byDefault: number | null,
): number | null {
  for (const scope of chain) {
    const time = statementOf(scope?.block, "timeout")?.args.value<number | null>("time")
    if (time !== undefined) return time
  }
  return byDefault
}

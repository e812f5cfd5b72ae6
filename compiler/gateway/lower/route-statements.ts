import { type BoundBlock, type BoundStatement, statementOf } from "../bind/bound.ts"
import type { RouteScope } from "../routes.ts"
import type { Item } from "./scope.ts"

/** `inbound`, or `respond` in an operation, which is short for it. */
export function runsInbound({ row }: BoundStatement): boolean {
  return row.keyword === "inbound" || row.keyword === "respond"
}

/** Whether no statement after this one can run: `respond`, a `when` with it in both branches, or a block that contains such a statement. */
export function alwaysAnswers(bound: BoundStatement): boolean {
  const blockAnswers = (block: BoundBlock | undefined): boolean =>
    block?.statements.some(alwaysAnswers) ?? false
  if (bound.row.keyword === "when") return blockAnswers(bound.block) && blockAnswers(bound.otherwise)
  if (bound.row.keyword === "redirect") return true
  return bound.row.keyword === "respond" || (bound.row.keyword === "inbound" && blockAnswers(bound.block))
}

/** Whether the `inbound` statements respond to every request of a route. */
export function answersItself(items: readonly Item[]): boolean {
  return items.some(({ bound }) => runsInbound(bound) && alwaysAnswers(bound))
}

/** The `auth` statements of the innermost scope that has any. */
export function nearestAuth(items: readonly Item[]): Item[] {
  const auths = items.filter(({ bound }) => bound.row.keyword === "auth")
  const depth = Math.max(...auths.map((item) => item.depth))
  return auths.filter((item) => item.depth === depth)
}

/** Whether a check reads the caller's identity, so that it must run after authentication. */
export function namesCaller({ statement }: BoundStatement): boolean {
  const { file, start, end } = statement.span
  return /\$\{[^}]*\b(?:jwt|subscription|product)\b/.test(file.text.slice(start, end))
}

/** The `timeout` of the innermost scope that has one; null: no timeout. */
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

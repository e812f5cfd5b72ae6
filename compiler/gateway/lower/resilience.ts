import type { Backend } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, type BoundStatement, statementOf } from "../bind/bound.ts"
import { printPath, type RoutePath } from "../bind/path.ts"

const defaultHealthTimeoutMs = 2_000
const defaultBudgetPercent = 10

/**
 * How a backend handles failing targets: health checks, circuit breaker, retries. Statements that are not used leave their setting absent.
 */
export function lowerResilience(
  block: BoundBlock,
  report: Report,
): Pick<Backend, "health" | "breaker" | "retry"> {
  const health = lowerHealth(statementOf(block, "health"), report)
  const breaker = lowerBreaker(statementOf(block, "breaker"))
  const retry = lowerRetry(statementOf(block, "retry"))
  return {
    ...(health === undefined ? {} : { health }),
    ...(breaker === undefined ? {} : { breaker }),
    ...(retry === undefined ? {} : { retry }),
  }
}

/** Health checks have no request, so their path is constant. */
function lowerHealth(bound: BoundStatement | undefined, report: Report): Backend["health"] {
  if (bound === undefined || bound.broken) return undefined
  const { args, block } = bound
  const path = args.value<RoutePath>("path")
  const method = args.value<"GET" | "HEAD">("method")
  const everyMs = args.value<number>("every")
  if (path === undefined || method === undefined || everyMs === undefined) return undefined
  if (path.segments.some(({ kind }) => kind !== "static")) {
    report.add(
      "SP3001",
      args.get("path")?.argument.span,
      "the path of a health check cannot have parameters",
      {
        help: "Write the complete path as the targets expect it.",
      },
    )
    return undefined
  }
  return {
    method,
    path: printPath(path.segments),
    everyMs,
    timeoutMs: statementOf(block, "timeout")?.args.value<number>("time") ?? defaultHealthTimeoutMs,
    statuses: statusesOf(block, 200, 299),
    downAfter: statementOf(block, "down-after")?.args.value<number>("count") ?? 3,
    upAfter: statementOf(block, "up-after")?.args.value<number>("count") ?? 2,
  }
}

/** The circuit breaker of a backend or a decision point. */
export function lowerBreaker(bound: BoundStatement | undefined): Backend["breaker"] {
  if (bound === undefined || bound.broken) return undefined
  const { args, block } = bound
  const calls = args.value<number>("calls")
  const percent = args.value<number>("share")
  const windowMs = args.value<number>("window")
  const openMs = args.value<number>("open")
  if (calls === undefined || windowMs === undefined || openMs === undefined) return undefined
  return {
    calls,
    ...(percent === undefined ? {} : { percent }),
    windowMs,
    openMs,
    statuses: statusesOf(block, 500, 599),
    ejectedMaxPercent: statementOf(block, "eject")?.args.value<number>("share") ?? 100,
  }
}

/** Causes and methods are sorted: their order has no meaning, and the plan must not depend on it. */
function lowerRetry(bound: BoundStatement | undefined): Backend["retry"] {
  if (bound === undefined || bound.broken) return undefined
  const { args, block } = bound
  const times = args.value<number>("times")
  if (times === undefined) return undefined
  const causes = [...new Set(args.values<string>("cause"))].sort()
  const on = causes.map((cause) => (/^\d/.test(cause) ? Number(cause) : cause))
  return {
    times,
    on: on as NonNullable<Backend["retry"]>["on"],
    methods: [...new Set(statementOf(block, "even")?.args.values<string>("method") ?? [])].sort(),
    budgetPercent: statementOf(block, "budget")?.args.value<number>("share") ?? defaultBudgetPercent,
  }
}

function statusesOf(block: BoundBlock | undefined, from: number, to: number): number[] {
  const written = statementOf(block, "status")?.args.values<number>("status")
  if (written !== undefined) return [...new Set(written)].sort((a, b) => a - b)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

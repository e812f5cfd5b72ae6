import {
  type EngineAuthzen,
  type EngineCors,
  type EngineLimits,
  type EngineLogPlan,
  engineLimitDefaults,
} from "../../../runtime/plan/authz.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { BoundBlock } from "../bind/bound.ts"
import { statementOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/**
 * All limits of the engine's API: the written ones, and defaults for the others. The slots of the rows have the names of the plan's fields.
 */
export function lowerEngineLimits(authz: BoundBlock | undefined): EngineLimits {
  const block = statementOf(authz, "limits")?.block
  const limits: EngineLimits = { ...engineLimitDefaults }
  for (const { row, args, statement, broken } of block?.statements ?? []) {
    if (broken) continue
    for (const { slot, value } of args.filled) Object.assign(limits, { [slot.slot]: value })
    const [first] = statement.args
    const unbounded = first?.kind === "word" && first.text === "none" ? noneOf[row.keyword] : undefined
    if (unbounded !== undefined) Object.assign(limits, { [unbounded]: null })
  }
  return limits
}

/** The value of `none`, by keyword. */
const noneOf: Readonly<Record<string, keyof EngineLimits>> = {
  "list-objects": "listObjectsMax",
  "list-users": "listUsersMax",
  depth: "depthMax",
  "connections-per-address": "connectionsPerAddressMax",
}

/** What the engine logs; empty without `log`. */
export function lowerEngineLog(
  authz: BoundBlock | undefined,
  values: Values,
): { readonly log?: EngineLogPlan } {
  const block = statementOf(authz, "log")?.block
  if (block === undefined) return {}
  const decisions = statementOf(block, "decisions")
  const users = statementOf(block, "users")
  const key = users?.args.word("key")?.text
  if (key !== undefined) values.needSecret(key)
  return {
    log: {
      requests: statementOf(block, "requests") !== undefined,
      decisions: decisions === undefined ? null : Number(decisions.args.value<string>("share") ?? 100),
      users: users === undefined ? "types" : key === undefined ? "plain" : { secret: key },
      slowMs: statementOf(block, "slow")?.args.value<number>("time") ?? null,
      slowSteps: statementOf(block, "slow-steps")?.args.value<number>("steps") ?? null,
    },
  }
}

/** Origins are compared as browsers send them (RFC 6454 section 6.1): scheme, host and port, in lower case, without a path. */
export function lowerEngineCors(authz: BoundBlock | undefined, report: Report): EngineCors {
  const block = statementOf(authz, "cors")?.block
  if (block === undefined) return { origins: [], headers: [] }
  const origins = statementOf(block, "origins")
  const headers = statementOf(block, "headers")
  const found = new Set<string>()
  for (const { argument, value } of origins?.args.all("origin") ?? []) {
    const origin = value as string
    if (!isOrigin(origin))
      report.add("SP2039", argument.span, `\`${origin}\` is not an origin that a browser sends`)
    else if (found.has(origin)) report.add("SP2016", argument.span, `the origin \`${origin}\` is given twice`)
    found.add(origin)
  }
  const named = headers?.args.values<string>("header") ?? []
  return {
    origins: origins !== undefined && found.size === 0 ? ["*"] : [...found].sort(),
    headers: named.length === 0 ? ["*"] : [...new Set(named)].sort(),
  }
}

function isOrigin(text: string): boolean {
  if (text === "null") return false
  try {
    return new URL(text).origin === text
  } catch {
    return false
  }
}

/** Which store the standard AuthZEN paths use, and the URL under which clients reach the engine. */
export function lowerAuthzen(program: Program, values: Values, report: Report): EngineAuthzen {
  const block = statementOf(program.authz?.block, "authzen")?.block
  const store = statementOf(block, "store")?.args.word("store")?.text
  const url = statementOf(block, "url")?.args.text("url")
  const found = store === undefined ? undefined : program.find("store", store)
  return { store: found?.name ?? null, url: lowerUrl(url, values, report) ?? null }
}

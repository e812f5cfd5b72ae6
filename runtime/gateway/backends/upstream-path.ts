import { joinQueries } from "../../policies/messages/query-string.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import type { Target } from "./target.ts"

/** The request target for a backend: its base path, the path after the steps, and the query. */
export function pathOf(exchange: ExchangeState, { place: { basePath } }: Target): string {
  const query = joinQueries(exchange.backendQuery, exchange.queryText)
  const path = below(basePath, exchange.rewritten ?? exchange.path.slice(exchange.route?.stripLength ?? 0))
  if (query === "") return path
  return `${path}${path.includes("?") ? "&" : "?"}${query}`
}

/** The path for a backend as it may be logged: without the query, and undefined where a step wrote it, since its text may contain a secret. */
export function loggedPathOf(exchange: ExchangeState, { place: { basePath } }: Target): string | undefined {
  if (exchange.rewritten !== undefined) return undefined
  return below(basePath, exchange.path.slice(exchange.route?.stripLength ?? 0))
}

/** A path below the base path of a target. */
export function below(basePath: string, local: string): string {
  return basePath + (local === "" && basePath === "" ? "/" : local)
}

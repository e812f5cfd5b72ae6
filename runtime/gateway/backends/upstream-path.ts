import { joinQueries } from "../../policies/messages/query-string.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import type { Target } from "./target.ts"

/** The request target for a backend: its base path, the path after the steps, and the query. */
export function pathOf(exchange: ExchangeState, { place: { basePath } }: Target): string {
  const query = joinQueries(exchange.backendQuery, exchange.queryText)
  const local = exchange.rewritten ?? exchange.path.slice(exchange.route?.stripLength ?? 0)
  const path = basePath + (local === "" && basePath === "" ? "/" : local)
  if (query === "") return path
  return `${path}${path.includes("?") ? "&" : "?"}${query}`
}

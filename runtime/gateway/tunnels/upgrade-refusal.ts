import type { Route } from "../../plan/resources.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { LiveExchange } from "../exchange/live-exchange.ts"

/** Why an upgrade must not be forwarded: a WebSocket needs everything in RFC 6455 §4.2.1. `webSocket`: the settings of its route. `taken`: the listener has handed over the connection. */
export function upgradeRefusal(
  { headers, intake }: LiveExchange,
  webSocket: Route["websocket"],
  taken: boolean,
): Problem | undefined {
  if (webSocket === null) return problem("not-implemented", { cause: "`websocket off`" })
  const key = headers.get("sec-websocket-key") ?? ""
  const isOne =
    taken &&
    intake.body === "none" &&
    headers.get("sec-websocket-version") === "13" &&
    /^[A-Za-z0-9+/]{22}==$/.test(key)
  if (isOne) return undefined
  return problem("invalid-request", {
    headers: ["sec-websocket-version", "13"],
    cause: "the upgrade is not a WebSocket upgrade",
  })
}

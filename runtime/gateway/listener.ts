import type { RawAnswerer } from "../http/server/connection-errors.ts"
import { sendRaw } from "../http/server/connection-errors.ts"
import type { Handle } from "../http/server/incoming.ts"
import { type Listener, openListener } from "../http/server/listener.ts"
import type { Address } from "../plan/resources.ts"
import { type Problem, problem } from "../policies/messages/answer.ts"
import { renderProblem } from "./exchange/problem.ts"

/** What a public listener needs besides its address. */
export interface GatewayListenerSettings {
  readonly headerBytesMax: number
  readonly headMs: number
  readonly handle: Handle
  readonly newId: () => string
  readonly refused: RefusalReport
  /** Listeners that the next plan does not have: they give up their address where it is in the way. */
  readonly leaving: readonly Listener[]
}

/** Told of what was refused before there was a request; `peer` is the address of the connection's other end. */
export type RefusalReport = (id: string, found: Problem, peer: string) => void

/**
 * Opens a public listener: one catch-all for the life of the process, because routing belongs to the generation. It serves in place of those that gave up their address until `activate`, or `discard`.
 * The pipeline judges heads itself (intake.ts) and watches bodies (patience.ts). @throws when the address cannot be had, with the code of the system (`EADDRINUSE`).
 */
export function openGatewayListener(address: Address, settings: GatewayListenerSettings): Promise<Listener> {
  const { headerBytesMax, headMs, handle, leaving } = settings
  return openListener(address, {
    limits: { headerBytesMax, headMs, requestMs: 0 },
    service: { kind: "handler", handle, webSockets: true },
    answerRaw: answererOf(settings),
    leaving,
  })
}

/** Answers on a connection that has no request, and tells of it. */
function answererOf({ newId, refused }: GatewayListenerSettings): RawAnswerer {
  return (socket, { name, cause }) => {
    const id = newId()
    const peer = socket.remoteAddress ?? ""
    const headers = name === "method-not-allowed" ? ["allow", ""] : undefined
    const found = problem(name, { cause, headers })
    // What is no request belongs to no plan either: the answer has the standard's form.
    const answer = renderProblem(found, id, "problem")
    sendRaw(socket, { ...answer, headers: [...answer.headers, "x-request-id", id] })
    refused(id, found, peer)
  }
}

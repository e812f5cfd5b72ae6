import type { IncomingMessage, ServerResponse } from "node:http"
import type { WaitingSocket } from "./upgraded-socket.ts"

/** What a request may see of the listener it came to. `closing`: answers end their connections, so that nobody sends another request on one. */
export interface ListenerState {
  readonly closing: boolean
}

/** The same, and whom it serves. */
export interface ListenerDoor extends ListenerState {
  /** Whether a connection that reached `local`, an address of this machine, is served: before its plan is the running one a listener stands in for those it replaces alone. */
  serves(local: string | undefined): boolean
}

/** A request with what is answered on. */
export interface IncomingExchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly listener: ListenerState
  /** The connection of a request that asks for a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
}

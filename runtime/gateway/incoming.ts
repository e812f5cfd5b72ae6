import type { IncomingMessage, ServerResponse } from "node:http"
import type { WaitingSocket } from "./upgraded-socket.ts"

/** What a request may see of the listener it came to. `closing`: answers end their connections, so that nobody sends another request on one. */
export interface ListenerState {
  readonly closing: boolean
}

/** A request with what is answered on. */
export interface IncomingExchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly listener: ListenerState
  /** The connection of a request that asks for a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
}

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** The connection of a client that waits for its WebSocket. */
export interface WaitingSocket {
  readonly socket: Socket
  /** Ends the waiting: its bytes are the caller's from now on. Returns those that came before. */
  takeOver(): Buffer
}

/** What a request may see of the listener it came to. `closing`: responses end their connections, so that no other request is sent on one. */
export interface ListenerState {
  readonly closing: boolean
}

/** The same, and whom it serves. */
export interface ListenerDoor extends ListenerState {
  /** Whether a connection that reached `local`, an address of this machine, is served: until `activate` a listener serves only in place of those that gave up their address for it. */
  serves(local: string | undefined): boolean
}

/** A request with what its response is written to. */
export interface IncomingExchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly listener: ListenerState
  /** The connection of a request that asks for a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
}

/** Takes a request. `target`: the request target as it was sent. */
export type Handle = (
  incoming: IncomingExchange & { readonly listener: ListenerDoor },
  target: string,
) => void

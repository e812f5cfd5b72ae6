import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { ListenerTls } from "./tls.ts"

/** The connection of a client that waits for its WebSocket. */
export interface WaitingSocket {
  readonly socket: Socket
  /** Ends the waiting: from now on the caller reads the socket. Returns the bytes that arrived before. */
  takeOver(): Buffer
}

/** How clients reach a listener. */
export interface Transport {
  /** Absent: plain HTTP. */
  readonly tls?: ListenerTls | undefined
  /** Whether connections from this address begin with a header of the PROXY protocol. Absent: none does. */
  readonly isProxy?: ((address: string) => boolean) | undefined
  /** Requests by plain HTTP are redirected to this port, with `https:`. Absent: they are served. */
  readonly redirectPort?: number | undefined
  /** Value of the Strict-Transport-Security field of every response (RFC 6797 §6.1). Absent: none. */
  readonly strictTransport?: string | undefined
}

/** The state of a listener for its requests. `closing`: responses close their connections, so that no other request follows. */
export interface ListenerState {
  readonly closing: boolean
  readonly transport: Transport
}

/** As `ListenerState`, and which connections it serves. */
export interface ListenerDoor extends ListenerState {
  /**
   * Whether the listener serves connections to `local`, an address of this machine. Until `activate` it serves only those of the listeners that
   * released their address for it.
   */
  serves(local: string | undefined): boolean
}

/** A request and its response. */
export interface IncomingExchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly listener: ListenerState
  /** The connection of a request that asks for a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
}

/** Handles a request. `target`: the request target as sent. */
export type Handle = (
  incoming: IncomingExchange & { readonly listener: ListenerDoor },
  target: string,
) => void

import type { Socket } from "node:net"

/** A connection that was upgraded, and what came behind the head of its answer. */
export interface UpgradedSocket {
  readonly socket: Socket
  readonly head: Buffer
}

/** The connection of a client that waits for its WebSocket. */
export interface WaitingSocket {
  readonly socket: Socket
  /** Ends the waiting: its bytes are the caller's from now on. Answers those that came before. */
  takeOver(): Buffer
}

/** A tunnel between a client and a backend. */
export interface OpenTunnel {
  /** Ends both sides. */
  close(): void
}

/** Told when a tunnel stands and when it has ended. */
export interface TunnelKeeper {
  tunnelOpened(tunnel: OpenTunnel): void
  tunnelEnded(tunnel: OpenTunnel): void
}

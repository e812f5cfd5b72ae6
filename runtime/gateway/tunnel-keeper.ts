import type { Socket } from "node:net"

/** The connection of a backend that was upgraded, and what came behind the head of its response. */
export interface UpgradedSocket {
  readonly socket: Socket
  readonly head: Buffer
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

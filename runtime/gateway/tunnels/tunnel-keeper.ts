/** A tunnel between a client and a backend. */
export interface OpenTunnel {
  /** Ends both sides. */
  close(): void
}

/** Notified when a tunnel has opened and when it has ended. */
export interface TunnelKeeper {
  tunnelOpened(tunnel: OpenTunnel): void
  tunnelEnded(tunnel: OpenTunnel): void
}

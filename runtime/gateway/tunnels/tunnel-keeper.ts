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

import type { Socket } from "node:net"
import { type SecureContext, Server as TlsServer } from "node:tls"

/** Finds the certificate that answers a TLS-ALPN-01 challenge for a host (RFC 8737 §3); undefined: there is no challenge. */
export type FindValidation = (host: string) => Promise<SecureContext | undefined>

/** The protocol of validations in the list of a ClientHello: its length, then its name (RFC 7301 §3.1). */
const offered = Buffer.from("\u000aacme-tls/1", "latin1")
/** A validation is one handshake, after which the authority closes the connection. */
const handshakeMs = 10_000

/**
 * Connections by which authorities validate hosts. They have a TLS server of their own: with its certificate, other clients of the host would not
 * trust it, and the usual one is not what the authority looks for.
 */
export class Validations {
  readonly #server: TlsServer

  constructor(find: FindValidation) {
    this.#server = new TlsServer({
      ALPNProtocols: ["acme-tls/1"],
      handshakeTimeout: handshakeMs,
      SNICallback: (host, done) => {
        find(host.toLowerCase()).then(
          (context) => (context === undefined ? done(new Error("no challenge")) : done(null, context)),
          (error: Error) => done(error),
        )
      },
    })
    // The server answers with its certificate alone: no request may follow (RFC 8737 §4).
    this.#server.on("secureConnection", (socket) => socket.end())
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy())
  }

  /** Takes a connection whose first bytes offer the protocol of validations; false: it is another one. */
  take(socket: Socket, bytes: Buffer): boolean {
    if (!bytes.includes(offered)) return false
    socket.unshift(bytes)
    this.#server.emit("connection", socket)
    return true
  }
}

import { constants } from "node:crypto"
import type { Socket } from "node:net"
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
  type TlsOptions,
  Server as TlsServer,
} from "node:tls"
import type { ClientTrust, ClientTrusts } from "./client-trust.ts"
import { type FindStaple, stapleBy } from "./ocsp-staples.ts"
import { takePeerCertificate } from "./peer-certificate.ts"
import type { ServerCertificate, ServerCertificates } from "./server-certificates.ts"

/** The parts of a listener's TLS that ask clients for certificates. */
export interface AskingTlsSettings {
  /** The options of the listener's other connections. */
  readonly options: TlsOptions & SecureContextOptions
  readonly certificates: ServerCertificates
  readonly trusts: ClientTrusts
  readonly findStaple: FindStaple | undefined
  /** Why a client gets no certificate, if none has the host that it names. Undefined: it gets the first one. */
  refusalOf(servername: string): Error | undefined
  /** The handshake is complete. `refused`: why the client may not send requests. */
  secured(socket: TLSSocket, refused: string | undefined): void
  failed(error: Error, socket: Socket): void
}

/**
 * Asks clients for certificates. It has a server of its own, because Node asks all clients of a server or none, and no session is resumed on it: a
 * resumed session is not verified again, so a certificate that was revoked meanwhile would stay valid (measured with Node 20: `authorized` is true). A
 * resumed handshake of TLS 1.3 costs the same CPU time as a whole one.
 */
export class AskingTls {
  readonly #server: TlsServer
  readonly #settings: AskingTlsSettings
  readonly #contexts = new Map<ClientTrust, Map<ServerCertificate | undefined, SecureContext>>()

  /** @throws Error when OpenSSL refuses the authorities or the revocation lists */
  constructor(settings: AskingTlsSettings) {
    this.#settings = settings
    const { options, certificates, trusts } = settings
    for (const trust of trusts.all) this.#contextOf(trust, certificates.first)
    this.#server = new TlsServer({
      ...options,
      // For clients that name no host.
      ...trusts.find("")?.contextOptions,
      requestCert: true,
      // A client that is refused gets a response that says why.
      rejectUnauthorized: false,
      secureOptions: constants.SSL_OP_NO_TICKET,
      SNICallback: (servername, done) => {
        const trust = trusts.find(servername)
        const own = certificates.certificateOf(servername)
        const refusal = own === undefined ? settings.refusalOf(servername) : undefined
        if (refusal !== undefined) done(refusal)
        else if (trust === undefined) done(new Error("this host has no client certificates"))
        else done(null, this.#contextOf(trust, own ?? certificates.first))
      },
    })
    stapleBy(this.#server, settings.findStaple)
    this.#server.on("secureConnection", (socket) => this.#secured(socket))
    this.#server.on("tlsClientError", (error, socket) => settings.failed(error, socket))
  }

  take(socket: Socket): void {
    this.#server.emit("connection", socket)
  }

  #contextOf(trust: ClientTrust, certificate: ServerCertificate | undefined): SecureContext {
    let ofTrust = this.#contexts.get(trust)
    if (ofTrust === undefined) {
      ofTrust = new Map()
      this.#contexts.set(trust, ofTrust)
    }
    let context = ofTrust.get(certificate)
    if (context === undefined) {
      const { cert, key } = certificate ?? {}
      context = createSecureContext({ ...this.#settings.options, ...trust.contextOptions, cert, key })
      ofTrust.set(certificate, context)
    }
    return context
  }

  #secured(socket: TLSSocket): void {
    const trust = this.#settings.trusts.find(socket.servername || "")
    // The first message was read in another way than OpenSSL reads it.
    if (trust === undefined) {
      this.#settings.failed(new Error("another host in the handshake"), socket)
      return
    }
    const found = takePeerCertificate(socket, trust)
    const fault = found === undefined ? "the client presented none" : found.faultBy(trust)
    this.#settings.secured(socket, trust.demand === "require" ? fault : undefined)
  }
}

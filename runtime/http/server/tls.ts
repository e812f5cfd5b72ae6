import { randomBytes } from "node:crypto"
import type { Socket } from "node:net"
import { type SecureContext, type TLSSocket, Server as TlsServer } from "node:tls"
import { type ServerCertificate, ServerCertificates, type ShownCertificate } from "./server-certificates.ts"

/** How a listener speaks TLS. */
export interface ListenerTlsSettings {
  /** At least one; the first is the default. */
  readonly certificates: readonly ServerCertificate[]
  /** Protocol versions and ciphers, as Mozilla recommends them (see `profiles`). */
  readonly profile: TlsProfile
  /** Whether clients that name no host of a certificate are refused (default: they get the first certificate). */
  readonly refusesUnknownHosts: boolean
}

/** Which protocol versions and ciphers a listener accepts. */
export type TlsProfile = "modern" | "intermediate"

/** Why a connection ended before its handshake was complete. `protocol`: no common version or cipher, or a broken message. */
export type HandshakeFailure = "plain-http" | "not-tls" | "unknown-host" | "timeout" | "closed" | "protocol"

/** What a listener does with the connections of its TLS. */
export interface TlsHooks {
  /** The handshake is complete. */
  secured(socket: TLSSocket): void
  /** The client sent HTTP without TLS: the hook answers on the socket, and closes it. */
  plainHttp(socket: Socket): void
  failed(failure: HandshakeFailure): void
}

/** Mozilla's recommendations for servers, version 5.7 (https://ssl-config.mozilla.org/guidelines/5.7.json). Clients choose the cipher, because they know which one their hardware computes fast. */
const profiles = {
  modern: { minVersion: "TLSv1.3" },
  intermediate: {
    minVersion: "TLSv1.2",
    ciphers: [
      "TLS_AES_128_GCM_SHA256",
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
      "ECDHE-ECDSA-AES128-GCM-SHA256",
      "ECDHE-RSA-AES128-GCM-SHA256",
      "ECDHE-ECDSA-AES256-GCM-SHA384",
      "ECDHE-RSA-AES256-GCM-SHA384",
      "ECDHE-ECDSA-CHACHA20-POLY1305",
      "ECDHE-RSA-CHACHA20-POLY1305",
    ].join(":"),
  },
} as const

const curves = "X25519:prime256v1:secp384r1"

/** A handshake takes one or two round trips; slower ones are the cheapest attack. */
const handshakeMs = 10_000
/** How long the keys of session tickets are used: who takes them can read the TLS 1.2 sessions of this time. */
const ticketKeysMs = 12 * 3_600_000
/** The first byte of a TLS record with a handshake (RFC 8446 §5.1). */
const handshakeRecord = 0x16

/**
 * The TLS of one listener: it turns accepted connections into encrypted ones. It has no address of its own, so a listener can replace it while the
 * connections of the earlier one continue.
 */
export class ListenerTls {
  readonly #server: TlsServer
  readonly #certificates: ServerCertificates
  readonly #refusesUnknownHosts: boolean
  #hooks: TlsHooks | undefined
  #ticketKeysSince = Date.now()

  /** @throws Error when a certificate cannot be used */
  constructor({ certificates, profile, refusesUnknownHosts }: ListenerTlsSettings) {
    const protocol = { ...profiles[profile], ecdhCurve: curves }
    this.#certificates = new ServerCertificates(certificates, protocol)
    this.#refusesUnknownHosts = refusesUnknownHosts
    const { cert, key } = this.#certificates.first
    this.#server = new TlsServer({
      ...{ ...protocol, cert, key },
      handshakeTimeout: handshakeMs,
      ALPNProtocols: ["http/1.1"],
      SNICallback: (servername, done) => this.#choose(servername, done),
    })
    this.#server.on("secureConnection", (socket) => this.#secured(socket))
    this.#server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      socket.destroy()
      this.#hooks?.failed(failureOf(error))
    })
  }

  get certificates(): readonly ShownCertificate[] {
    return this.#certificates.shown
  }

  /** Takes an accepted connection of its listener, which passes the same hooks each time. Its first byte shows whether the client speaks TLS. */
  take(socket: Socket, hooks: TlsHooks): void {
    this.#hooks = hooks
    const late = setTimeout(() => {
      socket.destroy()
      this.#hooks?.failed("timeout")
    }, handshakeMs)
    socket.once("error", () => socket.destroy())
    socket.once("close", () => clearTimeout(late))
    socket.once("readable", () => {
      clearTimeout(late)
      const bytes = socket.read() as Buffer | null
      if (bytes === null) {
        socket.destroy()
        this.#hooks?.failed("closed")
        return
      }
      socket.unshift(bytes)
      if (bytes[0] === handshakeRecord) this.#encrypt(socket)
      else this.#refuse(socket, bytes)
    })
  }

  #encrypt(socket: Socket): void {
    if (Date.now() - this.#ticketKeysSince > ticketKeysMs) {
      this.#ticketKeysSince = Date.now()
      this.#server.setTicketKeys(randomBytes(48))
    }
    this.#server.emit("connection", socket)
  }

  #refuse(socket: Socket, bytes: Buffer): void {
    const isHttp = methodStart.test(bytes.toString("latin1", 0, 16))
    this.#hooks?.failed(isHttp ? "plain-http" : "not-tls")
    if (isHttp) this.#hooks?.plainHttp(socket)
    else socket.destroy()
  }

  #choose(servername: string, done: (error: Error | null, context?: SecureContext) => void): void {
    const found = this.#certificates.find(servername)
    if (found !== undefined) done(null, found)
    else if (this.#refusesUnknownHosts) done(new UnknownHost())
    else done(null)
  }

  #secured(socket: TLSSocket): void {
    // Clients that send no name do not reach `#choose`.
    if (this.#refusesUnknownHosts && !socket.servername) {
      socket.destroy()
      this.#hooks?.failed("unknown-host")
      return
    }
    this.#hooks?.secured(socket)
  }
}

/** Connections of the listeners of one side that ended before their handshake was complete, by reason. */
export class HandshakeFailures {
  readonly #counts = new Map<HandshakeFailure, number>()

  readonly count = (failure: HandshakeFailure): void => {
    this.#counts.set(failure, (this.#counts.get(failure) ?? 0) + 1)
  }

  get counts(): ReadonlyMap<HandshakeFailure, number> {
    return this.#counts
  }
}

const methodStart = /^[A-Z]{3,16}[ A-Z]/

/** A client that names a host which no certificate has. */
class UnknownHost extends Error {}

function failureOf(error: NodeJS.ErrnoException): HandshakeFailure {
  if (error instanceof UnknownHost) return "unknown-host"
  if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") return "timeout"
  return error.code === "ECONNRESET" || error.code === "EPIPE" ? "closed" : "protocol"
}

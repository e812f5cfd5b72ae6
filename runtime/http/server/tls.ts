import type { Socket } from "node:net"
import { type SecureContext, type TLSSocket, Server as TlsServer } from "node:tls"
import { AskingTls, type AskingTlsSettings } from "./asking-tls.ts"
import { namedHost } from "./client-hello.ts"
import { type ClientTrust, ClientTrusts, type ShownRevocationList } from "./client-trust.ts"
import { EventCounts } from "./event-counts.ts"
import { readFirstBytes } from "./first-bytes.ts"
import { handshakes } from "./handshake-queue.ts"
import { type FindStaple, stapleBy } from "./ocsp-staples.ts"
import { peerCertificateOf } from "./peer-certificate.ts"
import type { RequestFault } from "./request-fault.ts"
import {
  type AwaitedCertificate,
  type ServerCertificate,
  ServerCertificates,
  type ShownCertificate,
} from "./server-certificates.ts"
import { TicketKeys } from "./ticket-keys.ts"
import { type FindValidation, Validations } from "./validations.ts"

/** How a listener speaks TLS. */
export interface ListenerTlsSettings {
  /** At least one; the first is the default. */
  readonly certificates: readonly (ServerCertificate | AwaitedCertificate)[]
  /** Protocol versions and ciphers, as Mozilla recommends them (see `profiles`). */
  readonly profile: TlsProfile
  /** Whether clients that name no host of a certificate are refused (default: they get the first certificate). */
  readonly refusesUnknownHosts: boolean
  /** Whose client certificates are asked for, by host (default: none). */
  readonly clientTrusts?: readonly ClientTrust[] | undefined
  /** Finds the certificates that answer TLS-ALPN-01 challenges. Absent: such connections are handled as others. */
  readonly findValidation?: FindValidation | undefined
  /** Whether clients may use HTTP/2 (default: no). Those that know it prefer it to HTTP/1.1. */
  readonly http2?: boolean
  /** Finds the OCSP response to staple for a certificate, both DER (default: none). */
  readonly findStaple?: FindStaple | undefined
  /** The keys of its session tickets (default: keys of its own). */
  readonly tickets?: ListenerTickets | undefined
}

/** The keys of the session tickets of one listener. `listener`: its name, equal in all processes and plans. */
export interface ListenerTickets {
  readonly keys: TicketKeys
  readonly listener: string
}

/** Which protocol versions and ciphers a listener accepts. */
export type TlsProfile = "modern" | "intermediate"

/** Why a connection ended before its handshake was complete. `protocol`: no common version or cipher, or a broken message. */
export type HandshakeFailure =
  | "plain-http"
  | "not-tls"
  | "unknown-host"
  | "client-certificate"
  | "no-certificate"
  | "timeout"
  | "closed"
  | "protocol"

/** What a listener does with the connections of its TLS. */
export interface TlsHooks {
  /** The handshake is complete. */
  secured(socket: TLSSocket): void
  /** The client sent HTTP without TLS: the hook answers on the socket, and closes it. */
  plainHttp(socket: Socket): void
  /** The client may not send requests: the hook answers on the socket, and closes it. */
  refused(socket: Socket, fault: RequestFault): void
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
/** The first byte of a TLS record with a handshake (RFC 8446 §5.1). */
const handshakeRecord = 0x16

/**
 * The TLS of one listener: it turns accepted connections into encrypted ones. It has no address of its own, so a listener can replace it while the
 * connections of the earlier one continue.
 */
export class ListenerTls {
  readonly #settings: ListenerTlsSettings
  readonly #server: TlsServer
  readonly #certificates: ServerCertificates
  readonly #refusesUnknownHosts: boolean
  readonly #trusts: ClientTrusts
  /** Undefined: no client is asked for a certificate. */
  readonly #asking: AskingTls | undefined
  readonly #validations: Validations | undefined
  #hooks: TlsHooks | undefined
  readonly #tickets: ListenerTickets
  #ticketPeriod: number

  /** @throws Error when a certificate cannot be used */
  constructor(settings: ListenerTlsSettings) {
    this.#settings = settings
    const { certificates, profile, refusesUnknownHosts, clientTrusts = [] } = settings
    const { findValidation, findStaple, http2 = false, tickets } = settings
    const protocol = { ...profiles[profile], ecdhCurve: curves }
    this.#certificates = new ServerCertificates(certificates, protocol)
    this.#refusesUnknownHosts = refusesUnknownHosts
    this.#validations = findValidation && new Validations(findValidation)
    const { cert, key } = this.#certificates.first ?? {}
    const options = {
      ...{ ...protocol, cert, key },
      handshakeTimeout: handshakeMs,
      ALPNProtocols: http2 ? ["h2", "http/1.1"] : ["http/1.1"],
    }
    this.#trusts = new ClientTrusts(clientTrusts)
    this.#asking = clientTrusts.length === 0 ? undefined : this.#newAsking(options, findStaple)
    this.#tickets = tickets ?? { keys: new TicketKeys(), listener: "" }
    this.#ticketPeriod = this.#tickets.keys.period
    this.#server = new TlsServer({
      ...options,
      ticketKeys: this.#tickets.keys.keyOf(this.#tickets.listener),
      SNICallback: (servername, done) => this.#choose(servername, done),
    })
    stapleBy(this.#server, findStaple)
    this.#server.on("secureConnection", (socket) => this.#unasked(socket))
    this.#server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => this.#failed(error, socket))
  }

  #newAsking(options: AskingTlsSettings["options"], findStaple: FindStaple | undefined): AskingTls {
    return new AskingTls({
      ...{ options, findStaple, certificates: this.#certificates, trusts: this.#trusts },
      refusalOf: (servername) => this.#refusalOf(servername),
      secured: (socket, refused) => {
        // With HTTP/2, each request is answered: the response cannot come before the first of them.
        if (refused === undefined || socket.alpnProtocol === "h2") this.#secured(socket)
        else this.#refuseCertificate(socket, refused)
      },
      failed: (error, socket) => this.#failed(error, socket),
    })
  }

  #failed(error: NodeJS.ErrnoException, socket: Socket): void {
    socket.destroy()
    const failure = failureOf(error)
    // Without a certificate, OpenSSL finds no common cipher with a client that names no host.
    const isAwaited = failure === "protocol" && this.#certificates.isAwaited("")
    this.#hooks?.failed(isAwaited ? "no-certificate" : failure)
  }

  /** Waits for the client's first bytes: a response that comes before them could be lost with the connection. */
  #refuseCertificate(socket: TLSSocket, cause: string): void {
    this.#hooks?.failed("client-certificate")
    const late = setTimeout(() => socket.destroy(), handshakeMs)
    socket.once("error", () => socket.destroy())
    socket.once("close", () => clearTimeout(late))
    socket.once("data", () => {
      this.#hooks?.refused(socket, { name: "certificate-required", cause: certificateCause(cause) })
    })
  }

  /**
   * Whether one with these settings would be the same, so that this one can stay: OpenSSL takes 5 ms to read a certificate and its key. Never where client
   * certificates or TLS-ALPN-01 challenges are asked for.
   */
  fits(settings: ListenerTlsSettings): boolean {
    const [own, other] = [partsOf(this.#settings), partsOf(settings)]
    return own !== undefined && other?.length === own.length && own.every((part, at) => part === other[at])
  }

  /** Whose client certificates are valid on a connection; undefined: it asked for none. */
  trustOf(socket: Socket): ClientTrust | undefined {
    return this.#trusts.find((socket as TLSSocket).servername || "")
  }

  /** The revocation lists in use. */
  get revocationLists(): readonly ShownRevocationList[] {
    return this.#trusts.all.flatMap(({ revocationLists }) => revocationLists)
  }

  /**
   * Why a request on an open connection is refused: its certificate is no longer valid, or it names another host than its connection, whose
   * certificates differ (RFC 9110 §15.5.20). `host`: the Host field.
   */
  faultOf(socket: Socket, host: string): RequestFault | undefined {
    if (this.#asking === undefined) return undefined
    const trust = this.trustOf(socket)
    if (this.#trusts.differ && this.#trusts.find(host.replace(/:\d*$/, "")) !== trust)
      return {
        name: "misdirected",
        cause: "Host differs from the host of the TLS connection, and their client certificates differ",
      }
    if (trust?.demand !== "require") return undefined
    const certificate = peerCertificateOf(socket)
    const fault = certificate === undefined ? "the client presented none" : certificate.faultBy(trust)
    return fault === undefined ? undefined : { name: "certificate-required", cause: certificateCause(fault) }
  }

  get certificates(): readonly ShownCertificate[] {
    return this.#certificates.shown
  }

  /** What its certificates are made of. */
  get sources(): readonly ServerCertificate[] {
    return this.#certificates.sources
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
    readFirstBytes(socket, {
      judge: (bytes) => this.#beginningOf(bytes),
      take: (beginning, bytes) => {
        if (beginning === "no-tls") {
          clearTimeout(late)
          socket.unshift(bytes)
          this.#refuse(socket, bytes)
          return
        }
        handshakes.add(socket.remoteAddress ?? "", socket, () => {
          clearTimeout(late)
          if (this.#validations?.take(socket, bytes) === true) return
          socket.unshift(bytes)
          this.#encrypt(socket, beginning.host ?? "")
        })
      },
      closed: () => {
        socket.destroy()
        this.#hooks?.failed("closed")
      },
    })
  }

  /** The host of a handshake is read only where something depends on it before OpenSSL has read it. */
  #beginningOf(bytes: Buffer): { readonly host: string | undefined } | "no-tls" | "more" {
    if (bytes[0] !== handshakeRecord) return "no-tls"
    return this.#trusts.differ || this.#validations !== undefined ? namedHost(bytes) : { host: undefined }
  }

  #encrypt(socket: Socket, host: string): void {
    if (this.#asking !== undefined && this.#trusts.find(host) !== undefined) {
      this.#asking.take(socket)
      return
    }
    const { keys, listener } = this.#tickets
    if (keys.period !== this.#ticketPeriod) {
      this.#ticketPeriod = keys.period
      this.#server.setTicketKeys(keys.keyOf(listener))
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
    const refusal = found === undefined ? this.#refusalOf(servername) : undefined
    if (refusal !== undefined) done(refusal)
    else if (found !== undefined) done(null, found)
    else done(null)
  }

  /** Why a client gets no certificate, if none has the host that it names. Undefined: it gets the first one. */
  #refusalOf(servername: string): Error | undefined {
    if (this.#certificates.isAwaited(servername)) return new CertificateAwaited()
    return this.#refusesUnknownHosts ? new UnknownHost() : undefined
  }

  #unasked(socket: TLSSocket): void {
    if (this.trustOf(socket) === undefined) this.#secured(socket)
    // A first message that was read in another way than OpenSSL reads it must not avoid the certificate.
    else this.#failed(new Error("another host in the handshake"), socket)
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

/** Everything that settings consist of, to be compared part by part; undefined: they cannot be compared. */
function partsOf(settings: ListenerTlsSettings): readonly unknown[] | undefined {
  const { certificates, profile, refusesUnknownHosts, clientTrusts, findValidation, ...more } = settings
  const { http2 = false, findStaple, tickets } = more
  if (clientTrusts !== undefined || findValidation !== undefined) return undefined
  const shown = certificates.flatMap((each): unknown[] =>
    "cert" in each
      ? [each.name, each.cert, each.key, each.staples]
      : [each.name, "awaited", ...each.hosts, each.hosts.length],
  )
  return [profile, refusesUnknownHosts, http2, findStaple, tickets?.keys, tickets?.listener, ...shown]
}

/** Connections of the listeners of one side that ended before their handshake was complete, by reason. */
export class HandshakeFailures extends EventCounts<HandshakeFailure> {}

function certificateCause(fault: string): string {
  return `the client certificate is not accepted: ${fault}`
}

const methodStart = /^[A-Z]{3,16}[ A-Z]/

/** A client that names a host which no certificate has. */
class UnknownHost extends Error {}

/** A client that names a host whose certificate is not there yet. */
class CertificateAwaited extends Error {}

function failureOf(error: NodeJS.ErrnoException): HandshakeFailure {
  if (error instanceof CertificateAwaited) return "no-certificate"
  if (error instanceof UnknownHost) return "unknown-host"
  if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") return "timeout"
  return error.code === "ECONNRESET" || error.code === "EPIPE" ? "closed" : "protocol"
}

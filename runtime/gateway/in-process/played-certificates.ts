import { createHash, type X509Certificate } from "node:crypto"
import type { Socket } from "node:net"
import { ClientTrust, ClientTrusts } from "../../http/server/client-trust.ts"
import type { ListenerState } from "../../http/server/incoming.ts"
import { PeerCertificate, presentCertificate } from "../../http/server/peer-certificate.ts"
import type { ListenerTls } from "../../http/server/tls.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { PresentedCertificate } from "./world.ts"

/** What OpenSSL says of a certificate that it does not accept. */
const codes: Readonly<Record<NonNullable<PresentedCertificate["fails"]>, string>> = {
  expired: "CERT_HAS_EXPIRED",
  revoked: "CERT_REVOKED",
  untrusted: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
}
const farAway = "Dec 31 23:59:59 9999 GMT"

/**
 * Presents certificates that are only described, as if a handshake had verified them: everything after the handshake reads them like real ones. The first listener of
 * the plan that asks for certificates gets them, with the host of the request as the host of the handshake.
 */
export class PlayedCertificates {
  readonly #trusts: ClientTrusts | undefined

  constructor({ gateway }: PlanBody) {
    const asked = gateway?.listen.find(({ tls }) => tls?.clientCertificates !== undefined)
    this.#trusts =
      asked &&
      new ClientTrusts(
        (asked.tls?.clientCertificates ?? []).map(
          ({ demand, hosts, revoked }) =>
            // No chain is judged by files: the handshake is said to have done it.
            new ClientTrust({ demand, hosts, authorities: [], revoked: revoked && [] }),
        ),
      )
  }

  /** Puts the certificate on the connection, and returns the listener. @throws Error when no listener asks this host's clients for certificates */
  present(socket: Socket, host: string, presented: PresentedCertificate): ListenerState {
    const trust = this.#trusts?.find(host.replace(/:\d*$/, ""))
    if (trust === undefined)
      throw new Error(`no listener of the gateway asks clients of \`${host}\` for certificates`)
    const code = presented.fails === undefined ? undefined : codes[presented.fails]
    const certificate = new PeerCertificate([leafOf(presented)], trust, code)
    presentCertificate(socket, certificate)
    const tls = {
      trustOf: () => trust,
      faultOf: () => {
        const cause = trust.demand === "require" ? certificate.faultBy(trust) : undefined
        return cause === undefined ? undefined : { name: "certificate-required", cause }
      },
    }
    // The pipeline asks the TLS of a listener for nothing else.
    return { closing: false, transport: { tls: tls as unknown as ListenerTls } }
  }
}

/** What `PeerCertificate` reads of a certificate. Its bytes, which `forward` sends, are the description instead of DER. */
function leafOf(presented: PresentedCertificate): X509Certificate {
  const { subject, issuer, names, serial, thumbprint = "" } = presented
  const raw = Buffer.from(JSON.stringify(presented))
  const digest = (algorithm: string, length: number) =>
    thumbprint.length === length ? thumbprint : createHash(algorithm).update(raw).digest("hex")
  const CN = commonNamesIn(subject)
  const leaf = {
    ...{ subject, issuer, raw, validTo: farAway, serialNumber: serial ?? "01" },
    subjectAltName: names.map(({ kind, value }) => `${labels[kind]}:${JSON.stringify(value)}`).join(", "),
    fingerprint: pairsOf(digest("sha1", 40)),
    fingerprint256: pairsOf(digest("sha256", 64)),
    toLegacyObject: () => ({ subject: CN.length === 0 ? {} : { CN: CN.length === 1 ? CN[0] : CN } }),
  }
  return leaf as unknown as X509Certificate
}

const labels = { dns: "DNS", uri: "URI", email: "email", ip: "IP Address" } as const

/** The common names of a name in the spelling of `canonicalName`. */
function commonNamesIn(name: string): string[] {
  return [...name.matchAll(/(?:^|[,+])CN=((?:\\.|[^\\,+])*)/g)].map(([, value = ""]) =>
    value.replace(/\\(.)/g, "$1"),
  )
}

/** `AB:CD:…`, as Node writes a fingerprint. */
function pairsOf(hex: string): string {
  return (hex.toUpperCase().match(/../g) ?? []).join(":")
}

import type { X509Certificate } from "node:crypto"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { canonicalNameOf } from "../../plan/distinguished-name.ts"
import { type ClientTrust, certificateFaults } from "./client-trust.ts"

/** Kinds of names in a certificate that clients are known by (RFC 5280 §4.2.1.6). */
export type AlternativeNameKind = "dns" | "uri" | "email" | "ip"

/** A name in the extension subjectAltName. */
export interface AlternativeName {
  readonly kind: AlternativeNameKind
  readonly value: string
}

/** The certificate that a client presented, and whether the listener verified it. */
export class PeerCertificate {
  readonly leaf: X509Certificate
  /** The chain, leaf first, without a self-signed root. */
  readonly chain: readonly X509Certificate[]
  /** Why the handshake did not verify it, without the certificate's own words; undefined: it did. */
  readonly #fault: string | undefined
  readonly #trust: ClientTrust
  readonly #endsMs: number
  /** What the trust in force says: files may have changed since the handshake. */
  #view: View | undefined
  #names: readonly AlternativeName[] | undefined

  constructor(chain: readonly X509Certificate[], trust: ClientTrust, code: string | undefined) {
    this.leaf = chain[0] as X509Certificate
    this.chain = chain
    this.#trust = trust
    this.#fault = code === undefined ? undefined : (certificateFaults[code] ?? `OpenSSL says ${code}`)
    this.#endsMs = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)))
  }

  /** Why it is not valid now, by the trust in force for the host of its connection. Undefined: it is verified. */
  faultBy(trust: ClientTrust | undefined): string | undefined {
    if (this.#fault !== undefined) return this.#fault
    if (trust === undefined) return "the listener no longer verifies client certificates"
    if (this.#view?.trust !== trust) this.#view = this.#viewBy(trust)
    const now = Date.now()
    if (this.#endsMs < now) return certificateFaults["CERT_HAS_EXPIRED"]
    return (
      this.#view.fault ?? (this.#view.listsEndMs < now ? certificateFaults["CRL_HAS_EXPIRED"] : undefined)
    )
  }

  #viewBy(trust: ClientTrust): View {
    const fault = trust.digest === this.#trust.digest ? undefined : trust.faultOf(this.chain)
    return { trust, fault, listsEndMs: trust.listsEndMs(this.chain) }
  }

  /** In the spelling of `canonicalName`; undefined when it has no text. */
  get subject(): string | undefined {
    return canonicalNameOf(this.leaf.subject)
  }

  /** The only common name of the subject; undefined when there is none, or several. */
  get commonName(): string | undefined {
    const { CN: name } = this.leaf.toLegacyObject().subject as { readonly CN?: string | string[] }
    return typeof name === "string" ? name : undefined
  }

  get issuer(): string | undefined {
    return canonicalNameOf(this.leaf.issuer)
  }

  get alternativeNames(): readonly AlternativeName[] {
    this.#names ??= namesIn(this.leaf.subjectAltName ?? "")
    return this.#names
  }

  /** Whether the listener checked that it is not revoked. */
  get checkedForRevocation(): boolean {
    return this.#trust.checksRevocation
  }

  /** SHA-1 of the certificate in DER, in capital hexadecimal: the thumbprint of .NET. */
  get sha1Thumbprint(): string {
    return this.leaf.fingerprint.replaceAll(":", "")
  }

  /** SHA-256 of the certificate in DER, in lower-case hexadecimal. */
  get thumbprint(): string {
    return this.leaf.fingerprint256.replaceAll(":", "").toLowerCase()
  }
}

const kinds: Readonly<Record<string, AlternativeNameKind>> = {
  DNS: "dns",
  URI: "uri",
  email: "email",
  "IP Address": "ip",
}

/** Reads `DNS:a.example, URI:"spiffe://a, b"`: Node writes a value in the quotes of JSON when it has a character with a meaning. */
function namesIn(text: string): AlternativeName[] {
  const names: AlternativeName[] = []
  for (const [, label = "", quoted, plain = ""] of text.matchAll(
    /(?:^|, )([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,"]*))(?=, |$)/g,
  )) {
    const kind = kinds[label]
    if (kind === undefined) continue
    const value = quoted === undefined ? plain : (JSON.parse(quoted) as string)
    names.push({ kind, value: kind === "dns" ? value.toLowerCase() : value })
  }
  return names
}

const presented = Symbol("client certificate")

interface Presenting {
  [presented]?: PeerCertificate
}

/** Reads the certificate after the handshake, once: in TLS 1.2 a client may show another one later. */
export function takePeerCertificate(socket: TLSSocket, trust: ClientTrust): PeerCertificate | undefined {
  const leaf = socket.getPeerX509Certificate()
  if (leaf === undefined) return undefined
  const chain: X509Certificate[] = [leaf]
  for (let next = leaf.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (next.subject === next.issuer && next.checkIssued(next)) break
    chain.push(next)
  }
  const code = socket.authorized ? undefined : String(socket.authorizationError ?? "unknown")
  const found = new PeerCertificate(chain, trust, code)
  presentCertificate(socket, found)
  return found
}

/** Notes the certificate that the client of a connection presented. */
export function presentCertificate(socket: Socket, certificate: PeerCertificate): void {
  ;(socket as Presenting)[presented] = certificate
}

/** A certificate by a trust in force. */
interface View {
  readonly trust: ClientTrust
  readonly fault: string | undefined
  readonly listsEndMs: number
}

/** The certificate that the client of a connection presented; undefined when there is none. */
export function peerCertificateOf(socket: Socket): PeerCertificate | undefined {
  return (socket as Presenting)[presented]
}

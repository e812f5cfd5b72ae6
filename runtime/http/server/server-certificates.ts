import { X509Certificate } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"

/** A server certificate: PEM with its intermediate certificates, and its private key as PEM. `name`: how messages name it. */
export interface ServerCertificate {
  readonly name: string
  readonly cert: string
  readonly key: string
  /** False: no OCSP response is stapled to its handshakes. */
  readonly staples?: boolean | undefined
}

/** A certificate that is not there yet: handshakes for its hosts fail. */
export interface AwaitedCertificate {
  readonly name: string
  /** In lower case. */
  readonly hosts: readonly string[]
}

/** A certificate that a listener shows. `hosts`: its names in lower case, with `*.` for wildcards. */
export interface ShownCertificate {
  readonly name: string
  readonly hosts: readonly string[]
  readonly notAfter: Date
}

/** Settings of all certificates of a listener, as `createSecureContext` has them. */
type ContextOptions = Omit<Parameters<typeof createSecureContext>[0] & object, "cert" | "key">

/** The host names of a certificate, in lower case (RFC 6125 §6.4: the common name counts only without such names). */
function namesOf(certificate: X509Certificate): string[] {
  const listed = certificate.subjectAltName
  if (listed === undefined) {
    const common = /(?:^|\n)CN=([^\n]*)$/m.exec(certificate.subject)?.[1]
    return common === undefined ? [] : [plain(common)]
  }
  // OpenSSL puts a name with unusual characters in quotes; no host name has such.
  return listed.split(", ").flatMap((entry) => (entry.startsWith("DNS:") ? [plain(entry.slice(4))] : []))
}

/** The certificates of a listener by host name: an exact name first, then a wildcard for one label (RFC 6125 §6.4.3). */
export class ServerCertificates {
  /** The certificate of clients that name no host; undefined: it is awaited. */
  readonly first: ServerCertificate | undefined
  readonly shown: readonly ShownCertificate[]
  /** Those that are there. */
  readonly sources: readonly ServerCertificate[]
  readonly #exact = new Map<string, SecureContext>()
  /** By the name behind `*.`. */
  readonly #wildcard = new Map<string, SecureContext>()
  readonly #sources = new Map<SecureContext, ServerCertificate>()
  readonly #awaited = new Set<string>()

  /**
   * The first certificate is the default. When two certificates have the same name, the earlier one is used.
   * @throws Error when a certificate cannot be used, for example because its key is too short for OpenSSL's security level
   */
  constructor(all: readonly (ServerCertificate | AwaitedCertificate)[], options: ContextOptions) {
    const [first] = all
    if (first === undefined) throw new Error("a TLS listener needs a certificate")
    this.first = "cert" in first ? first : undefined
    for (const each of all) if (!("cert" in each)) for (const host of each.hosts) this.#awaited.add(host)
    const certificates = all.filter((each) => "cert" in each)
    const contexts = certificates.map((each) => contextOf(each, options))
    contexts.forEach((context, index) => {
      this.#sources.set(context, certificates[index] as ServerCertificate)
    })
    this.sources = certificates
    this.shown = certificates.map(shownOf)
    this.shown.forEach(({ hosts }, index) => {
      const context = contexts[index] as SecureContext
      for (const name of hosts) {
        const [table, key] = name.startsWith("*.")
          ? ([this.#wildcard, name.slice(2)] as const)
          : ([this.#exact, name] as const)
        if (!table.has(key)) table.set(key, context)
      }
    })
  }

  /** The context for a host name as the client sent it; undefined when no certificate has the name. */
  find(servername: string): SecureContext | undefined {
    const name = plain(servername)
    return this.#exact.get(name) ?? this.#wildcard.get(name.slice(name.indexOf(".") + 1))
  }

  /** The certificate for a host name, as `find`. */
  certificateOf(servername: string): ServerCertificate | undefined {
    const context = this.find(servername)
    return context && this.#sources.get(context)
  }

  /** Whether the certificate for a host is awaited: no other certificate may be shown for it. `servername` as sent; empty: no host is named. */
  isAwaited(servername: string): boolean {
    return (
      this.#awaited.has(plain(servername)) ||
      (this.first === undefined && this.find(servername) === undefined)
    )
  }
}

function shownOf({ name, cert }: ServerCertificate): ShownCertificate {
  const certificate = new X509Certificate(cert)
  return { name, hosts: namesOf(certificate), notAfter: new Date(certificate.validTo) }
}

function contextOf({ name, cert, key }: ServerCertificate, options: ContextOptions): SecureContext {
  try {
    return createSecureContext({ ...options, cert, key })
  } catch (error) {
    throw new Error(`OpenSSL refuses certificate \`${name}\`: ${(error as Error).message}`)
  }
}

/** In lower case, without the dot of the DNS root: clients may send both (RFC 6066 §3 forbids only the dot). */
function plain(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith(".") ? lower.slice(0, -1) : lower
}

import { createHash, type X509Certificate } from "node:crypto"
import { certificatesIn } from "../../plan/certificate-pair.ts"
import { type RevocationList, readRevocationLists } from "./revocation-list.ts"

/** Whether clients without a valid certificate are refused, or only served without one. */
export type CertificateDemand = "require" | "request"

/** A file of a plan, read. */
export interface ReadFile {
  readonly file: string
  readonly text: string
}

/** Whose certificates a listener accepts, as PEM. `hosts`: in lower case, `*.` for all names below; undefined: all other hosts. */
export interface ClientTrustSettings {
  readonly demand: CertificateDemand
  readonly hosts: readonly string[] | undefined
  readonly authorities: readonly ReadFile[]
  /** Revocation lists. Undefined: revocation is not checked. */
  readonly revoked: readonly ReadFile[] | undefined
}

/** A revocation list in use, for warnings before it expires. */
export interface ShownRevocationList {
  readonly file: string
  readonly nextUpdate: Date | undefined
}

/**
 * Whose client certificates are valid: the authorities and their revocation lists. OpenSSL verifies chains in the handshake. A connection that was
 * verified by an earlier version of the files is judged here, because it stays open.
 */
export class ClientTrust {
  readonly demand: CertificateDemand
  readonly hosts: readonly string[] | undefined
  /** Equal for equal files. */
  readonly digest: string
  readonly #authorities: readonly X509Certificate[]
  readonly #lists: readonly RevocationList[] | undefined

  /** @throws Error with the file that cannot be used */
  constructor({ demand, hosts, authorities, revoked }: ClientTrustSettings) {
    this.digest = createHash("sha256")
      .update(JSON.stringify([authorities, revoked]))
      .digest("hex")
    this.demand = demand
    this.hosts = hosts
    this.#authorities = authorities.flatMap((each) => usable(each, ({ text }) => certificatesIn(text)))
    this.#lists = revoked?.flatMap((each) =>
      usable(each, ({ file, text }) => readRevocationLists(file, text)),
    )
  }

  get checksRevocation(): boolean {
    return this.#lists !== undefined
  }

  /** For `createSecureContext`. With lists, OpenSSL wants one of every authority of a chain. */
  get contextOptions(): { readonly ca: string[]; readonly crl?: string[] } {
    const ca = this.#authorities.map((each) => each.toString())
    return this.#lists === undefined ? { ca } : { ca, crl: this.#lists.map(({ pem }) => pem) }
  }

  get revocationLists(): readonly ShownRevocationList[] {
    return this.#lists ?? []
  }

  /**
   * Why a chain, leaf first, that another version of the files verified is not valid by these; undefined when it is. Lists are found by the bytes of
   * the issuer's name.
   */
  faultOf(chain: readonly X509Certificate[]): string | undefined {
    const whole = [...chain]
    for (;;) {
      const last = whole.at(-1)
      const authority = last && this.#authorities.find((each) => isSignedBy(last, each))
      if (last === undefined || authority === undefined) return "no authority in the files of `ca` signed it"
      if (authority.raw.equals(last.raw) || whole.length > chainMax) break
      whole.push(authority)
    }
    if (this.#lists === undefined) return undefined
    for (const certificate of whole) {
      const lists = this.#lists.filter((each) => each.isOf(certificate))
      if (lists.length === 0) return certificateFaults["UNABLE_TO_GET_CRL"]
      if (lists.some((each) => each.revokes(certificate))) return certificateFaults["CERT_REVOKED"]
    }
    return undefined
  }

  /** When the first list that a chain needs expires, in milliseconds since 1970. Of several lists of one authority the newest counts. */
  listsEndMs(chain: readonly X509Certificate[]): number {
    const ends = chain.flatMap((certificate) => {
      const own = (this.#lists ?? []).filter((each) => each.isOf(certificate))
      return own.length === 0
        ? []
        : [Math.max(...own.map(({ nextUpdate }) => nextUpdate?.getTime() ?? Number.POSITIVE_INFINITY))]
    })
    return Math.min(...ends)
  }
}

/** Longer chains are no real ones; a cycle of authorities that sign each other ends here. */
const chainMax = 10

/** Whether an authority is, or signed, the last certificate of a chain. */
function isSignedBy(last: X509Certificate, authority: X509Certificate): boolean {
  if (last.raw.equals(authority.raw)) return true
  return last.checkIssued(authority) && last.verify(authority.publicKey)
}

/** What `read` makes of a file. @throws Error with the name of the file, when it cannot be used */
export function usable<T>(file: ReadFile, read: (file: ReadFile) => T): T {
  try {
    return read(file)
  } catch (error) {
    throw new Error(`\`${file.file}\` cannot be used: ${(error as Error).message}`)
  }
}

/** What OpenSSL's codes mean (X509_STORE_CTX_get_error), for the log. */
export const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has expired, or a certificate of its chain",
  CERT_NOT_YET_VALID: "it is not valid yet",
  CERT_REVOKED: "it is revoked",
  CRL_HAS_EXPIRED:
    "a revocation list has expired, so no certificate can be trusted: replace the files of `revoked`",
  CRL_NOT_YET_VALID: "a revocation list is not valid yet: check the clock of this machine",
  CRL_SIGNATURE_FAILURE: "the signature of a revocation list is wrong: replace the files of `revoked`",
  UNABLE_TO_GET_CRL:
    "there is no revocation list of its authority: add that of every authority of its chain to `revoked`",
  UNABLE_TO_GET_ISSUER_CERT: "no authority in the files of `ca` signed it",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "no authority in the files of `ca` signed it",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "no authority in the files of `ca` signed it",
  SELF_SIGNED_CERT_IN_CHAIN: "the authority of its chain is not in the files of `ca`",
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is self-signed and not in the files of `ca`",
  INVALID_PURPOSE: "it is not for client authentication (extended key usage)",
}

/** Trust by the host that a client names: an exact name, then the longest `*.` above it, then the one of all other hosts. */
export class ClientTrusts {
  readonly #byHost = new Map<string, ClientTrust>()
  readonly #others: ClientTrust | undefined
  readonly all: readonly ClientTrust[]

  constructor(trusts: readonly ClientTrust[]) {
    this.all = trusts
    this.#others = trusts.find(({ hosts }) => hosts === undefined)
    for (const trust of trusts) for (const host of trust.hosts ?? []) this.#byHost.set(host, trust)
  }

  /** Whether the host decides: then requests must be for the host of their connection. */
  get differ(): boolean {
    return this.#byHost.size > 0
  }

  /** `host`: as the client sent it, without a port; empty: none. */
  find(host: string): ClientTrust | undefined {
    if (this.#byHost.size === 0) return this.#others
    const name = host.toLowerCase().replace(/\.$/, "")
    const exact = this.#byHost.get(name)
    if (exact !== undefined) return exact
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const above = this.#byHost.get(`*${name.slice(dot)}`)
      if (above !== undefined) return above
    }
    return this.#others
  }
}

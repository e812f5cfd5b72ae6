import type { X509Certificate } from "node:crypto"
import { certificateFields } from "./certificate-fields.ts"
import { type DerValue, derTag, derTime, derValues, firstDer } from "./der.ts"

/** A revocation list of an authority (RFC 5280 §5). `file`: how messages name it. */
export interface RevocationList {
  readonly file: string
  readonly pem: string
  /** When its next version was to be issued; from then on it proves nothing. Undefined: the list does not say. */
  readonly nextUpdate: Date | undefined
  /** Whether it is a list of the authority that issued the certificate. */
  isOf(certificate: X509Certificate): boolean
  /** Whether it revokes a certificate of its authority. */
  revokes(certificate: X509Certificate): boolean
}

const pemList = /-----BEGIN X509 CRL-----[\s\S]*?-----END X509 CRL-----/g

/**
 * The lists in a PEM file. Their signatures are not verified here: OpenSSL does so in every handshake.
 * @throws Error when the file has no list, or one that cannot be read
 */
export function readRevocationLists(file: string, text: string): RevocationList[] {
  const lists = text.match(pemList) ?? []
  if (lists.length === 0)
    throw new Error(
      "it contains no PEM revocation list; one starts with `-----BEGIN X509 CRL-----` (convert DER with `openssl crl -inform DER`)",
    )
  return lists.map((pem) => readList(file, pem))
}

function readList(file: string, pem: string): RevocationList {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64")
  const body = firstDer(firstDer(der).content)
  const fields = [...derValues(body.content)]
  // The version is optional (§5.1.2.1): a list of version 1 begins with the algorithm.
  const [, issuer, , ...rest] = fields[0]?.tag === derTag.integer ? fields.slice(1) : fields
  if (issuer?.tag !== derTag.sequence) throw new Error("it contains no valid revocation list")
  const isTime = (value: DerValue | undefined): value is DerValue =>
    value?.tag === derTag.utcTime || value?.tag === derTag.generalizedTime
  const nextUpdate = isTime(rest[0]) ? derTime(rest[0]) : undefined
  const entries = isTime(rest[0]) ? rest[1] : rest[0]
  let serials: ReadonlySet<string> | undefined
  return {
    file,
    pem,
    nextUpdate,
    isOf: (certificate) => certificateFields(certificate).issuer.whole.equals(issuer.whole),
    revokes(certificate) {
      // Read only when a connection outlives its list: OpenSSL looks the others up itself.
      serials ??= entries?.tag === derTag.sequence ? serialsIn(entries) : new Set()
      return serials.has(certificateFields(certificate).serial.content.toString("hex"))
    },
  }
}

function serialsIn(entries: DerValue): Set<string> {
  const serials = new Set<string>()
  for (const entry of derValues(entries.content)) serials.add(firstDer(entry.content).content.toString("hex"))
  return serials
}

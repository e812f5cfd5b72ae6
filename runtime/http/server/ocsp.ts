import { createHash, verify, X509Certificate } from "node:crypto"
import { certificateFields } from "./certificate-fields.ts"
import { type DerValue, derTag, derTime, derValue, derValues, firstDer } from "./der.ts"

/** What the authority of a certificate says about it (RFC 6960 §2.2), until when. `der`: the response, which servers staple to handshakes. */
export interface OcspAnswer {
  readonly der: Buffer
  readonly status: "good" | "revoked" | "unknown"
  readonly thisUpdate: Date
  /** From then on the response proves nothing. */
  readonly nextUpdate: Date
}

/** A response that cannot be used. The message completes "the responder …". */
export class OcspFault extends Error {
  override readonly name = "OcspFault"
}

const nothing = Buffer.alloc(0)
/** Clocks of authorities may be ahead by this much. */
const skewMs = 5 * 60_000

const oid = {
  sha1: Buffer.from("06052b0e03021a", "hex"),
  basicResponse: "2b0601050507300101",
  responders: "1.3.6.1.5.5.7.3.9",
  tlsFeature: "2b06010505070118",
}
/** Signatures (RFC 5758, RFC 8017, RFC 8410) by the content of their identifier. Null: the key says which hash. */
const hashes: Readonly<Record<string, string | null>> = {
  "2a864886f70d010105": "sha1",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
  "2b6570": null,
}
/** The status of a response that is no answer (RFC 6960 §4.2.1). */
const refusals: Readonly<Record<number, string>> = {
  1: "malformedRequest",
  2: "internalError",
  3: "tryLater",
  5: "sigRequired",
  6: "unauthorized",
}

/** The URL of the responder in a certificate (RFC 5280 §4.2.2.1); undefined: it names none that can be asked. */
export function responderOf({ infoAccess }: X509Certificate): string | undefined {
  const found = /^OCSP - URI:(https?:\/\/\S+)$/im.exec(infoAccess ?? "")
  return found?.[1]
}

/** Whether clients that know it refuse the certificate without a stapled response (RFC 7633). */
export function demandsStaple(certificate: X509Certificate): boolean {
  return certificateFields(certificate).extensions.some(
    ({ content }) => firstDer(content).content.toString("hex") === oid.tlsFeature,
  )
}

/** Identifies a certificate for its responder (RFC 6960 §4.1.1), by SHA-1 as RFC 5019 demands: it protects nothing here. */
function identityOf(certificate: X509Certificate, issuer: X509Certificate): [Buffer, Buffer, Buffer] {
  const sha1 = (bytes: Buffer) => createHash("sha1").update(bytes).digest()
  const { subject, publicKey } = certificateFields(issuer)
  return [sha1(subject.whole), sha1(publicKey), certificateFields(certificate).serial.content]
}

/** The request for the status of one certificate, without a nonce, so that responders can send prepared responses (RFC 5019 §2.1). */
export function ocspRequest(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  const [nameHash, keyHash, serial] = identityOf(certificate, issuer)
  const sequence = (...parts: Buffer[]) => derValue(derTag.sequence, ...parts)
  const algorithm = sequence(oid.sha1, derValue(derTag.null))
  const names = [nameHash, keyHash].map((hash) => derValue(derTag.octetString, hash))
  return sequence(
    sequence(sequence(sequence(sequence(algorithm, ...names, derValue(derTag.integer, serial))))),
  )
}

/**
 * Reads and verifies a response about a certificate: who signed it, and when it is valid.
 * @throws OcspFault when it cannot be used
 */
export function readOcspResponse(
  der: Buffer,
  { certificate, issuer }: { readonly certificate: X509Certificate; readonly issuer: X509Certificate },
  now = Date.now(),
): OcspAnswer {
  try {
    return { der, ...answerIn(der, certificate, issuer, now) }
  } catch (error) {
    throw error instanceof OcspFault ? error : new OcspFault("sent no valid OCSP response")
  }
}

function answerIn(
  der: Buffer,
  certificate: X509Certificate,
  issuer: X509Certificate,
  now: number,
): Omit<OcspAnswer, "der"> {
  const [code, bytes] = derValues(firstDer(der).content)
  const status = code?.content[0] ?? -1
  if (status !== 0) throw new OcspFault(`refuses the request: ${refusals[status] ?? `status ${status}`}`)
  const [type, response] = derValues(firstDer(bytes?.content ?? nothing).content)
  if (type?.content.toString("hex") !== oid.basicResponse)
    throw new OcspFault("sent a response of an unknown type")
  const [data, algorithm, signature, others] = derValues(firstDer(response?.content ?? nothing).content)
  if (data === undefined || algorithm === undefined || signature === undefined)
    throw new OcspFault("sent no valid OCSP response")
  const responders = [issuer, ...delegatesIn(others, issuer, now)]
  const hash = hashes[firstDer(algorithm.content).content.toString("hex")]
  if (hash === undefined) throw new OcspFault("signs with an unknown algorithm")
  const bits = signature.content.subarray(1)
  if (!responders.some(({ publicKey }) => verify(hash, data.whole, publicKey, bits)))
    throw new OcspFault("sent a response that the authority of the certificate did not sign")
  return currentAnswer(data, identityOf(certificate, issuer), now)
}

/** Certificates with which the authority lets others sign (RFC 6960 §4.2.2.2). */
function delegatesIn(others: DerValue | undefined, issuer: X509Certificate, now: number): X509Certificate[] {
  if (others === undefined) return []
  const certificates = [...derValues(firstDer(others.content).content)].map(
    ({ whole }) => new X509Certificate(whole),
  )
  return certificates.filter(
    (each) =>
      each.keyUsage?.includes(oid.responders) === true &&
      each.checkIssued(issuer) &&
      each.verify(issuer.publicKey) &&
      Date.parse(each.validFrom) <= now + skewMs &&
      now < Date.parse(each.validTo),
  )
}

/** The answer about one certificate (RFC 6960 §4.2.1), which must be valid now. */
function currentAnswer(
  data: DerValue,
  [nameHash, keyHash, serial]: ReturnType<typeof identityOf>,
  now: number,
): Omit<OcspAnswer, "der"> {
  // Before the responses are the version, if it is not 1, the responder and the time; extensions may follow.
  const responses = [...derValues(data.content)].find(({ tag }) => tag === derTag.sequence)
  for (const single of derValues(responses?.content ?? nothing)) {
    const [identity, status, thisUpdate, next] = derValues(single.content)
    const [, name, key, number] = derValues(identity?.content ?? nothing)
    if (!name?.content.equals(nameHash) || !key?.content.equals(keyHash)) continue
    if (!number?.content.equals(serial) || status === undefined || thisUpdate === undefined) continue
    if (next?.tag !== derTag.explicit0) throw new OcspFault("does not say how long its response is valid")
    const [from, until] = [derTime(thisUpdate), derTime(firstDer(next.content))]
    if (from.getTime() > now + skewMs)
      throw new OcspFault(`sent a response that is not valid before ${from.toISOString()}`)
    if (until.getTime() <= now) throw new OcspFault(`sent a response that expired at ${until.toISOString()}`)
    return { status: statuses[status.tag & 0x1f] ?? "unknown", thisUpdate: from, nextUpdate: until }
  }
  throw new OcspFault("sent a response about another certificate")
}

const statuses: Readonly<Record<number, OcspAnswer["status"]>> = { 0: "good", 1: "revoked", 2: "unknown" }

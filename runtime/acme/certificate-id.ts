import { X509Certificate } from "node:crypto"

/** The identifier of the extension that names the key of the issuer (RFC 5280 §4.2.1.1), in DER. */
const authorityKeyIdentifier = Buffer.from("0603551d23", "hex")

/**
 * The identifier of a certificate for renewal information: key identifier of its issuer and serial number, both in base64url (RFC 9773 §4.1).
 * Undefined: the certificate does not name the key of its issuer.
 */
export function certificateIdOf(cert: string): string | undefined {
  const certificate = new X509Certificate(cert)
  const issuer = issuerKeyOf(certificate.raw)
  if (issuer === undefined) return undefined
  const hex =
    certificate.serialNumber.length % 2 === 0 ? certificate.serialNumber : `0${certificate.serialNumber}`
  const digits = Buffer.from(hex, "hex")
  // DER's integers are signed: a first bit of 1 would be a negative number.
  const serial = (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits
  return `${issuer.toString("base64url")}.${serial.toString("base64url")}`
}

/** The key identifier: OCTET STRING { SEQUENCE { [0] bytes … } } behind the extension's name. All lengths are below 128. */
function issuerKeyOf(der: Buffer): Buffer | undefined {
  const at = der.indexOf(authorityKeyIdentifier)
  if (at < 0) return undefined
  const content = at + authorityKeyIdentifier.length
  const [octets, , sequence, , tag, length = 0] = der.subarray(content, content + 6)
  if (octets !== 0x04 || sequence !== 0x30 || tag !== 0x80 || length >= 0x80) return undefined
  return der.subarray(content + 6, content + 6 + length)
}

import type { X509Certificate } from "node:crypto"
import { type DerValue, derTag, derValues, firstDer } from "./der.ts"

/** What Node does not show of a certificate (RFC 5280 §4.1), in DER. */
export interface CertificateFields {
  readonly serial: DerValue
  readonly issuer: DerValue
  readonly subject: DerValue
  /** The bits of the public key, without its algorithm. */
  readonly publicKey: Buffer
  readonly extensions: readonly DerValue[]
}

/** @throws Error for bytes that are no certificate, which Node would have refused */
export function certificateFields({ raw }: X509Certificate): CertificateFields {
  const fields = [...derValues(firstDer(firstDer(raw).content).content)]
  // The version is absent in certificates of version 1.
  if (fields[0]?.tag === derTag.explicit0) fields.shift()
  const [serial, , issuer, , subject, publicKey, ...more] = fields
  if (serial === undefined || issuer === undefined || subject === undefined || publicKey === undefined)
    throw new Error("it is no certificate")
  const extensions = more.find(({ tag }) => tag === derTag.explicit3)
  const [, bits] = derValues(publicKey.content)
  return {
    ...{ serial, issuer, subject },
    // The first byte is the number of unused bits.
    publicKey: bits?.content.subarray(1) ?? Buffer.alloc(0),
    extensions: extensions === undefined ? [] : [...derValues(firstDer(extensions.content).content)],
  }
}

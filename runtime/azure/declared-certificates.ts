import { X509Certificate } from "node:crypto"
import { rootCertificates } from "node:tls"
import { certificatesIn } from "../plan/certificate-pair.ts"
import type { ClientCertificate } from "../policies/exchange.ts"
import type { PolicyCertificate } from "./csharp/ports.ts"

/** The certificates of a plan for programs. */
export function declaredCertificates(
  declared: ReadonlyMap<string, ClientCertificate>,
): ReadonlyMap<string, PolicyCertificate> {
  return new Map([...declared].map(([name, { cert, key }]) => [name, new Declared(cert, key)]))
}

class Declared implements PolicyCertificate {
  readonly #pem: string
  readonly key: string

  constructor(pem: string, key: string) {
    this.#pem = pem
    this.key = key
  }

  get raw(): Uint8Array {
    return Buffer.from(this.#pem)
  }

  /** Revocation is never checked: with `online` no certificate is valid. */
  verify(online: boolean): boolean {
    return !online && leadsToRoot(this.#pem)
  }
}

/** Whether the certificates of a file, each signed by the next, lead to an authority that Node trusts, and all are within their validity period. */
function leadsToRoot(pem: string): boolean {
  const chain = certificatesIn(pem)
  const now = Date.now()
  const inTime = chain.every(
    ({ validFrom, validTo }) => Date.parse(validFrom) <= now && now <= Date.parse(validTo),
  )
  const signed = chain.every((each, index) => {
    const next = chain[index + 1]
    return next === undefined || isSignedBy(each, next)
  })
  const last = chain.at(-1)
  if (!inTime || !signed || last === undefined) return false
  return rootsNamed(last.issuer).some((root) => isSignedBy(last, root))
}

/** The authorities that may have a name. Parsing all of them takes a tenth of a second, so only those that contain the last part of the name are parsed. */
function rootsNamed(issuer: string): readonly X509Certificate[] {
  const name = issuer.slice(issuer.lastIndexOf("=") + 1)
  return rootCertificates
    .filter((pem) => Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ""), "base64").includes(name))
    .map((pem) => new X509Certificate(pem))
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

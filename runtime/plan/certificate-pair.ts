import { type Key, type ParsedCertificate, parseCertificate, parsePrivateKey } from "#keys"

/** A certificate and its key as PEM, for example from two files. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

/** Time before the end of a certificate in which people are warned: enough to renew it by hand. */
const warnedMs = 14 * 86_400_000
const dayMs = 86_400_000

/** Why the pair cannot be used, with the remedy. `names`: where the two come from, as messages write it. Undefined: it can be used. */
export function pairProblem({ cert, key }: PemPair, names: PemPair): string | undefined {
  let certificate: ParsedCertificate
  try {
    certificate = certificatesIn(cert)[0]
  } catch (error) {
    return (error as Error).message.replace(/^it contains/, `${names.cert} contains`)
  }
  const secret = keyIn(key)
  if (typeof secret === "string") return `${names.key} ${secret}`
  return certificate.checkPrivateKey(secret)
    ? undefined
    : `the key in ${names.key} does not belong to the certificate in ${names.cert}; use two that belong together`
}

const pemCertificate =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g

/**
 * The certificates of a PEM text: a leaf and its chain, or authorities.
 * @throws Error that begins with "it contains": the text has no certificate, or a damaged one, which OpenSSL would skip silently
 */
export function certificatesIn(pem: string): [ParsedCertificate, ...ParsedCertificate[]] {
  const found = (pem.match(pemCertificate) ?? []).map((each, index) => {
    const certificate = attempt(() => parseCertificate(each))
    if (certificate !== undefined) return certificate
    throw new Error(`it contains a damaged certificate, number ${index + 1}; copy the certificate again`)
  })
  const [first, ...others] = found
  if (first !== undefined) return [first, ...others]
  throw new Error(
    "it contains no PEM certificate; one starts with `-----BEGIN CERTIFICATE-----` (convert DER with `openssl x509 -inform DER`)",
  )
}

/** The private key of a PEM text, or what is wrong with the text, after its name. */
function keyIn(pem: string): Key | string {
  const key = attempt(() => parsePrivateKey(pem))
  if (key !== undefined) return key
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem))
    return "contains a key with a password; remove the password with `openssl pkey`"
  return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(pem)
    ? "contains a damaged key; copy the key again"
    : "contains no PEM key; one starts with `-----BEGIN PRIVATE KEY-----`"
}

/** `expired on 2026-01-31`, `expires in 5 days, on 2026-01-31`; undefined when it ends later than in 14 days. Times in milliseconds. */
export function endSoon(notAfterMs: number, nowMs: number): string | undefined {
  const leftMs = notAfterMs - nowMs
  if (leftMs > warnedMs) return undefined
  const date = new Date(notAfterMs).toISOString().slice(0, 10)
  const days = Math.floor(leftMs / dayMs)
  return leftMs <= 0 ? `expired on ${date}` : `expires in ${days} ${days === 1 ? "day" : "days"}, on ${date}`
}

/** When a PEM certificate ends, in milliseconds. @throws Error when it cannot be read */
export function notAfterOf(cert: string): number {
  return new Date(parseCertificate(cert).validTo).getTime()
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

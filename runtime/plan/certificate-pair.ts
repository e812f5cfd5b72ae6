import { createPrivateKey, X509Certificate } from "node:crypto"

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
  const certificate = attempt(() => new X509Certificate(cert))
  if (certificate === undefined)
    return `${names.cert} contains no PEM certificate; one starts with \`-----BEGIN CERTIFICATE-----\``
  const secret = attempt(() => createPrivateKey(key))
  if (secret === undefined)
    return `${names.key} contains no PEM key without a password; remove the password with \`openssl pkey\``
  return certificate.checkPrivateKey(secret)
    ? undefined
    : `the key in ${names.key} does not belong to the certificate in ${names.cert}; use two that belong together`
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
  return new Date(new X509Certificate(cert).validTo).getTime()
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

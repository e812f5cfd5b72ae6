import type { AcmePlan, CertificatePlan, PemCertificatePlan } from "../../runtime/plan/resources.ts"
import {
  breaking,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { listWords, referenceWords, textWords } from "../analysis/words.ts"

const orderedAgain = "until it is issued, the present one is shown"

/** What a difference in a certificate from ACME means. */
const acmeRules: FieldRules<AcmePlan> = {
  directory: (_, after) =>
    typeof after === "string" && after.includes("staging")
      ? breaking("the certificate comes from an authority for tests, which clients do not trust")
      : breaking(
          "another authority issues the certificate: clients may not trust it; handshakes fail until it is issued",
        ),
  hosts: (before, after) => {
    const gone = before.filter((host) => !after.includes(host))
    const fresh = after.filter((host) => !before.includes(host))
    return [
      ...(gone.length === 0 ? [] : [breaking(`the certificate is no longer valid for ${named(gone)}`)]),
      ...(fresh.length === 0
        ? []
        : [neutral(`a certificate that is also valid for ${named(fresh)} is ordered; ${orderedAgain}`)]),
    ]
  },
  challenge: (_, after) =>
    neutral(
      `hosts are proved by ${after === undefined ? "a request to port 80" : "a TLS connection to port 443"}`,
    ),
  contact: () => neutral("the authority gets another address for notices"),
  externalAccount: () =>
    neutral(
      `the certificate is ordered with another account of the authority; handshakes fail until it is issued`,
    ),
  ca: () =>
    opens(
      "another authority is trusted for the directory's server: who can pose as it gets no keys, but can refuse orders",
    ),
  protectedBy: () =>
    breaking(
      "the certificate is ordered again with a new account, because another secret encrypts; handshakes fail until it is issued",
    ),
}

/** What a difference in a declared certificate means. A reference is compared, not the certificate: its file is read when the plan is loaded. */
export function certificateFindings(before: CertificatePlan, after: CertificatePlan): Finding[] {
  return [...staplingFindings(before, after), ...sourceFindings(before, after)]
}

function staplingFindings(before: CertificatePlan, after: CertificatePlan): Finding[] {
  if (before.ocspStapling === after.ocspStapling) return []
  return [
    neutral(
      after.ocspStapling === false
        ? "clients no longer get the authority's response about the certificate in handshakes: they ask the authority, or do without"
        : "the process asks the authority about the certificate, and clients get its response in handshakes",
    ),
  ]
}

function sourceFindings(
  { ocspStapling: _, ...before }: CertificatePlan,
  { ocspStapling: __, ...after }: CertificatePlan,
): Finding[] {
  if ("acme" in before && "acme" in after) return compareFields(acmeRules, before.acme, after.acme)
  return same(before, after)
    ? []
    : [
        opens(
          "the gateway shows another certificate: servers may see another identity, and clients may not trust it",
        ),
      ]
}

/** A certificate as it is written in gateway.conf. */
export function certificateWords(name: string, certificate: CertificatePlan): string {
  const inside =
    "acme" in certificate
      ? `acme { ${acmeWords(certificate.acme)} }`
      : `cert ${pemWords(certificate.cert)}; key ${pemWords(certificate.key)}`
  const stapling = certificate.ocspStapling === false ? "; ocsp-stapling off" : ""
  return `certificate ${name} { ${inside}${stapling} }`
}

function acmeWords({
  directory,
  hosts,
  protectedBy,
  challenge,
  contact,
  externalAccount,
  ca,
}: AcmePlan): string {
  return [
    `directory ${textWords(directory)}`,
    `hosts ${hosts.map((host) => JSON.stringify(host)).join(" ")}`,
    `encrypt-with ${protectedBy.secret}`,
    ...(challenge === undefined ? [] : [`challenge ${challenge}`]),
    ...(contact === undefined ? [] : [`contact ${JSON.stringify(contact)}`]),
    ...(externalAccount === undefined
      ? []
      : [`external-account ${textWords(externalAccount.id)} secret ${externalAccount.secret}`]),
    ...(ca === undefined ? [] : [`ca ${referenceWords(ca)}`]),
  ].join("; ")
}

function pemWords(source: PemCertificatePlan["cert"]): string {
  if ("secret" in source) return source.secret
  return "value" in source ? source.value : referenceWords(source)
}

function named(hosts: readonly string[]): string {
  return listWords(hosts.map((host) => `\`${host}\``))
}

import type { X509Certificate } from "node:crypto"
import type { PeerCertificate } from "../../http/server/peer-certificate.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { certificateChallenge, type Problem, problem } from "../messages/answer.ts"
import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"
import { failureStatus } from "./token-guard.ts"

/**
 * Requires a client certificate that the listener verified. One that could not be verified is refused like none, and never forwarded; a verified one
 * of another client gets 403.
 */
export const validateCertificate: Policy<"validate-certificate"> = (plan, provision) => {
  const status = failureStatus(compileCount(plan.status, provision))
  const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
  const faultOf = compileConditions(plan)
  const refuse = (exchange: Exchange, presented: boolean, cause: string): Problem => {
    const code = status(exchange)
    return problem("certificate-required", {
      status: code,
      headers: code === 401 ? ["www-authenticate", certificateChallenge] : [],
      reason: presented ? "ClientCertificateInvalid" : "ClientCertificateNotFound",
      message: message?.of(exchange),
      presented,
      cause,
    })
  }
  return (exchange) => {
    const { peer } = exchange
    if (peer === undefined)
      return refuse(exchange, false, "the client presented no certificate on its connection")
    if (peer.fault !== undefined)
      return refuse(exchange, true, `the client certificate is not accepted: ${peer.fault}`)
    const { certificate } = peer
    const fault = faultOf(certificate)
    if (fault !== undefined)
      return problem("forbidden", {
        reason: "ClientCertificateNotAllowed",
        message: message?.of(exchange),
        presented: true,
        cause: fault,
      })
    exchange.claims = claimsOf(certificate)
    if (plan.forward !== undefined) forward(exchange, certificate, plan.forward === "chain")
    return undefined
  }
}

/** Each list that is given must contain a value of the certificate. */
function compileConditions({
  subjects,
  names,
  issuers,
  thumbprints,
  identities,
  revocation,
}: StepOf<"validate-certificate">): (certificate: PeerCertificate) => string | undefined {
  const keyOf = ({ kind, value }: { readonly kind: string; readonly value: string }) => `${kind} ${value}`
  const listOf = (values: readonly string[] | undefined) => values && new Set(values)
  const [bySubject, byIssuer, byThumbprint] = [listOf(subjects), listOf(issuers), listOf(thumbprints)]
  const byName = listOf(names?.map(keyOf))
  return (certificate) => {
    if (revocation === true && !certificate.checkedForRevocation)
      return "the listener has no revocation lists (`revoked`), and the policy requires the check"
    if (identities !== undefined && !identities.some((identity) => isIdentity(certificate, identity)))
      return "the client certificate is not in the list of identities"
    const { subject = "", issuer = "" } = certificate
    if (bySubject?.has(subject) === false) return `the subject \`${subject}\` is not in the list`
    if (byName !== undefined && !certificate.alternativeNames.some((name) => byName.has(keyOf(name))))
      return "none of the alternative names of the client certificate is in the list"
    if (byIssuer?.has(issuer) === false) return `the issuer \`${issuer}\` is not in the list`
    if (byThumbprint?.has(certificate.thumbprint) === false)
      return `the thumbprint ${certificate.thumbprint} is not in the list`
    return undefined
  }
}

type Identity = NonNullable<StepOf<"validate-certificate">["identities"]>[number]

/** Whether a certificate has everything that an identity names. */
function isIdentity(certificate: PeerCertificate, identity: Identity): boolean {
  const { thumbprint, serial, commonName, subject, dns, issuer } = identity
  const isOrAbsent = (wanted: string | undefined, own: string | undefined) =>
    wanted === undefined || wanted === own
  return (
    isOrAbsent(thumbprint, certificate.sha1Thumbprint) &&
    isOrAbsent(serial, certificate.leaf.serialNumber) &&
    isOrAbsent(commonName, certificate.commonName) &&
    isOrAbsent(subject, certificate.subject) &&
    isOrAbsent(issuer, certificate.issuer) &&
    (dns === undefined ||
      certificate.alternativeNames.some(({ kind, value }) => kind === "dns" && value === dns))
  )
}

/** The certificate as claims. `cn` is absent unless the subject has exactly one. */
function claimsOf(certificate: PeerCertificate): Record<string, unknown> {
  const { subject = "", issuer = "", thumbprint, commonName, alternativeNames } = certificate
  const named = (kind: string) => alternativeNames.flatMap((each) => (each.kind === kind ? [each.value] : []))
  return {
    ...{ sub: subject, iss: issuer, thumbprint },
    ...(commonName === undefined ? {} : { cn: commonName }),
    ...{ dns: named("dns"), uri: named("uri"), email: named("email"), ip: named("ip") },
  }
}

/** RFC 9440 §2: DER as byte sequences of structured fields (RFC 8941 §3.3.5). */
function forward({ headers }: Exchange, { leaf, chain }: PeerCertificate, withChain: boolean): void {
  const bytes = ({ raw }: X509Certificate) => `:${raw.toString("base64")}:`
  headers.set("client-cert", bytes(leaf))
  const above = chain.slice(1)
  if (withChain && above.length > 0) headers.set("client-cert-chain", above.map(bytes).join(", "))
}

import type { SecureContext } from "node:tls"

/** What a certificate from ACME certifies, who issues it, and which key protects it in the database. All texts and secrets are resolved. */
export interface AcmeSettings {
  /** Its name in the plan. */
  readonly name: string
  /** Host names in lower case, at least one. */
  readonly hosts: readonly string[]
  /** URL of the authority's directory (RFC 8555 §7.1.1). */
  readonly directory: string
  readonly contact: string | undefined
  readonly challenge: "http-01" | "tls-alpn-01"
  /** The account outside of ACME to which the authority binds this one (RFC 8555 §7.3.4). `key`: in base64url. */
  readonly externalAccount: { readonly id: string; readonly key: string } | undefined
  /** The secret from which the encryption key is made. */
  readonly protectedBy: string
  /** PEM of the authorities that may sign the certificate of the directory; undefined: those of the system. */
  readonly ca: string | undefined
}

/** Certificates that processes order themselves, and share. */
export interface ManagedCertificates {
  /** The newest certificate, from memory or from the database; undefined: there is none yet. */
  obtain(settings: AcmeSettings): Promise<{ readonly cert: string; readonly key: string } | undefined>
  /** Replaces the certificates that `user` serves. From now on they are ordered and renewed; `onChange` is called when one was. */
  use(user: string, settings: readonly AcmeSettings[], onChange: () => void): void
  /** The response to an HTTP-01 challenge (RFC 8555 §8.3); undefined: the token is unknown. */
  response(token: string): Promise<string | undefined>
  /** The certificate that answers a TLS-ALPN-01 challenge for a host (RFC 8737); undefined: there is no challenge. */
  validation(host: string): Promise<SecureContext | undefined>
}

/** The path of HTTP-01 challenges, before the token (RFC 8555 §8.3). */
export const challengePrefix = "/.well-known/acme-challenge/"

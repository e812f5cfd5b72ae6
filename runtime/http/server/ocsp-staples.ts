import { createHash, X509Certificate } from "node:crypto"
import type { Server as TlsServer } from "node:tls"
import { certificatesIn } from "../../plan/certificate-pair.ts"
import {
  demandsStaple,
  type OcspAnswer,
  OcspFault,
  ocspRequest,
  readOcspResponse,
  responderOf,
} from "./ocsp.ts"
import type { ServerCertificate } from "./server-certificates.ts"

/** Finds the OCSP response to staple for a certificate, both DER; undefined: none. */
export type FindStaple = (certificate: Buffer) => Buffer | undefined

/** Lets a server answer clients that ask for the OCSP response of its certificate. */
export function stapleBy(server: TlsServer, find: FindStaple | undefined): void {
  if (find === undefined) return
  server.on("OCSPRequest", (certificate, _issuer, done) => done(null, find(certificate) ?? null))
}

/** Sends a request to a responder. Rejects with an error whose message completes "the responder …". */
export type AskResponder = (url: string, request: Buffer) => Promise<Buffer>

/** What is known of the OCSP response for a certificate. */
export interface StapleState {
  /** The certificate's name in the plan. */
  readonly name: string
  /** Whether clients that know it refuse the certificate without a response (RFC 7633). */
  readonly isDemanded: boolean
  /** The end of the response that is stapled; undefined: none is. */
  readonly endsMs: number | undefined
  readonly isRevoked: boolean
  /** Failed attempts since the last usable response. */
  readonly failures: number
  /** Why there is no newer response; undefined: there is. */
  readonly reason: string | undefined
}

/** What a process needs to fetch responses. */
export interface StaplesSettings {
  readonly ask: AskResponder
  /** Called when a certificate's first attempt fails, it is revoked, or a response arrives after either. */
  readonly onChange: (state: StapleState) => void
  readonly now?: () => number
}

/** Pauses after failed attempts, growing from the first to the second. A revoked certificate is asked about as often as the second. */
const pauseMsMin = 60_000
const pauseMsMax = 3_600_000
/** `setTimeout` takes no longer time. */
const timerMsMax = 2 ** 31 - 1

/**
 * OCSP responses for the certificates of a process (RFC 6066 §8), fetched in the background, once for each certificate. A response is stapled until its
 * end; the next one is fetched when half of its time is over. Responses that are not valid, and `revoked`, are never stapled: clients without one
 * decide for themselves, while a wrong one fails their handshake.
 */
export class OcspStaples {
  readonly #settings: StaplesSettings
  readonly #entries = new Map<string, Entry>()
  readonly #users = new Map<string, ReadonlySet<string>>()

  constructor(settings: StaplesSettings) {
    this.#settings = settings
  }

  /** Replaces the certificates that `user` serves. */
  use(user: string, certificates: readonly ServerCertificate[]): void {
    const used = new Set<string>()
    for (const certificate of certificates) {
      const leaf = new X509Certificate(certificate.cert)
      const key = keyOf(leaf.raw)
      const isOff = certificate.staples === false
      if ((isOff || responderOf(leaf) === undefined) && !demandsStaple(leaf)) continue
      used.add(key)
      if (this.#entries.get(key)?.isOff === isOff) continue
      this.#entries.get(key)?.close()
      this.#entries.set(key, new Entry(certificate, leaf, this.#settings))
    }
    this.#users.set(user, used)
    const all = new Set([...this.#users.values()].flatMap((each) => [...each]))
    for (const [key, entry] of this.#entries) {
      if (all.has(key)) continue
      entry.close()
      this.#entries.delete(key)
    }
  }

  readonly find: FindStaple = (certificate) =>
    this.#entries.size === 0 ? undefined : this.#entries.get(keyOf(certificate))?.staple

  get states(): readonly StapleState[] {
    return [...this.#entries.values()].map(({ state }) => state)
  }

  close(): void {
    for (const entry of this.#entries.values()) entry.close()
    this.#entries.clear()
  }
}

/** The response for one certificate. */
class Entry {
  readonly isOff: boolean
  readonly #settings: StaplesSettings
  readonly #name: string
  readonly #isDemanded: boolean
  readonly #now: () => number
  #good: OcspAnswer | undefined
  #isRevoked = false
  #failures = 0
  #reason: string | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ name, cert, staples }: ServerCertificate, leaf: X509Certificate, settings: StaplesSettings) {
    this.isOff = staples === false
    this.#name = name
    this.#settings = settings
    this.#now = settings.now ?? Date.now
    this.#isDemanded = demandsStaple(leaf)
    const url = responderOf(leaf)
    const issuer = issuerIn(cert, leaf)
    if (this.isOff) this.#reason = "`ocsp-stapling off` is set"
    else if (url === undefined) this.#reason = "the certificate names no responder"
    else if (issuer === undefined)
      this.#fail("the certificate of its issuer is missing: append it to the file of `cert`")
    else void this.#fetch(url, leaf, issuer)
  }

  get staple(): Buffer | undefined {
    return this.#good !== undefined && this.#now() < this.#good.nextUpdate.getTime()
      ? this.#good.der
      : undefined
  }

  get state(): StapleState {
    return {
      ...{ name: this.#name, isDemanded: this.#isDemanded, isRevoked: this.#isRevoked },
      ...{ failures: this.#failures, reason: this.#reason },
      endsMs: this.staple === undefined ? undefined : this.#good?.nextUpdate.getTime(),
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #fetch(url: string, certificate: X509Certificate, issuer: X509Certificate): Promise<void> {
    let pauseMs = pauseMsMax
    try {
      const der = await this.#settings.ask(url, ocspRequest(certificate, issuer))
      const answer = readOcspResponse(der, { certificate, issuer }, this.#now())
      if (this.#isClosed) return
      if (answer.status === "unknown") throw new OcspFault("does not know the certificate")
      this.#take(answer)
      const { thisUpdate, nextUpdate } = answer
      const half = (thisUpdate.getTime() + nextUpdate.getTime()) / 2 - this.#now()
      if (answer.status === "good") pauseMs = Math.max(half, pauseMsMin)
    } catch (error) {
      if (this.#isClosed) return
      this.#fail(`the responder ${url} ${(error as Error).message}`)
      pauseMs = Math.min(pauseMsMin * 2 ** (this.#failures - 1), pauseMsMax)
    }
    const again = () => void this.#fetch(url, certificate, issuer)
    this.#timer = setTimeout(again, Math.min(pauseMs, timerMsMax)).unref()
  }

  #take(answer: OcspAnswer): void {
    const isRevoked = answer.status === "revoked"
    const isNews = isRevoked !== this.#isRevoked || this.#failures > 0
    this.#good = isRevoked ? undefined : answer
    this.#isRevoked = isRevoked
    this.#failures = 0
    this.#reason = undefined
    if (isNews) this.#settings.onChange(this.state)
  }

  #fail(reason: string): void {
    this.#failures += 1
    this.#reason = reason
    if (this.#failures === 1) this.#settings.onChange(this.state)
  }
}

/** The certificate behind the first one that issued it. */
function issuerIn(cert: string, leaf: X509Certificate): X509Certificate | undefined {
  return certificatesIn(cert)
    .slice(1)
    .find((each) => leaf.checkIssued(each))
}

function keyOf(der: Buffer): string {
  return createHash("sha256").update(der).digest("base64")
}

import { ClientTrust } from "../../http/server/client-trust.ts"
import type { Transport } from "../../http/server/incoming.ts"
import type { AcmeSettings, ManagedCertificates } from "../../http/server/managed-certificates.ts"
import type { OcspStaples } from "../../http/server/ocsp-staples.ts"
import type { AwaitedCertificate, ServerCertificate } from "../../http/server/server-certificates.ts"
import type { TicketKeys } from "../../http/server/ticket-keys.ts"
import { ListenerTls, type ListenerTlsSettings } from "../../http/server/tls.ts"
import { pairProblem } from "../../plan/certificate-pair.ts"
import type { Plan } from "../../plan/plan.ts"
import {
  type AcmePlan,
  addressText,
  type CertificatePlan,
  type ListenerPlan,
  type ListeningSide,
  type PemCertificatePlan,
} from "../../plan/resources.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import { ClientAddresses } from "../exchange/client-address.ts"
import type { SeenFile } from "./file-watch.ts"
import { LoadError } from "./load-error.ts"
import { type Outside, type References, readAuthorities, readPemFile } from "./references.ts"

/** The fewest characters of a secret that protects keys: 16 random bytes in base64 have 22. */
const secretCharactersMin = 22

/**
 * Reads certificate and key and checks that they belong together: otherwise every connection would fail later.
 * @throws Error with the file or the secret that is wrong
 */
async function readCertificate(
  { cert, key }: PemCertificatePlan,
  from: {
    readonly dependencies: Outside
    readonly files: SeenFile[]
    readonly references: Pick<References, "values" | "secrets">
  },
): Promise<ClientCertificate> {
  const found = { cert: await readPem(cert, from), key: await readPem(key, from) }
  const wrong = pairProblem(found, { cert: sourceWords(cert), key: sourceWords(key) })
  if (wrong !== undefined) throw new Error(wrong)
  return found
}

/** @throws Error with the file that cannot be read */
async function readPem(
  source: PemCertificatePlan["cert"],
  { dependencies, files, references }: Parameters<typeof readCertificate>[1],
): Promise<string> {
  // A missing secret or value was reported when they were read.
  if ("secret" in source) return references.secrets.get(source.secret) ?? ""
  if ("value" in source) return references.values.get(source.value) ?? ""
  return (await readPemFile(dependencies, source.file, files)).text
}

function sourceWords(source: PemCertificatePlan["cert"]): string {
  if ("secret" in source) return `the secret \`${source.secret}\``
  return "value" in source ? `the value \`${source.value}\`` : `\`${source.file}\``
}

/** The listeners of one side of a plan. */
export interface ListenersOfSide {
  readonly side: ListeningSide
  readonly listen: readonly ListenerPlan[]
}

/** Whose client certificates the listeners accept, by `host:port`, with the files that say so. */
export interface ListenerTrusts {
  readonly trusts: ReadonlyMap<string, readonly ClientTrust[]>
  readonly files: readonly SeenFile[]
}

/**
 * Reads the authorities and revocation lists for client certificates. An expired list is no problem here: the listener refuses its clients.
 * @throws LoadError with all files that cannot be used
 */
export async function readClientTrusts(
  plan: Plan,
  { side, listen }: ListenersOfSide,
  outside: Outside,
): Promise<ListenerTrusts> {
  const problems: string[] = []
  const files: SeenFile[] = []
  const trusts = new Map<string, readonly ClientTrust[]>()
  const read = ({ file }: { readonly file: string }) => readPemFile(outside, file, files)
  for (const listener of listen) {
    const address = addressText(listener)
    const own: ClientTrust[] = []
    for (const { demand, hosts, ca, revoked } of listener.tls?.clientCertificates ?? [])
      try {
        const authorities = await Promise.all(ca.map(read))
        const lists = revoked && (await Promise.all(revoked.map(read)))
        own.push(new ClientTrust({ demand, hosts, authorities, revoked: lists }))
      } catch (error) {
        problems.push(`${plan.origins[side] ?? side}: listener ${address}: ${(error as Error).message}`)
      }
    if (own.length > 0) trusts.set(address, own)
  }
  if (problems.length > 0) throw new LoadError(problems)
  return { trusts, files }
}

/** What reading the certificates of a plan needs. */
interface CertificateSources {
  readonly dependencies: Outside & { readonly managed?: ManagedCertificates | undefined }
  readonly files: SeenFile[]
  readonly references: References
}

/**
 * The settings of a certificate from ACME, with its texts and secrets.
 * @throws Error with the secret or the file that is wrong
 */
async function acmeSettings(
  name: string,
  { directory, hosts, contact, challenge, externalAccount, ca, protectedBy: { secret } }: AcmePlan,
  from: CertificateSources,
): Promise<AcmeSettings> {
  const { references } = from
  const protectedText = references.secrets.get(secret) ?? ""
  if (protectedText.length < secretCharactersMin)
    throw new Error(
      `the secret \`${secret}\` has ${protectedText.length} characters, and an encryption key needs ${secretCharactersMin}; make one with \`openssl rand -base64 32\``,
    )
  return {
    ...{ name, hosts, contact, protectedBy: protectedText, challenge: challenge ?? "http-01" },
    directory: references.text(directory),
    externalAccount: externalAccount && {
      id: references.text(externalAccount.id),
      key: references.secrets.get(externalAccount.secret) ?? "",
    },
    ca: ca === undefined ? undefined : await readAuthorities(from.dependencies, "`ca`", ca.file, from.files),
  }
}

/** The certificates of a plan that are there, and the settings of those from ACME. */
export interface ReadCertificates {
  readonly found: Map<string, ClientCertificate>
  readonly acme: AcmeSettings[]
}

/**
 * Reads one certificate of a plan into `read`. One from ACME may be missing: it is ordered when the plan runs.
 * @throws Error with what is wrong
 */
export async function addCertificate(
  name: string,
  plan: CertificatePlan,
  from: CertificateSources,
  read: ReadCertificates,
): Promise<void> {
  try {
    if (!("acme" in plan)) {
      read.found.set(name, await readCertificate(plan, from))
      return
    }
    const settings = await acmeSettings(name, plan.acme, from)
    const { managed } = from.dependencies
    if (managed === undefined) throw new Error("this process cannot order certificates")
    const found = await managed.obtain(settings)
    if (found !== undefined) read.found.set(name, found)
    read.acme.push(settings)
  } catch (error) {
    throw new Error(`certificate \`${name}\`: ${(error as Error).message}`)
  }
}

/** How clients reach each listener of a plan, by `host:port`. */
export type Transports = ReadonlyMap<string, Transport>

/** What was read for the listeners of a plan. */
interface TransportParts {
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly trusts: ListenerTrusts["trusts"]
  readonly managed: ManagedCertificates | undefined
  readonly tickets: TicketKeys | undefined
  readonly staples: OcspStaples | undefined
  /** Those in use: what is the same is taken from them. */
  readonly running: Transports | undefined
}

/** The certificates that clients see at these listeners. */
export function certificatesServed(transports: Transports): ServerCertificate[] {
  return [...transports.values()].flatMap(({ tls }) => tls?.sources ?? [])
}

/**
 * How clients reach the listeners of the gateway, of the engine or of the control API.
 * @throws LoadError with all certificates that cannot be used
 */
export function transportsOf(
  plan: Plan,
  { side, listen }: ListenersOfSide,
  { certificates, trusts, managed, tickets, staples, running }: TransportParts,
): Transports {
  const { certificates: declared = {} } = plan.plan
  const known = (name: string): ServerCertificate | AwaitedCertificate => {
    const found = certificates.get(name)
    if (found !== undefined) return { name, ...found, staples: declared[name]?.ocspStapling }
    const certificate = declared[name]
    if (certificate !== undefined && "acme" in certificate) return { name, hosts: certificate.acme.hosts }
    throw new Error(`there is no certificate \`${name}\``)
  }
  const isValidated = Object.values(declared).some(
    (each) => "acme" in each && each.acme.challenge === "tls-alpn-01",
  )
  const findValidation = isValidated ? (host: string) => managed?.validation(host) ?? nothing : undefined
  const problems: string[] = []
  const transports = new Map<string, Transport>()
  for (const listener of listen) {
    const address = addressText(listener)
    try {
      transports.set(
        address,
        transportOf(listener, {
          ...{ known, findValidation, clientTrusts: trusts.get(address) },
          findStaple: staples?.find,
          tickets: tickets && { keys: tickets, listener: `${side} ${address}` },
          running: running?.get(address)?.tls,
        }),
      )
    } catch (error) {
      problems.push(`${plan.origins[side] ?? side}: listener ${address}: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new LoadError(problems)
  return transports
}

const nothing = Promise.resolve(undefined)

function transportOf(
  { tls, redirect, proxies, http2, grpc }: ListenerPlan,
  {
    known,
    running,
    ...more
  }: Pick<ListenerTlsSettings, "clientTrusts" | "findValidation" | "findStaple" | "tickets"> & {
    known(name: string): ServerCertificate | AwaitedCertificate
    readonly running: ListenerTls | undefined
  },
): Transport {
  const redirectPort = redirect?.port
  const isProxy = proxies && proxyTest(proxies)
  if (tls === undefined) return { redirectPort, isProxy, h2c: http2 === true || grpc === true, grpc }
  const settings: ListenerTlsSettings = {
    certificates: tls.certificates.map(known),
    profile: tls.profile ?? "intermediate",
    refusesUnknownHosts: tls.unknownHosts === "refuse",
    http2: http2 !== false,
    ...more,
  }
  const serverTls = running?.fits(settings) === true ? running : new ListenerTls(settings)
  return { tls: serverTls, isProxy, strictTransport: strictTransportOf(tls.hsts), grpc }
}

function proxyTest(networks: readonly string[]): (address: string) => boolean {
  const addresses = new ClientAddresses(networks)
  return (address) => addresses.of(address, undefined).trusted
}

/** The value of Strict-Transport-Security (RFC 6797 §6.1). */
function strictTransportOf(hsts: NonNullable<ListenerPlan["tls"]>["hsts"]): string | undefined {
  if (hsts === undefined) return undefined
  const subdomains = hsts.subdomains === true ? "; includeSubDomains" : ""
  return `max-age=${hsts.maxAgeSeconds}${subdomains}${hsts.preload === true ? "; preload" : ""}`
}

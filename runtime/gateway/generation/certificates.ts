import { ClientTrust, type ReadFile } from "../../http/server/client-trust.ts"
import type { Transport } from "../../http/server/incoming.ts"
import { ListenerTls } from "../../http/server/tls.ts"
import { pairProblem } from "../../plan/certificate-pair.ts"
import { fileReason } from "../../plan/file-reason.ts"
import type { Plan } from "../../plan/plan.ts"
import { addressText, type CertificatePlan, type ListenerPlan } from "../../plan/resources.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import type { SeenFile } from "./file-watch.ts"
import { LoadError } from "./load-error.ts"
import { type Outside, type References, readPlanFile } from "./references.ts"

/**
 * Reads certificate and key and checks that they belong together: otherwise every connection would fail later.
 * @throws Error with the file or the secret that is wrong
 */
export async function readCertificate(
  name: string,
  { cert, key }: CertificatePlan,
  from: {
    readonly dependencies: Outside
    readonly files: SeenFile[]
    readonly references: Pick<References, "values" | "secrets">
  },
): Promise<ClientCertificate> {
  const found = { cert: await readPem(name, cert, from), key: await readPem(name, key, from) }
  const wrong = pairProblem(found, { cert: sourceWords(cert), key: sourceWords(key) })
  if (wrong !== undefined) throw new Error(`certificate \`${name}\`: ${wrong}`)
  return found
}

/** @throws Error with the file that cannot be read */
async function readPem(
  name: string,
  source: CertificatePlan["cert"],
  { dependencies, files, references }: Parameters<typeof readCertificate>[2],
): Promise<string> {
  // A missing secret or value was reported when they were read.
  if ("secret" in source) return references.secrets.get(source.secret) ?? ""
  if ("value" in source) return references.values.get(source.value) ?? ""
  try {
    const { file, text } = await readPlanFile(dependencies, source.file)
    files.push(file)
    return text
  } catch (error) {
    throw new Error(`certificate \`${name}\`: \`${source.file}\` cannot be read: ${fileReason(error)}`)
  }
}

function sourceWords(source: CertificatePlan["cert"]): string {
  if ("secret" in source) return `the secret \`${source.secret}\``
  return "value" in source ? `the value \`${source.value}\`` : `\`${source.file}\``
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
  side: "gateway" | "authz",
  outside: Outside,
): Promise<ListenerTrusts> {
  const problems: string[] = []
  const files: SeenFile[] = []
  const trusts = new Map<string, readonly ClientTrust[]>()
  const read = async ({ file }: { readonly file: string }): Promise<ReadFile> => {
    try {
      const found = await readPlanFile(outside, file)
      files.push(found.file)
      return { file, text: found.text }
    } catch (error) {
      throw new Error(`\`${file}\` cannot be read: ${fileReason(error)}`)
    }
  }
  for (const listener of plan.plan[side]?.listen ?? []) {
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

/** How clients reach each listener of a plan, by `host:port`. */
export type Transports = ReadonlyMap<string, Transport>

/**
 * How clients reach the listeners of the gateway or of the engine.
 * @throws LoadError with all certificates that cannot be used
 */
export function transportsOf(
  plan: Plan,
  side: "gateway" | "authz",
  certificates: ReadonlyMap<string, ClientCertificate>,
  trusts: ListenerTrusts["trusts"],
): Transports {
  const problems: string[] = []
  const transports = new Map<string, Transport>()
  for (const listener of plan.plan[side]?.listen ?? []) {
    const address = addressText(listener)
    try {
      transports.set(address, transportOf(listener, certificates, trusts.get(address)))
    } catch (error) {
      problems.push(`${plan.origins[side] ?? side}: listener ${address}: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new LoadError(problems)
  return transports
}

function transportOf(
  { tls, redirect }: ListenerPlan,
  certificates: ReadonlyMap<string, ClientCertificate>,
  clientTrusts: readonly ClientTrust[] | undefined,
): Transport {
  const redirectPort = redirect?.port
  if (tls === undefined) return { redirectPort }
  const serverTls = new ListenerTls({
    certificates: tls.certificates.map((name) => {
      const found = certificates.get(name)
      if (found === undefined) throw new Error(`there is no certificate \`${name}\``)
      return { name, ...found }
    }),
    profile: tls.profile ?? "intermediate",
    refusesUnknownHosts: tls.unknownHosts === "refuse",
    clientTrusts,
  })
  return { tls: serverTls, strictTransport: strictTransportOf(tls.hsts) }
}

/** The value of Strict-Transport-Security (RFC 6797 §6.1). */
function strictTransportOf(hsts: NonNullable<ListenerPlan["tls"]>["hsts"]): string | undefined {
  if (hsts === undefined) return undefined
  const subdomains = hsts.subdomains === true ? "; includeSubDomains" : ""
  return `max-age=${hsts.maxAgeSeconds}${subdomains}${hsts.preload === true ? "; preload" : ""}`
}

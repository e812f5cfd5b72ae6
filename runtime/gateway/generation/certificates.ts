import { createPrivateKey, X509Certificate } from "node:crypto"
import type { Transport } from "../../http/server/incoming.ts"
import { ListenerTls } from "../../http/server/tls.ts"
import { fileReason } from "../../plan/file-reason.ts"
import type { Plan } from "../../plan/plan.ts"
import { addressText, type CertificatePlan, type ListenerPlan } from "../../plan/resources.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import type { SeenFile } from "./file-watch.ts"
import { LoadError } from "./load-error.ts"
import { type Outside, readPlanFile } from "./references.ts"

/**
 * Reads certificate and key and checks that they belong together: otherwise every connection would fail later.
 * @throws Error with the file that is wrong
 */
export async function readCertificate(
  name: string,
  { cert, key }: CertificatePlan,
  { dependencies, files }: { readonly dependencies: Outside; readonly files: SeenFile[] },
): Promise<ClientCertificate> {
  const read = async ({ file }: { readonly file: string }): Promise<string> => {
    try {
      const { file: seen, text } = await readPlanFile(dependencies, file)
      files.push(seen)
      return text
    } catch (error) {
      throw new Error(`certificate \`${name}\`: \`${file}\` cannot be read: ${fileReason(error)}`)
    }
  }
  const found = { cert: await read(cert), key: await read(key) }
  const wrong = pairProblem(found, { cert: cert.file, key: key.file })
  if (wrong !== undefined) throw new Error(`certificate \`${name}\`: ${wrong}`)
  return found
}

/** Why the pair cannot be used, with the remedy. */
function pairProblem(
  { cert, key }: ClientCertificate,
  files: { readonly cert: string; readonly key: string },
): string | undefined {
  const certificate = attempt(() => new X509Certificate(cert))
  if (certificate === undefined)
    return `\`${files.cert}\` contains no PEM certificate; one starts with \`-----BEGIN CERTIFICATE-----\``
  const secret = attempt(() => createPrivateKey(key))
  if (secret === undefined)
    return `\`${files.key}\` contains no PEM key without a password; remove the password with \`openssl pkey\``
  return certificate.checkPrivateKey(secret)
    ? undefined
    : `the key in \`${files.key}\` does not belong to the certificate in \`${files.cert}\`; use two files that belong together`
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
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
): Transports {
  const problems: string[] = []
  const transports = new Map<string, Transport>()
  for (const listener of plan.plan[side]?.listen ?? []) {
    const address = addressText(listener)
    try {
      transports.set(address, transportOf(listener, certificates))
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
  })
  return { tls: serverTls, strictTransport: strictTransportOf(tls.hsts) }
}

/** The value of Strict-Transport-Security (RFC 6797 §6.1). */
function strictTransportOf(hsts: NonNullable<ListenerPlan["tls"]>["hsts"]): string | undefined {
  if (hsts === undefined) return undefined
  const subdomains = hsts.subdomains === true ? "; includeSubDomains" : ""
  return `max-age=${hsts.maxAgeSeconds}${subdomains}${hsts.preload === true ? "; preload" : ""}`
}

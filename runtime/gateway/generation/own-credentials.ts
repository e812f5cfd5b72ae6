import { createPrivateKey, X509Certificate } from "node:crypto"
import type { RequestSender } from "../../http/client/http-client.ts"
import { TokenClient, type TokenClientSettings } from "../../identity/token-client.ts"
import { digestOf } from "../../plan/canonical.ts"
import { fileReason } from "../../plan/file-reason.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { ClientCertificatePlan } from "../../plan/resources.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import type { SeenFile } from "./file-watch.ts"
import type { Held } from "./held.ts"
import { type Outside, type References, readPlanFile } from "./references.ts"

/** The gateway's own credentials, by their names in the plan. */
export interface OwnCredentials {
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly tokenClients: ReadonlyMap<string, Held<TokenClient>>
}

/** What creating credentials needs. */
interface CredentialMaker {
  readonly references: References
  readonly dependencies: Outside & { readonly http: RequestSender }
  readonly files: SeenFile[]
  attempt(place: string, make: () => unknown): void
  attemptLater(place: string, make: () => Promise<void>): Promise<void>
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Reads certificates and creates token clients, or reuses those of the previous plan: a reused client keeps its token. */
export async function provisionCredentials(
  maker: CredentialMaker,
  plan: PlanBody,
  previous: OwnCredentials | undefined,
): Promise<OwnCredentials> {
  const certificates = new Map<string, ClientCertificate>()
  for (const [name, certificate] of Object.entries(plan.certificates ?? {})) {
    await maker.attemptLater(`certificates.${name}`, async () => {
      const read = await readCertificate(maker, name, certificate)
      const before = previous?.certificates.get(name)
      // Keeps the object of an unchanged certificate, because steps compare what they looked up by identity.
      const same = before?.cert === read.cert && before.key === read.key
      certificates.set(name, same ? before : read)
    })
  }
  const tokenClients = new Map<string, Held<TokenClient>>()
  for (const [name, client] of Object.entries(plan.tokenClients ?? {})) {
    maker.attempt(`tokenClients.${name}`, () => {
      const { references, dependencies } = maker
      const text = (found: typeof client.scope) => (found === undefined ? undefined : references.text(found))
      const { endpoint } = client
      const settings: TokenClientSettings = {
        name,
        endpoint:
          "url" in endpoint
            ? { url: references.text(endpoint.url) }
            : { discovery: references.text(endpoint.discovery) },
        client: references.text(client.client),
        secret: references.secrets.get(client.secret) ?? "",
        scope: text(client.scope),
        audience: text(client.audience),
        inBody: client.inBody,
      }
      const make = () => ({ value: new TokenClient(settings, dependencies.http), close: () => undefined })
      tokenClients.set(name, maker.take(previous?.tokenClients.get(name), digestOf(settings), make))
    })
  }
  return { certificates, tokenClients }
}

/** Reads certificate and key and checks that they belong together: otherwise every connection would fail later. */
async function readCertificate(
  maker: CredentialMaker,
  name: string,
  { cert, key }: ClientCertificatePlan,
): Promise<ClientCertificate> {
  const read = async ({ file }: { readonly file: string }): Promise<string> => {
    try {
      const { file: seen, text } = await readPlanFile(maker.dependencies, file)
      maker.files.push(seen)
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

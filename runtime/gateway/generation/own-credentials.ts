import type { RequestSender } from "../../http/client/http-client.ts"
import { TokenClient, type TokenClientSettings } from "../../identity/token-client.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import { readCertificate } from "./certificates.ts"
import type { SeenFile } from "./file-watch.ts"
import type { Held } from "./held.ts"
import type { Outside, References } from "./references.ts"

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
      const read = await readCertificate(name, certificate, maker)
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

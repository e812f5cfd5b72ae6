import type { RequestSender } from "../../http/client/http-client.ts"
import type { AcmeSettings, ManagedCertificates } from "../../http/server/managed-certificates.ts"
import { TokenClient, type TokenClientSettings } from "../../identity/token-client.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { Clock } from "../../policies/clock.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import { addCertificate, type ReadCertificates } from "./certificates.ts"
import type { SeenFile } from "./file-watch.ts"
import type { Held } from "./held.ts"
import type { Outside, References } from "./references.ts"

/** The gateway's own credentials, by their names in the plan. */
export interface OwnCredentials {
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  /** The certificates that this process may order. */
  readonly acme: readonly AcmeSettings[]
  readonly tokenClients: ReadonlyMap<string, Held<TokenClient>>
}

/** What creating credentials needs. */
interface CredentialMaker {
  readonly references: References
  readonly dependencies: Outside & {
    readonly http: RequestSender
    readonly clock: Clock
    readonly managed?: ManagedCertificates | undefined
  }
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
  const read: ReadCertificates = { found: new Map(), acme: [] }
  for (const [name, certificate] of Object.entries(plan.certificates ?? {})) {
    await maker.attemptLater(`certificates.${name}`, async () => {
      await addCertificate(name, certificate, maker, read)
      const before = previous?.certificates.get(name)
      const now = read.found.get(name)
      // Keeps the object of an unchanged certificate, because steps compare what they looked up by identity.
      if (before !== undefined && before.cert === now?.cert && before.key === now.key)
        read.found.set(name, before)
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
      const make = () => ({
        value: new TokenClient(settings, dependencies.http, dependencies.clock.monotonic),
        close: () => undefined,
      })
      tokenClients.set(name, maker.take(previous?.tokenClients.get(name), digestOf(settings), make))
    })
  }
  return { certificates: read.found, acme: read.acme, tokenClients }
}

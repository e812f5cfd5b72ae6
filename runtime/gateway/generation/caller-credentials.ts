import type { RequestSender } from "../../http/client/http-client.ts"
import { Introspection, type IntrospectionSettings, type OpaqueTokens } from "../../identity/introspection.ts"
import { type Passwords, UserTable } from "../../identity/users.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { Held } from "./held.ts"
import type { References } from "./references.ts"

/** What callers' tokens and passwords are judged by, by the names of the plan. */
interface CallerCredentials {
  readonly introspections: ReadonlyMap<string, Held<OpaqueTokens>>
  readonly users: ReadonlyMap<string, Held<Passwords>>
}

/** What making them needs of whoever makes the resources of a plan. */
interface CredentialMaker {
  readonly references: References
  readonly dependencies: { readonly http: RequestSender }
  attempt(place: string, make: () => unknown): void
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Makes introspections and tables of users, or takes them over with what they have in mind. */
export function provisionCallers(
  maker: CredentialMaker,
  plan: PlanBody,
  previous: CallerCredentials | undefined,
): CallerCredentials {
  const { references, dependencies } = maker
  const secret = (name: string) => references.secrets.get(name) ?? ""
  const introspections = new Map<string, Held<OpaqueTokens>>()
  for (const [name, each] of Object.entries(plan.introspections ?? {})) {
    maker.attempt(`introspections.${name}`, () => {
      const settings: IntrospectionSettings = {
        name,
        url: references.text(each.url),
        client: references.text(each.client),
        secret: secret(each.secret),
        cacheMs: each.cacheSeconds * 1000,
      }
      const make = () => ({ value: new Introspection(settings, dependencies.http), close: () => undefined })
      introspections.set(name, maker.take(previous?.introspections.get(name), digestOf(settings), make))
    })
  }
  const users = new Map<string, Held<Passwords>>()
  for (const [name, each] of Object.entries(plan.users ?? {})) {
    maker.attempt(`users.${name}`, () => {
      const entries = each.users.map((one) => ({ user: one.user, secret: secret(one.secret) }))
      const make = () => ({ value: new UserTable(name, entries), close: () => undefined })
      users.set(name, maker.take(previous?.users.get(name), digestOf(entries), make))
    })
  }
  return { introspections, users }
}

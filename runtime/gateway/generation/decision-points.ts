import type { RequestSender } from "../../http/client/http-client.ts"
import type { TokenClient } from "../../identity/token-client.ts"
import { DecisionPoint, type PdpSettings } from "../../pdp/decision-point.ts"
import type { PdpNotes, PdpState } from "../../pdp/standing.ts"
import type { AccessEvaluation, Entity } from "../../pdp/wire.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { PdpPlan } from "../../plan/resources.ts"
import type { Clock } from "../../policies/clock.ts"
import { basicAuthorization } from "../../policies/credentials/authentication.ts"
import type { AccessRequest, AskedFor, Authorizer } from "../../policies/policy.ts"
import { Breaker } from "../backends/breaker.ts"
import type { Held } from "./held.ts"
import type { OwnCredentials } from "./own-credentials.ts"
import type { References } from "./references.ts"

/** What creating decision points needs. */
interface PointMaker {
  readonly references: References
  readonly dependencies: {
    readonly http: RequestSender
    readonly clock: Clock
    readonly pdpNotes?: PdpNotes
  }
  attemptLater(place: string, make: () => Promise<void>): Promise<void>
  readAuthorities(what: string, file: string): Promise<string>
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** A decision point of the plan as an authorizer. */
export interface AskedPoint extends Authorizer {
  pdpState(): PdpState
}

/** Creates the decision points of a plan, or reuses those of the previous plan with their cached decisions and breakers. */
export async function provisionDecisionPoints(
  maker: PointMaker,
  plan: PlanBody,
  own: OwnCredentials,
  previous: { readonly decisionPoints: ReadonlyMap<string, Held<AskedPoint>> } | undefined,
): Promise<ReadonlyMap<string, Held<AskedPoint>>> {
  const points = new Map<string, Held<AskedPoint>>()
  for (const [name, pdp] of Object.entries(plan.pdps ?? {})) {
    await maker.attemptLater(`pdps.${name}`, async () => {
      const { tls, breaker } = pdp
      const ca =
        tls.ca === undefined
          ? undefined
          : await maker.readAuthorities(`decision point \`${name}\``, tls.ca.file)
      const { value: authorization, key } = authorizationOf(pdp, maker.references, own)
      const settings: PdpSettings = {
        name,
        url: maker.references.text(pdp.url),
        discover: pdp.discover,
        timeoutMs: pdp.timeoutMs,
        cacheMs: pdp.cacheMs,
        batchMax: pdp.batchMax,
        trust: ca === undefined && !tls.insecure ? undefined : { ca, insecure: tls.insecure },
        certificate: tls.certificate === undefined ? undefined : own.certificates.get(tls.certificate),
        authorization,
      }
      const made = digestOf({ ...settings, authorization: key, breaker })
      const make = () => ({
        value: asked(
          new DecisionPoint(
            settings,
            maker.dependencies.http,
            breaker === undefined ? undefined : new Breaker(breaker),
            maker.dependencies.pdpNotes,
            maker.dependencies.clock.monotonic,
          ),
        ),
        close: () => undefined,
      })
      points.set(name, maker.take(previous?.decisionPoints.get(name), made, make))
    })
  }
  return points
}

/** The credential at a decision point, with a key that changes when the credential does. */
function authorizationOf(
  { authentication }: PdpPlan,
  references: References,
  { tokenClients }: OwnCredentials,
): { readonly value: PdpSettings["authorization"]; readonly key: string | undefined } {
  if (authentication === undefined) return { value: undefined, key: undefined }
  if (authentication.scheme === "token") {
    const held: Held<TokenClient> | undefined = tokenClients.get(authentication.client)
    if (held === undefined) throw new Error(`the token client \`${authentication.client}\` cannot be used`)
    return { value: held.value, key: held.key }
  }
  const secret = (name: string) => references.secrets.get(name) ?? ""
  if (authentication.scheme === "basic") {
    const basic = basicAuthorization(references.text(authentication.user), secret(authentication.password))
    return { value: basic, key: basic }
  }
  const token = secret(authentication.token)
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error(
      `the secret \`${authentication.token}\` cannot be sent as a token: it contains characters other than visible ASCII`,
    )
  return { value: `Bearer ${token}`, key: token }
}

/** Wraps a decision point as an authorizer. */
function asked(point: DecisionPoint): AskedPoint {
  const ask = async (requests: readonly AccessRequest[], asker: AskedFor) => {
    const ending = new AbortController()
    asker.whenOver(() => ending.abort())
    return point.ask(requests.map(evaluationOf), { requestId: asker.id, signal: ending.signal })
  }
  return {
    remote: true,
    pdpState: () => point.state(),
    async check(_, request, asker) {
      const [decision] = await ask([request], asker)
      return decision ?? { allowed: false }
    },
    async batch(_, requests, asker) {
      return { results: await ask(requests, asker) }
    },
    change: () => Promise.reject(new Error("a decision point stores no tuples")),
  }
}

/** A question of the gateway as an AuthZEN evaluation. */
function evaluationOf({ user, relation, object, context, properties = {} }: AccessRequest): AccessEvaluation {
  const { subject, resource, action } = properties
  return {
    subject: entityOf(user, subject),
    action: { name: relation, ...(action === undefined ? {} : { properties: action }) },
    resource: entityOf(object, resource),
    ...(context === undefined || Object.keys(context).length === 0 ? {} : { context }),
  }
}

/** Splits `type:id`; the compiler guarantees the form. */
function entityOf(name: string, properties: Entity["properties"]): Entity {
  const colon = name.indexOf(":")
  return {
    type: name.slice(0, colon),
    id: name.slice(colon + 1),
    ...(properties === undefined ? {} : { properties }),
  }
}

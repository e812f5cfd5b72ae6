import type { BackendAnswer, BackendRequest, World } from "../../runtime/gateway/in-process/world.ts"
import type { RecordedRequest, RecordedResponse } from "../../runtime/record/recorded-request.ts"

const none: World["tuples"] = {}
const noneDown: World["issuersDown"] = new Set()

/** Failures of backends, by the problem that they became. */
const failures: Readonly<Record<string, Extract<BackendAnswer, { readonly failure: string }>>> = {
  "gateway-timeout": { failure: "silent" },
  "bad-gateway": { failure: "reset" },
  "backend-unavailable": { failure: "refused" },
  "backend-refused": { failure: "refused" },
  overloaded: { failure: "refused" },
}

/** Answers as the backends did when a request was recorded. */
export class RecordedWorld {
  readonly empty: World = {
    ...{ timeMs: 0, answer: () => ({ failure: "refused" }), tuples: none },
    ...{ issued: new Map(), issuersDown: noneDown },
  }
  /** A backend got the request whose response is not recorded. */
  isAssumed = false
  #left: RecordedResponse[] = []
  #failure: BackendAnswer | undefined

  /** The world of a request. */
  of({ atMs, responses, outcome }: RecordedRequest, issued: World["issued"]): World {
    this.isAssumed = false
    this.#left = [...responses]
    this.#failure = responses.length === 0 ? failures[outcome.problem ?? ""] : undefined
    const answer = (request: BackendRequest) => this.#answer(request)
    return { timeMs: atMs, tuples: none, issued, issuersDown: noneDown, answer }
  }

  #answer(request: BackendRequest): BackendAnswer {
    if (request.backend === undefined) return serviceAnswer(request)
    const named = this.#left.findIndex(({ backend }) => backend === request.backend)
    const [response] = this.#left.splice(Math.max(0, named), 1)
    if (response !== undefined)
      return {
        status: response.status,
        // Without its body, a message has no coding.
        headers: response.headers.filter(([name]) => name !== "content-encoding"),
      }
    if (this.#failure !== undefined) return this.#failure
    this.isAssumed = true
    return { status: 200 }
  }
}

const wellKnown = "/.well-known/openid-configuration"

/** Token endpoints give the gateway its own tokens. What other services answered is not recorded. */
function serviceAnswer({ origin, target, body }: BackendRequest): BackendAnswer {
  const isDiscovery = target.endsWith(wellKnown)
  const issuer = origin + target.slice(0, -wellKnown.length)
  const content = isDiscovery
    ? { issuer, token_endpoint: `${origin}/token`, jwks_uri: `${origin}/keys` }
    : { access_token: "replayed", token_type: "Bearer", expires_in: 3_600 }
  return isDiscovery || isTokenRequest(body)
    ? {
        status: 200,
        headers: [["content-type", "application/json"]],
        body: Buffer.from(JSON.stringify(content)),
      }
    : { status: 503 }
}

/** RFC 6749 §4.4.2. */
export function isTokenRequest(body: Buffer): boolean {
  return body.includes("grant_type=client_credentials")
}

import type { PdpPlan } from "../../runtime/plan/resources.ts"
import { closes, type FieldRules, neutral, opens } from "../analysis/finding.ts"
import { backendStatements, durationWords, textWords } from "../analysis/words.ts"

/**
 * What a difference in a decision point means. The compiler cannot know which callers gain or lose access at another one, and the finding
 * says so.
 */
export const pdpRules: FieldRules<PdpPlan> = {
  url: () => opens("another service decides: which callers it allows is not known here"),
  discover: (_, after) =>
    opens(after ? "its metadata now provides its endpoints" : "its endpoints are now below its URL"),
  timeoutMs: (before, after) => {
    const words = `a response may take ${durationWords(after)}; then callers get 503`
    return after < before ? closes(words) : neutral(words)
  },
  cacheMs: (before, after) =>
    after > before
      ? opens(`revoked permissions stay in effect for up to ${durationWords(after)}`)
      : closes(`a decision is cached for ${durationWords(after)} instead of ${durationWords(before)}`),
  batchMax: () => neutral("the maximum number of evaluations in one request has changed"),
  tls: (before, after) => {
    if (after.insecure && !before.insecure)
      return opens("its certificate is not checked: any machine on the network path can decide in its place")
    if (before.insecure && !after.insecure) return closes("its certificate is now checked")
    return before.certificate === after.certificate
      ? opens("another certificate authority is trusted for it")
      : opens("the gateway sends it another client certificate, or none: its decisions may differ")
  },
  authentication: () =>
    opens(
      "the gateway sends it other credentials: its decisions may differ; if it refuses them, callers get 503",
    ),
  breaker: () =>
    neutral("the circuit breaker stops and resumes questions at other times while the decision point fails"),
}

/** The statements of a decision point, by field of the plan. */
export const pdpStatements: { readonly [Key in keyof Required<PdpPlan>]: (pdp: PdpPlan) => string } = {
  url: ({ url }) => `url ${textWords(url)}`,
  discover: ({ discover }) => (discover ? "discover" : "endpoints below its URL"),
  timeoutMs: ({ timeoutMs }) => `timeout ${durationWords(timeoutMs)}`,
  cacheMs: ({ cacheMs }) => (cacheMs === 0 ? "no cache" : `cache ${durationWords(cacheMs)}`),
  batchMax: ({ batchMax }) => `batch ${batchMax}`,
  tls: ({ tls }) => backendStatements.tls({ tls }),
  authentication: ({ authentication }) =>
    authentication?.scheme === "bearer"
      ? `authenticate bearer ${authentication.token}`
      : backendStatements.authentication(authentication === undefined ? {} : { authentication }),
  breaker: ({ breaker }) => backendStatements.breaker(breaker === undefined ? {} : { breaker }),
}

/** A decision point as declared, without defaults. */
export function pdpWords(name: string, pdp: PdpPlan): string {
  if (name === "authz") return `authz ${pdpStatements.url(pdp)}`
  const { discover, timeoutMs, cacheMs, batchMax, tls, authentication, breaker } = pdp
  const said: readonly (keyof PdpPlan | false)[] = [
    "url",
    discover && "discover",
    timeoutMs !== 1_000 && "timeoutMs",
    cacheMs !== 0 && "cacheMs",
    batchMax !== 50 && "batchMax",
    (tls.insecure || tls.ca !== undefined || tls.certificate !== undefined) && "tls",
    authentication !== undefined && "authentication",
    breaker !== undefined && "breaker",
  ]
  const words = said.flatMap((field) => (field === false ? [] : [pdpStatements[field](pdp)]))
  return `pdp ${name} { ${words.join("; ")} }`
}

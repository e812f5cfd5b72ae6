import type { FactsOf, StepFacts } from "./facts.ts"
import { bodyRead, bodyWritten, headerOf, type Place, queryOf, wholeResponse } from "./places.ts"
import type { StepOf } from "./steps.ts"
import type { CredentialSource, LimitKey } from "./steps-access.ts"

type AccessKind =
  | "validate-jwt"
  | "introspect"
  | "basic-auth"
  | "validate-key"
  | "check-header"
  | "ip-filter"
  | "rate-limit"
  | "quota"
  | "cors"
  | "require"
  | "require-any"
  | "require-all"
  | "filter"
  | "grant"

const authorization = headerOf("request", "authorization")

/** Where a credential is read, and what is taken out of the request once it was good. */
function credential(from: CredentialSource): { readonly read: Place[]; readonly taken: Place[] } {
  if ("header" in from) return { read: [headerOf("request", from.header)], taken: [] }
  if ("text" in from) return { read: [], taken: [] }
  const place = "query" in from ? queryOf(from.query) : headerOf("request", "cookie")
  return { read: [place], taken: from.forward ? [] : [place] }
}

function variables(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`variable:${name}`]))
}

function answerFields(...names: readonly (string | undefined)[]): Place[] {
  return names.flatMap((name): Place[] => (name === undefined ? [] : [`answer.header:${name}`]))
}

function tokenFacts(step: StepOf<"validate-jwt" | "introspect">): StepFacts {
  const { read, taken } = credential(step.from)
  const asked: Place[] = step.kind === "introspect" ? [`service:${step.introspection}`] : []
  return {
    reads: [...read, ...asked],
    writes: ["caller", ...variables(step.output), ...taken],
    ends: ["refuse"],
    waits: true,
  }
}

function keysRead(keys: readonly LimitKey[]): Place[] {
  return keys.flatMap(({ by }): Place[] =>
    by === "claim" ? ["caller"] : by === "subscription" ? ["subscription"] : [],
  )
}

type Counting = Pick<StepOf<"rate-limit">, "keys" | "counter" | "countIf" | "increment">

/** What is counted may depend on the answer, and is then known when the exchange is over. */
function countingFacts({ keys, counter, countIf, increment }: Counting): StepFacts {
  const place: Place = `counter:${counter}`
  const isTokens = typeof increment === "object" && "tokens" in increment
  const isLate = countIf !== undefined || typeof increment === "object"
  const estimated = isTokens && increment.tokens.estimatePrompt !== false
  return {
    reads: [place, ...keysRead(keys), ...(estimated ? bodyRead("request") : [])],
    leaves: [place],
    ends: estimated ? ["refuse", "fail"] : ["refuse"],
    waits: true,
    ...(isLate ? { late: wholeResponse } : {}),
  }
}

function decider({
  store,
  pdp,
}: {
  readonly store?: string | undefined
  readonly pdp?: string | undefined
}): Place {
  return pdp === undefined ? `tuples:${store ?? ""}` : `service:${pdp}`
}

/** Facts of steps that decide who may pass. */
export const accessFacts: { readonly [Kind in AccessKind]: FactsOf<Kind> } = {
  "validate-jwt": tokenFacts,
  introspect: tokenFacts,
  "basic-auth": ({ forward }) => ({
    reads: [authorization],
    writes: ["caller", ...(forward ? [] : [authorization])],
    ends: ["refuse"],
    waits: true,
  }),
  "validate-key": ({ header, query, forward }) => {
    const places = [
      ...(header === null ? [] : [headerOf("request", header)]),
      ...(query === null ? [] : [queryOf(query)]),
    ]
    return { reads: places, writes: ["subscription", ...(forward ? [] : places)], ends: ["refuse"] }
  },
  "check-header": ({ name }) => ({ reads: [headerOf("request", name)], ends: ["refuse"] }),
  "ip-filter": () => ({ ends: ["refuse"] }),
  "rate-limit": (step) => {
    const facts = countingFacts(step)
    const { remainingHeader, totalHeader, consumedHeader } = step
    const { remainingVariable, totalVariable, consumedVariable, retryAfterVariable } = step
    return {
      ...facts,
      writes: variables(remainingVariable, totalVariable, consumedVariable, retryAfterVariable),
      leaves: [
        ...(facts.leaves ?? []),
        ...answerFields("ratelimit", "ratelimit-policy", remainingHeader, totalHeader, consumedHeader),
      ],
    }
  },
  quota: (step) => {
    const facts = countingFacts(step)
    return {
      ...facts,
      // A period begins with the subscription.
      reads: [...(facts.reads ?? []), "subscription"],
      writes: variables(step.remainingVariable, step.consumedVariable),
      leaves: [...(facts.leaves ?? []), ...answerFields(step.remainingHeader, step.consumedHeader)],
    }
  },
  cors: ({ credentials, expose }) => ({
    reads: ["origin", "access-control-request-method", "access-control-request-headers"].map((name) =>
      headerOf("request", name),
    ),
    // In outbound it takes away what the backend says.
    writes: [
      "access-control-allow-origin",
      "access-control-allow-credentials",
      "access-control-allow-methods",
      "access-control-allow-headers",
      "access-control-expose-headers",
      "access-control-max-age",
    ].map((name) => headerOf("response", name)),
    leaves: answerFields(
      "vary",
      "access-control-allow-origin",
      credentials ? "access-control-allow-credentials" : undefined,
      expose.length > 0 ? "access-control-expose-headers" : undefined,
    ),
    ends: ["answer"],
  }),
  require: (step) => ({ reads: [decider(step)], ends: ["refuse"], waits: true, fits: "narrow" }),
  "require-any": () => ({ ends: ["refuse"] }),
  "require-all": () => ({ ends: ["refuse"] }),
  filter: (step) => ({
    reads: [decider(step), "response.status", ...bodyRead("response")],
    writes: bodyWritten("response", true),
    ends: ["refuse"],
    waits: true,
    fits: "narrow",
  }),
  grant: ({ store }) => ({
    reads: ["response.status"],
    leaves: [`tuples:${store}`, "log"],
    ends: ["refuse"],
    waits: true,
    fits: "narrow",
  }),
}

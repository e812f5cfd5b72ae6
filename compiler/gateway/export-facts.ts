import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import {
  type CredentialStep,
  factsOf,
  isCredential,
  type Step,
  type StepId,
  type StepOf,
} from "../../runtime/plan/steps.ts"
import type { Operation, SecurityScheme } from "../openapi/api-document.ts"
import type { GatewayFacts } from "../openapi/own-answers.ts"
import type { DescribedOperation } from "./described.ts"

/** What the steps of an API's routes mean for those who call it, in OpenAPI's words. */
export class ExportFacts {
  readonly #step: (id: StepId) => Step | undefined
  readonly #errors: GatewayFacts["errors"]
  readonly #used = new Map<string, object>()

  /** `errors`: how the gateway's failures look. */
  constructor(step: (id: StepId) => Step | undefined, errors: GatewayFacts["errors"]) {
    this.#step = step
    this.#errors = errors
  }

  /** Security schemes that were named so far, besides those of documents. */
  used(): Record<string, object> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  facts({ sections }: Route, described: DescribedOperation | undefined): GatewayFacts {
    const steps = this.#steps(sections.inbound)
    const all = steps.flatMap((step) => this.#within(step))
    const limits = all.filter((step): step is StepOf<"rate-limit"> => step.kind === "rate-limit")
    return {
      security: this.#security(steps, described),
      limits: limits.flatMap(limitOf),
      limitHeaders: limits.flatMap(({ remainingHeader, totalHeader }) => [
        "ratelimit",
        ...[remainingHeader, totalHeader].filter((each) => each !== undefined),
      ]),
      retryAfter: limits[0]?.retryAfterHeader ?? "retry-after",
      errors: this.#errors,
      problems: [...new Set(all.flatMap((step) => factsOf(step).statuses ?? []))].sort((a, b) => a - b),
      deprecated: steps.some((step) => step.kind === "deprecation" && step.deprecated !== false),
    }
  }

  #steps(ids: readonly StepId[]): Step[] {
    return ids.flatMap((id) => this.#step(id) ?? [])
  }

  #within(step: Step): Step[] {
    const inside = nestedSteps(step).flatMap(({ steps }) => this.#steps(steps))
    return [step, ...inside.flatMap((each) => this.#within(each))]
  }

  /** Any of the ways callers may come in, by the document's names where it has them; undefined where the gateway asks for nothing and the document does. */
  #security(steps: readonly Step[], described: DescribedOperation | undefined): GatewayFacts["security"] {
    const ways = steps
      .flatMap((step) => (step.kind === "any-of" ? this.#steps(step.steps) : [step]))
      .filter(isCredential)
    if (ways.length === 0) return described?.operation.security === undefined ? [] : undefined
    const found = ways.flatMap((way) => {
      const known = described === undefined ? [] : documented(way, described)
      return known.length > 0 ? known : this.#own(way)
    })
    return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
  }

  #own(way: CredentialStep): Readonly<Record<string, readonly string[]>>[] {
    return ownSchemes(way).map(([base, scheme]) => {
      const text = JSON.stringify(scheme)
      let name = base
      for (let count = 2; JSON.stringify(this.#used.get(name) ?? scheme) !== text; count += 1)
        name = `${base}_${count}`
      this.#used.set(name, scheme)
      return { [name]: [] }
    })
  }
}

/** Schemes the document demands for the operation that are this way in. */
function documented(
  way: CredentialStep,
  { operation, document }: DescribedOperation,
): Record<string, readonly string[]>[] {
  return (operation.security ?? []).flatMap(({ schemes }: NonNullable<Operation["security"]>[number]) => {
    const [only] = schemes
    const scheme = only === undefined ? undefined : document.securitySchemes.get(only.name)
    return only !== undefined && schemes.length === 1 && scheme !== undefined && isSame(way, scheme)
      ? [{ [only.name]: only.scopes }]
      : []
  })
}

function isSame(way: CredentialStep, { kind, definition }: SecurityScheme): boolean {
  if (kind === "apiKey") {
    const place = definition["in"]
    const key = String(definition["name"])
    return ownSchemes(way).some(([, scheme]) => {
      const own = scheme as { readonly in?: string; readonly name?: string }
      return own.in === place && (place === "header" ? own.name === key.toLowerCase() : own.name === key)
    })
  }
  if (kind === "basic") return way.kind === "basic-auth"
  const takesTokens = way.kind === "validate-jwt" || way.kind === "introspect"
  const isBearer = kind === "bearer" || kind === "oauth2" || kind === "openIdConnect"
  return takesTokens && isBearer && keyOf(way.from) === undefined
}

function ownSchemes(way: CredentialStep): (readonly [string, object])[] {
  switch (way.kind) {
    case "validate-jwt":
      return way.issuers.map((issuer) => [
        `jwt_${issuer}`,
        keyOf(way.from) ?? { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      ])
    case "introspect":
      return [[`token_${way.introspection}`, keyOf(way.from) ?? { type: "http", scheme: "bearer" }]]
    case "basic-auth":
      return [[`basic_${way.users}`, { type: "http", scheme: "basic" }]]
    case "validate-key":
      return [
        ...(way.header === null ? [] : [keyScheme("header", way.header)]),
        ...(way.query === null ? [] : [keyScheme("query", way.query)]),
      ]
  }
}

function keyScheme(place: "header" | "query", name: string): readonly [string, object] {
  return [`subscription_${place}`, { type: "apiKey", in: place, name }]
}

/** A token that is not in `Authorization` is a key to OpenAPI. */
function keyOf(from: StepOf<"validate-jwt">["from"]): object | undefined {
  if ("query" in from) return { type: "apiKey", in: "query", name: from.query }
  if ("cookie" in from) return { type: "apiKey", in: "cookie", name: from.cookie }
  if ("header" in from && from.header !== "authorization")
    return { type: "apiKey", in: "header", name: from.header }
  return undefined
}

/** A limit of calls; one of tokens is none. */
function limitOf({ callsMax, periodSeconds, keys, increment }: StepOf<"rate-limit">): GatewayFacts["limits"] {
  if (typeof increment === "object" && "tokens" in increment) return []
  if (typeof callsMax !== "number" || typeof periodSeconds !== "number") return []
  const by = keys.map((key) => (key.by === "claim" ? `jwt.${key.claim}` : key.by)).join(" else ")
  return [{ calls: callsMax, periodSeconds, by }]
}

import type { Route } from "../../runtime/plan/resources.ts"
import {
  type CredentialStep,
  credentialsOf,
  factsOf,
  nestedSteps,
  type Step,
  type StepId,
  type StepOf,
} from "../../runtime/plan/steps.ts"
import type { Operation, SecurityScheme } from "../openapi/api-document.ts"
import type { GatewayFacts } from "../openapi/own-answers.ts"
import type { DescribedOperation } from "./described.ts"
import { credentialTextOf } from "./step-texts.ts"

/** Describes in OpenAPI terms what the steps of an API's routes mean for callers. */
export class ExportFacts {
  readonly #step: (id: StepId) => Step | undefined
  readonly #errors: GatewayFacts["errors"]
  readonly #used = new Map<string, object>()

  /** `errors`: the format of the gateway's error responses. */
  constructor(step: (id: StepId) => Step | undefined, errors: GatewayFacts["errors"]) {
    this.#step = step
    this.#errors = errors
  }

  /** The security schemes named so far, without those declared in documents. */
  used(): Record<string, object> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** What the gateway itself requires and answers on a route, read from its steps. */
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

  /**
   * The alternative security requirements, with the document's scheme names if it has them. Undefined if the document demands credentials
   * and the gateway does not.
   */
  #security(steps: readonly Step[], described: DescribedOperation | undefined): GatewayFacts["security"] {
    const ways = steps.flatMap((step) => credentialsOf(step, this.#step))
    if (ways.length === 0) return described?.operation.security === undefined ? [] : undefined
    const found = ways.flatMap((way) => {
      const known = described === undefined ? [] : documented(way, described)
      return known.length > 0 ? known : this.#own(way)
    })
    return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
  }

  /** Names of schemes are unique in the document: equal definitions share one, different ones get a number. */
  #own(way: CredentialStep): Readonly<Record<string, readonly string[]>>[] {
    return credentialTextOf(way)
      .schemes(way)
      .map(([base, scheme]) => {
        const text = JSON.stringify(scheme)
        let name = base
        for (let count = 2; JSON.stringify(this.#used.get(name) ?? scheme) !== text; count += 1)
          name = `${base}_${count}`
        this.#used.set(name, scheme)
        return { [name]: [] }
      })
  }
}

/** The schemes demanded by the document that correspond to this way of authentication. */
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

/** Whether a scheme of the document describes this credential. Names of headers have no letter case, those of parameters do. */
function isSame(way: CredentialStep, { kind, definition }: SecurityScheme): boolean {
  return credentialTextOf(way)
    .schemes(way)
    .some(([, scheme]) => {
      const own = scheme as { readonly scheme?: string; readonly in?: string; readonly name?: string }
      if (kind === "basic") return own.scheme === "basic"
      if (kind !== "apiKey") return own.scheme === "bearer" && tokenSchemes.has(kind)
      const place = definition["in"]
      const key = String(definition["name"])
      return own.in === place && (place === "header" ? own.name === key.toLowerCase() : own.name === key)
    })
}

/** Kinds of schemes that a token in `Authorization` satisfies. */
const tokenSchemes: ReadonlySet<SecurityScheme["kind"]> = new Set(["bearer", "oauth2", "openIdConnect"])

/** A limit of calls. Limits of tokens are not described. */
function limitOf({ callsMax, periodSeconds, keys, increment }: StepOf<"rate-limit">): GatewayFacts["limits"] {
  if (typeof increment === "object" && "tokens" in increment) return []
  if (typeof callsMax !== "number" || typeof periodSeconds !== "number") return []
  const by = keys.map((key) => (key.by === "claim" ? `jwt.${key.claim}` : key.by)).join(" else ")
  return [{ calls: callsMax, periodSeconds, by }]
}

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
    const ways = steps.flatMap((step) => credentialsOf(step, this.#step))
    if (ways.length === 0) return described?.operation.security === undefined ? [] : undefined
    const found = ways.flatMap((way) => {
      const known = described === undefined ? [] : documented(way, described)
      return known.length > 0 ? known : this.#own(way)
    })
    return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
  }

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

/** Kinds of schemes that a token in `Authorization` meets. */
const tokenSchemes: ReadonlySet<SecurityScheme["kind"]> = new Set(["bearer", "oauth2", "openIdConnect"])

/** A limit of calls; one of tokens is none. */
function limitOf({ callsMax, periodSeconds, keys, increment }: StepOf<"rate-limit">): GatewayFacts["limits"] {
  if (typeof increment === "object" && "tokens" in increment) return []
  if (typeof callsMax !== "number" || typeof periodSeconds !== "number") return []
  const by = keys.map((key) => (key.by === "claim" ? `jwt.${key.claim}` : key.by)).join(" else ")
  return [{ calls: callsMax, periodSeconds, by }]
}

import { z } from "zod"
import { digestOf, stepIdOf } from "./canonical.ts"
import { type Plan, type PlanBody, plan, planFormat, type SealedPlan, sealedPlan } from "./plan.ts"
import type { Step } from "./steps.ts"

/** What is wrong with a plan: `path` in the JSON (`plan.routes["GET /x"].inbound[2]`), empty for the whole. */
export interface PlanProblem {
  readonly path: string
  readonly message: string
}

/** A plan that may be loaded, or everything that is wrong with it. */
export type PlanRead = { readonly plan: Plan } | { readonly problems: readonly PlanProblem[] }
/** As `PlanRead`, for a plan sealed with the serial it was made against. */
export type SealedRead = { readonly sealed: SealedPlan } | { readonly problems: readonly PlanProblem[] }

/** Deeper JSON is refused before the schema walks it (its recursion is bounded by the stack only). */
const depthMax = 200
const problemsMax = 50

/**
 * Validates a plan completely: format, every key, digest, and that every name and step it refers to is in it.
 * The compiler reads its own output with this, and the runtime everything it is given.
 */
export function readPlan(json: unknown): PlanRead {
  const early = precheck(json)
  if (early !== undefined) return { problems: [early] }
  const parsed = plan.safeParse(json)
  if (!parsed.success) return { problems: problemsOf(parsed.error) }
  const problems = integrity(parsed.data)
  return problems.length > 0 ? { problems } : { plan: parsed.data }
}

/** The same for a sealed plan (`sallyport plan --out`). */
export function readSealedPlan(json: unknown): SealedRead {
  if (depth(json) > depthMax) return { problems: [{ path: "", message: `nested deeper than ${depthMax}` }] }
  const early = isRecord(json) ? precheck(json["plan"], "plan") : undefined
  if (early !== undefined) return { problems: [early] }
  const parsed = sealedPlan.safeParse(json)
  if (!parsed.success) return { problems: problemsOf(parsed.error) }
  const problems = integrity(parsed.data.plan).map((found) => ({ ...found, path: `plan.${found.path}` }))
  return problems.length > 0 ? { problems } : { sealed: parsed.data }
}

function precheck(json: unknown, at = ""): PlanProblem | undefined {
  if (depth(json) > depthMax) return { path: at, message: `nested deeper than ${depthMax}` }
  if (!isRecord(json)) return { path: at, message: "is not a plan: a JSON object is expected" }
  if (json["format"] === planFormat) return undefined
  const path = at === "" ? "format" : `${at}.format`
  return {
    path,
    message:
      json["format"] === undefined
        ? "has no `format`: this is not a plan"
        : `plan format ${JSON.stringify(json["format"])} is not known here; this version reads format ${planFormat}. Make the plan again with the version that serves it`,
  }
}

function integrity(read: Plan): PlanProblem[] {
  const actual = digestOf(read.plan)
  if (actual !== read.digest) {
    return [
      {
        path: "digest",
        message: `the digest does not fit the content (it says ${read.digest}, the content has ${actual}): the plan was changed after it was made. Make it again from the text`,
      },
    ]
  }
  const problems: PlanProblem[] = []
  new Integrity(read.plan, problems).check()
  return problems.slice(0, problemsMax)
}

/** Checks that everything a plan refers to is in it, and that no list of steps contains itself. */
class Integrity {
  readonly #plan: PlanBody
  readonly #problems: PlanProblem[]
  readonly #used = new Set<string>()

  constructor(body: PlanBody, problems: PlanProblem[]) {
    this.#plan = body
    this.#problems = problems
  }

  check(): void {
    const { routes, steps, products, subscriptions, authz } = this.#plan
    for (const [key, route] of Object.entries(routes)) {
      if (key !== `${route.method} ${route.path}`)
        this.#add(`routes[${quote(key)}]`, `its key must be \`${route.method} ${route.path}\``)
      for (const section of ["inbound", "backend", "outbound", "onError"] as const) {
        this.#steps(route.sections[section], `routes[${quote(key)}].sections.${section}`, [])
      }
    }
    for (const [id, step] of Object.entries(steps)) {
      if (!this.#used.has(id)) this.#add(`steps.${id}`, "no route uses this step")
      // Compiled steps are carried over by id: an id that is not its content's would run another step than the plan says.
      if (stepIdOf(step) !== id)
        this.#add(`steps.${id}`, `the id does not fit the content, which has \`${stepIdOf(step)}\``)
    }
    for (const [key, product] of Object.entries(products)) {
      const known = new Set(Object.values(routes).map((route) => route.api))
      for (const api of product.apis)
        if (!known.has(api)) this.#add(`products.${key}.apis`, `no route belongs to an API \`${api}\``)
    }
    for (const [key, subscription] of Object.entries(subscriptions)) {
      this.#has(this.#plan.secrets, subscription.key, `subscriptions.${key}.key`, "secret")
      if ("product" in subscription.scope)
        this.#has(products, subscription.scope.product, `subscriptions.${key}.scope`, "product")
    }
    for (const [key, store] of Object.entries(authz?.stores ?? {})) {
      this.#has(this.#plan.models, store.model, `authz.stores.${key}.model`, "model")
    }
    this.#names(this.#plan, "")
  }

  #steps(ids: readonly string[], path: string, above: readonly string[]): void {
    ids.forEach((id, index) => {
      const step = this.#plan.steps[id]
      if (step === undefined) this.#add(`${path}[${index}]`, `there is no step \`${id}\``)
      else if (above.includes(id)) this.#add(`${path}[${index}]`, `step \`${id}\` contains itself`)
      else if (!this.#used.has(id)) this.#step(step, id, `steps.${id}`, [...above, id])
    })
  }

  #step(step: Step, id: string, path: string, above: readonly string[]): void {
    this.#used.add(id)
    if (step.kind === "when") {
      this.#steps(step.matched, `${path}.matched`, above)
      this.#steps(step.otherwise, `${path}.otherwise`, above)
    } else if (step.kind === "any-of") this.#steps(step.steps, `${path}.steps`, above)
    else if (step.kind === "validate-jwt")
      this.#has(this.#plan.issuers, step.issuer, `${path}.issuer`, "issuer")
    else if (step.kind === "forward")
      this.#has(this.#plan.backends, step.backend, `${path}.backend`, "backend")
    else if (step.kind === "require")
      this.#has(this.#plan.authz?.stores ?? {}, step.store, `${path}.store`, "store")
  }

  /** Every `{value: name}` and `{secret: name}` anywhere. */
  #names(node: unknown, path: string): void {
    if (Array.isArray(node)) {
      node.forEach((item, index) => {
        this.#names(item, `${path}[${index}]`)
      })
      return
    }
    if (!isRecord(node)) return
    for (const [key, item] of Object.entries(node)) {
      if (path === "" && key === "models") continue
      // Names of claims are the issuer's: one may be called `value`.
      if (key === "claims" && /^issuers\.[^.]+$/.test(path)) continue
      if (typeof item === "string" && Object.keys(node).length === 1) {
        if (key === "value") this.#has(this.#plan.values, item, path, "value")
        if (key === "secret") this.#has(this.#plan.secrets, item, path, "secret")
      }
      this.#names(item, path === "" ? key : `${path}.${key}`)
    }
  }

  #has(table: Record<string, unknown>, key: string, path: string, what: string): void {
    if (!Object.hasOwn(table, key)) this.#add(path, `there is no ${what} \`${key}\``)
  }

  #add(path: string, message: string): void {
    this.#problems.push({ path: `plan.${path}`, message })
  }
}

function problemsOf(error: z.ZodError): PlanProblem[] {
  return error.issues
    .slice(0, problemsMax)
    .map((issue) => ({ path: z.core.toDotPath(issue.path), message: issue.message }))
}

function quote(key: string): string {
  return JSON.stringify(key)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Nesting depth of JSON, counted with an own stack: the value may be hostile. */
function depth(json: unknown): number {
  let deepest = 0
  const stack: [unknown, number][] = [[json, 1]]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [node, level] = top
    if (level > deepest) deepest = level
    if (level > depthMax || node === null || typeof node !== "object") continue
    for (const item of Object.values(node)) stack.push([item, level + 1])
  }
  return deepest
}

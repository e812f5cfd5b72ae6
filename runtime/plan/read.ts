import type * as z from "zod"
import { toDotPath } from "zod/v4/core"
import type { EngineGrants } from "./authz.ts"
import { digestOf, stepIdOf } from "./canonical.ts"
import { controlRoles } from "./control.ts"
import type { NamedTable } from "./facts.ts"
import type { OidcClientPlan } from "./oidc-client.ts"
import { type Plan, type PlanBody, plan, planFormat } from "./plan.ts"
import { holderOfSetting, type Issuer, routeKeyOf } from "./resources.ts"
import { readSignerKey, type SealedPlan, sealedPlan } from "./seal.ts"
import type { RelationQuestion } from "./step-values.ts"
import { factsOf, isRelation, nestedSteps, type Step } from "./steps.ts"

/** A problem of a plan. `path` in the JSON (`plan.routes["GET /x"].inbound[2]`); empty for the whole. */
export interface PlanProblem {
  readonly path: string
  readonly message: string
}

/** A plan that can be loaded, or all its problems. */
export type PlanRead = { readonly plan: Plan } | { readonly problems: readonly PlanProblem[] }
/** Like `PlanRead`, for a sealed plan. */
export type SealedRead = { readonly sealed: SealedPlan } | { readonly problems: readonly PlanProblem[] }

const problemsMax = 50
/** Nesting limit of steps such as `when` and `any-of`: the runtime walks inner steps recursively. */
const stepDepthMax = 200

/** Deeper JSON is rejected before the schema walks it, because only the stack bounds the schema's recursion. */
const depthMax = 200

/** An object or list of the JSON, with its path. */
interface Place {
  readonly value: object
  readonly key: string
  readonly level: number
  readonly above: Place | undefined
}

const issuesMax = 50
const charactersMax = 300
const wordCharactersMax = 60

/** A problem of a value. `path` in it, with dots and brackets; empty for the whole. */
interface SchemaIssue {
  readonly path: string
  readonly message: string
}

/**
 * Validates a plan completely: format, every key, digest, and that every referenced name and step exists. The compiler reads its own output with this,
 * and the runtime reads every plan with it.
 */
export function readPlan(json: unknown): PlanRead {
  const early = precheck(json)
  if (early !== undefined) return { problems: [early] }
  const parsed = plan.safeParse(json)
  if (!parsed.success) return { problems: problemsOf(parsed.error) }
  const problems = integrity(parsed.data)
  return problems.length > 0 ? { problems } : { plan: parsed.data }
}

/** Placeholder for a plan that has no digest yet. */
const noDigest = `sha256:${"0".repeat(64)}`

/** Makes a plan of new content: adds its digest, after the checks of `readPlan`, which would compute it a second time. */
export function completePlan(content: Pick<Plan, "plan" | "origins">): PlanRead {
  const made = { format: planFormat, digest: noDigest, ...content }
  const early = precheck(made)
  if (early !== undefined) return { problems: [early] }
  const parsed = plan.safeParse(made)
  if (!parsed.success) return { problems: problemsOf(parsed.error) }
  const problems = consistency(parsed.data)
  if (problems.length > 0) return { problems }
  return { plan: { ...parsed.data, digest: digestOf(parsed.data.plan) } }
}

/** Like `readPlan`, for a sealed plan (`sallyport plan --out`). */
export function readSealedPlan(json: unknown): SealedRead {
  const shape = shapeProblem(json)
  if (shape !== undefined) return { problems: [shape] }
  if (isRecord(json) && (json["sealed"] === 1 || json["sealed"] === 2))
    return {
      problems: [
        {
          path: "sealed",
          message: "was sealed by an earlier version, whose seal does not say who made the plan, and when",
        },
      ],
    }
  const early = isRecord(json) ? precheck(json["plan"], "plan") : undefined
  if (early !== undefined) return { problems: [early] }
  const parsed = sealedPlan.safeParse(json)
  if (!parsed.success) return { problems: problemsOf(parsed.error) }
  const { plan, seal, checksum } = parsed.data
  const problems = integrity(plan).map((found) => ({ ...found, path: `plan.${found.path}` }))
  if (digestOf(seal) !== checksum)
    problems.push({
      path: "checksum",
      message: "the checksum does not match the seal: the file was changed after it was sealed",
    })
  if (seal.digest !== plan.digest)
    problems.push({ path: "seal.digest", message: "the seal is that of another plan" })
  return problems.length > 0 ? { problems } : { sealed: parsed.data }
}

/** The problems that would make every further finding meaningless: not JSON of a plan, or another format. */
function precheck(json: unknown, at = ""): PlanProblem | undefined {
  const shape = at === "" ? shapeProblem(json) : undefined
  if (shape !== undefined) return shape
  if (!isRecord(json)) return { path: at, message: "is not a plan: a JSON object is expected" }
  if (json["format"] === planFormat) return undefined
  const path = at === "" ? "format" : `${at}.format`
  return {
    path,
    message:
      json["format"] === undefined
        ? "has no `format`: this is not a plan"
        : `plan format ${cut(JSON.stringify(json["format"]))} is not supported; this version reads format ${planFormat}. Create the plan again with the version that serves it`,
  }
}

/** The digest first: after it, the content is what the compiler made. */
function integrity(read: Plan): PlanProblem[] {
  const actual = digestOf(read.plan)
  if (actual !== read.digest) {
    return [
      {
        path: "digest",
        message: `the digest does not match the content (expected ${read.digest}, found ${actual}): the plan was changed after it was created. Create it again with \`sallyport plan\``,
      },
    ]
  }
  return consistency(read)
}

function consistency(read: Plan): PlanProblem[] {
  const problems: PlanProblem[] = []
  new Integrity(read.plan, problems).check()
  return problems.slice(0, problemsMax)
}

/** Checks that everything a plan refers to exists, and that no list of steps contains itself. */
class Integrity {
  readonly #plan: PlanBody
  readonly #problems: PlanProblem[]
  /** The nesting depth of each step that routes use: 1 for a step without inner steps. */
  readonly #depths = new Map<string, number>()
  #tooDeep = false

  constructor(body: PlanBody, problems: PlanProblem[]) {
    this.#plan = body
    this.#problems = problems
  }

  /** Checks that everything a plan names exists in it, and that nothing in it is unused. */
  check(): void {
    const { gateway, routes, steps, products, subscriptions, authz, models } = this.#plan
    this.#steps(gateway?.onUnmatched ?? [], "gateway.onUnmatched", [])
    for (const [key, route] of Object.entries(routes)) {
      if (key !== routeKeyOf(route))
        this.#add(`routes[${quote(key)}]`, `its key must be \`${cut(routeKeyOf(route))}\``)
      for (const section of ["inbound", "backend", "outbound", "onError"] as const) {
        this.#steps(route.sections[section], `routes[${quote(key)}].sections.${section}`, [])
      }
      if (route.outline !== undefined)
        this.#has(this.#plan.outlines ?? {}, route.outline, `routes[${quote(key)}].outline`, "outline")
    }
    for (const [id, step] of Object.entries(steps)) {
      if (!this.#tooDeep && !this.#depths.has(id)) this.#add(`steps.${id}`, "no route uses this step")
      // A new plan reuses compiled steps by id. If an id did not match its content, another step than the plan's would run.
      if (stepIdOf(step) !== id)
        this.#add(`steps.${id}`, `the id does not match the content, which has \`${stepIdOf(step)}\``)
    }
    for (const place of Object.keys(this.#plan.settings ?? {}))
      if (holderOfSetting(this.#plan, place) === undefined)
        this.#add(`settings.${place}`, "the plan has no such place")
    const outlines = new Set(Object.values(routes).map(({ outline }) => outline))
    for (const [id, outline] of Object.entries(this.#plan.outlines ?? {})) {
      if (!outlines.has(id)) this.#add(`outlines.${id}`, "no route has this outline")
      if (stepIdOf(outline) !== id) this.#add(`outlines.${id}`, "the id does not match the content")
    }
    for (const [key, product] of Object.entries(products)) {
      const known = new Set(Object.values(routes).map((route) => route.api))
      for (const api of product.apis)
        if (!known.has(api)) this.#add(`products.${key}.apis`, `no route belongs to an API \`${api}\``)
    }
    this.#gatewaySecrets()
    for (const [key, subscription] of Object.entries(subscriptions)) {
      this.#has(this.#plan.secrets, subscription.key, `subscriptions.${key}.key`, "secret")
      if (subscription.secondary !== undefined)
        this.#has(this.#plan.secrets, subscription.secondary, `subscriptions.${key}.secondary`, "secret")
      if ("product" in subscription.scope)
        this.#has(products, subscription.scope.product, `subscriptions.${key}.scope`, "product")
    }
    for (const [key, issuer] of Object.entries(this.#plan.issuers)) this.#issuer(issuer, `issuers.${key}`)
    this.#credentials()
    if (authz !== null) this.#authz(authz)
    this.#operators()
    this.#portal()
    // Stores identify models by this digest. With a wrong one, a store would take a new model for one it already has.
    for (const [key, { model }] of Object.entries(models)) {
      const actual = digestOf(model)
      if (actual !== key)
        this.#add(`models[${quote(key)}]`, `the digest does not match the model, which has ${actual}`)
    }
    // A new plan reuses compiled schemas by this name.
    for (const [key, schema] of Object.entries(this.#plan.schemas)) {
      const actual = digestOf(schema)
      if (actual !== key)
        this.#add(`schemas[${quote(key)}]`, `the digest does not match the schema, which has ${actual}`)
      for (const name of schemaReferences(schema)) this.#hasSchema(name, key, `schemas[${quote(key)}]`)
    }
    for (const [key, item] of Object.entries(this.#plan))
      if (key !== "models" && key !== "schemas") this.#names(item, [key])
  }

  /** A shared secret verifies only HMAC; a public key never does (RFC 8725 section 3.1). */
  #issuer({ source, algorithms }: Issuer, path: string): void {
    const keys = "inline" in source ? source.inline : []
    for (const key of keys)
      if ("secret" in key) this.#has(this.#plan.secrets, key.secret, `${path}.source.inline`, "secret")
    const secrets = keys.filter((key) => "secret" in key).length
    const hmac = algorithms.some((algorithm) => algorithm.startsWith("HS"))
    if (hmac ? secrets === 0 || secrets < keys.length : secrets > 0)
      this.#add(
        `${path}.algorithms`,
        "a shared secret needs HMAC algorithms, and HMAC algorithms need a shared secret",
      )
  }

  /** The secrets of Redis, of collectors and of the record. */
  #gatewaySecrets(): void {
    const { shared, tracing, metrics, record } = this.#plan.gateway ?? {}
    const has = (secret: string, place: string) =>
      this.#has(this.#plan.secrets, secret, `gateway.${place}`, "secret")
    if (shared !== undefined) has(shared.redis, "shared.redis")
    for (const { secret } of tracing?.headers ?? []) has(secret, "tracing.headers")
    for (const { secret } of metrics?.headers ?? []) has(secret, "metrics.headers")
    if (record !== undefined) has(record.protectedBy.secret, "record.protectedBy")
  }

  /** What credentials name. */
  #credentials(): void {
    const { backends, secrets, tokenClients = {}, certificates = {} } = this.#plan
    for (const side of ["gateway", "authz", "control", "portal"] as const)
      this.#plan[side]?.listen.forEach(({ tls }, index) => {
        for (const each of tls?.certificates ?? [])
          this.#has(certificates, each, `${side}.listen[${index}].tls.certificates`, "certificate")
      })
    for (const [key, certificate] of Object.entries(certificates)) {
      if ("acme" in certificate) {
        const { protectedBy, externalAccount } = certificate.acme
        for (const { secret } of [protectedBy, externalAccount ?? protectedBy])
          this.#has(secrets, secret, `certificates.${key}.acme`, "secret")
        continue
      }
      const { cert, key: own } = certificate
      if ("value" in cert) this.#has(this.#plan.values, cert.value, `certificates.${key}.cert`, "value")
      if ("secret" in cert) this.#has(secrets, cert.secret, `certificates.${key}.cert`, "secret")
      if ("secret" in own) this.#has(secrets, own.secret, `certificates.${key}.key`, "secret")
    }
    for (const [key, { secret }] of Object.entries(this.#plan.introspections ?? {}))
      this.#has(secrets, secret, `introspections.${key}.secret`, "secret")
    this.#oidcClients()
    for (const [key, { users }] of Object.entries(this.#plan.users ?? {}))
      for (const { secret } of users) this.#has(secrets, secret, `users.${key}.users`, "secret")
    for (const [key, { secret }] of Object.entries(tokenClients))
      this.#has(secrets, secret, `tokenClients.${key}.secret`, "secret")
    for (const [key, { tls, authentication }] of Object.entries(backends)) {
      const path = `backends.${key}`
      if (tls.certificate !== undefined)
        this.#has(certificates, tls.certificate, `${path}.tls.certificate`, "certificate")
      if (authentication?.scheme === "token")
        this.#has(tokenClients, authentication.client, `${path}.authentication.client`, "token client")
      else if (authentication !== undefined)
        this.#has(secrets, authentication.password, `${path}.authentication.password`, "secret")
    }
    for (const [key, { tls, authentication }] of Object.entries(this.#plan.pdps ?? {})) {
      const path = `pdps.${key}`
      if (tls.certificate !== undefined)
        this.#has(certificates, tls.certificate, `${path}.tls.certificate`, "certificate")
      if (authentication?.scheme === "token")
        this.#has(tokenClients, authentication.client, `${path}.authentication.client`, "token client")
      else if (authentication?.scheme === "basic")
        this.#has(secrets, authentication.password, `${path}.authentication.password`, "secret")
      else if (authentication?.scheme === "bearer")
        this.#has(secrets, authentication.token, `${path}.authentication.token`, "secret")
    }
  }

  /** What OIDC clients name. Their issuer needs endpoints, and their sessions in Redis an address. */
  #oidcClients(): void {
    const { secrets, issuers, gateway, portal, oidcClients = {} } = this.#plan
    const clients: (readonly [string, OidcClientPlan])[] = Object.entries(oidcClients).map(
      ([key, client]) => [`oidcClients.${key}`, client] as const,
    )
    if (portal?.signIn !== undefined) clients.push(["portal.signIn.client", portal.signIn.client])
    if (portal?.signIn?.client.store === "redis")
      this.#add("portal.signIn.client.store", "the portal keeps sessions in cookies")
    for (const [path, { issuer, secret, store, sessionKeys }] of clients) {
      this.#has(issuers, issuer, `${path}.issuer`, "issuer")
      const source = issuers[issuer]?.source
      if (source !== undefined && !("discovery" in source))
        this.#add(`${path}.issuer`, "a login needs an issuer with a discovery document")
      for (const each of [...sessionKeys.map((one) => one.secret), ...(secret === undefined ? [] : [secret])])
        this.#has(secrets, each, path, "secret")
      if (store === "redis" && gateway?.shared === undefined)
        this.#add(`${path}.store`, "sessions in Redis need `gateway.shared`")
    }
  }

  /** What the portal shows of an API must be there only once. */
  #portal(): void {
    const seen = new Set<string>()
    this.#plan.portal?.apis.forEach(({ api, version }, index) => {
      const key = `${api} ${version ?? ""}`
      if (seen.has(key)) this.#add(`portal.apis[${index}]`, "the version is published twice")
      seen.add(key)
    })
  }

  /** The issuers of operators. */
  #operators(): void {
    for (const key of Object.keys(this.#plan.control?.issuers ?? {})) {
      this.#has(this.#plan.issuers, key, `control.issuers.${key}`, "issuer")
      // As for the engine: tokens of other services would be accepted.
      if (this.#plan.issuers[key]?.audiences === null)
        this.#add(`control.issuers.${key}`, "the control API accepts no tokens without an audience")
    }
    // Rules that nobody can keep: no plan could replace this one.
    const groups = Object.values(this.#plan.control?.issuers ?? {}).flatMap((issuer) => issuer.groups ?? [])
    const known = new Set<string>([...controlRoles, ...groups.map(({ group }) => group)])
    this.#plan.change?.consents?.forEach(({ of }, index) => {
      if (of !== undefined && !known.has(of))
        this.#add(`change.consents[${index}].of`, `no issuer of \`control\` gives the group \`${cut(of)}\``)
    })
    this.#plan.change?.signers?.forEach(({ key }, index) => {
      if (readSignerKey(key) === undefined)
        this.#add(`change.signers[${index}].key`, "is not a public key of Ed25519 or of ECDSA on P-256")
    })
  }

  /** What the engine names. */
  #authz({ stores, auth, authzen }: NonNullable<PlanBody["authz"]>): void {
    for (const [key, store] of Object.entries(stores))
      this.#has(this.#plan.models, store.model, `authz.stores.${key}.model`, "model")
    if (authzen.store !== null) this.#has(stores, authzen.store, "authz.authzen.store", "store")
    const grants = (path: string, { read, write }: EngineGrants) => {
      for (const [right, granted] of Object.entries({ read, write }))
        if (granted !== "*")
          for (const store of granted) this.#has(stores, store, `${path}.${right}`, "store")
    }
    for (const [key, granted] of Object.entries(auth?.keys ?? {})) {
      this.#has(this.#plan.secrets, key, `authz.auth.keys.${key}`, "secret")
      grants(`authz.auth.keys.${key}`, granted)
    }
    for (const [key, { subjects, anySubject }] of Object.entries(auth?.issuers ?? {})) {
      const path = `authz.auth.issuers.${key}`
      this.#has(this.#plan.issuers, key, path, "issuer")
      // Without an audience, a token made for any other service of the issuer would be accepted by the engine (CVE-2026-55689).
      if (this.#plan.issuers[key]?.audiences === null)
        this.#add(path, "the engine accepts no tokens without an audience")
      subjects.forEach((each, index) => {
        grants(`${path}.subjects[${index}]`, each.grants)
      })
      if (anySubject !== null) grants(`${path}.anySubject`, anySubject)
    }
  }

  /** Checks a list of steps and their inner steps. Returns their depth. */
  #steps(ids: readonly string[], path: string, above: readonly string[]): number {
    let deepest = 0
    ids.forEach((id, index) => {
      const step = this.#plan.steps[id]
      const at = `${path}[${index}]`
      if (step === undefined) this.#add(at, `there is no step \`${id}\``)
      else if (above.includes(id)) this.#add(at, `step \`${id}\` contains itself`)
      else {
        const depth = this.#depths.get(id) ?? this.#step(step, id, above)
        if (above.length + depth > stepDepthMax) this.#reportDepth(at)
        deepest = Math.max(deepest, depth)
        if (isUnreported(step, this.#plan.steps[ids[index + 1] ?? ""]))
          this.#add(
            at,
            "its errors are to be reported with those of the body, which the next step does not check",
          )
      }
    })
    return deepest
  }

  /** The depth of a step. `above`: the steps that contain it. */
  #step(step: Step, id: string, above: readonly string[]): number {
    // Deeper steps are an error, so they are not walked: a hostile plan must not determine the depth of the recursion.
    if (above.length >= stepDepthMax) return 1
    const path = `steps.${id}`
    const inside = [...above, id]
    const depth = Math.max(
      0,
      ...nestedSteps(step).map(({ place, steps }) => this.#steps(steps, `${path}.${place}`, inside)),
    )
    this.#depths.set(id, depth + 1)
    this.#refers(step, path)
    return depth + 1
  }

  #reportDepth(at: string): void {
    if (!this.#tooDeep) this.#add(at, `steps are nested more than ${stepDepthMax} levels deep`)
    this.#tooDeep = true
  }

  #refers(step: Step, path: string): void {
    if (isRelation(step)) this.#asks(step, path)
    for (const { table, name, field } of factsOf(step).names ?? [])
      if (table === "schemas") this.#hasSchema(name, undefined, path)
      else this.#has(this.#named(table), name, `${path}.${field}`, tableWords[table])
  }

  #named(table: Exclude<NamedTable, "schemas">): Record<string, unknown> {
    return (table === "stores" ? this.#plan.authz?.stores : this.#plan[table]) ?? {}
  }

  /** A check needs a store or a decision point. Without one, it could not deny. */
  #asks(step: Partial<RelationQuestion>, path: string): void {
    const { store, pdp } = step
    if ((store === undefined) === (pdp === undefined))
      this.#add(path, "a check names either a store or a decision point")
    if (pdp === undefined ? step.properties !== undefined : step.tuples !== undefined)
      this.#add(path, "properties are for decision points, tuples for stores")
  }

  /** Checks every `{value: name}` and `{secret: name}` at any depth. `path`: the keys so far, put together only for a problem. */
  #names(node: unknown, path: (string | number)[]): void {
    if (!isObject(node)) return
    const keys = Object.keys(node)
    for (const key of keys) {
      const item = (node as Readonly<Record<string, unknown>>)[key]
      if (isObject(item)) {
        // The issuer chooses the names of claims: one may be called `value`.
        if (key === "claims" && path.length === 2 && path[0] === "issuers") continue
        path.push(Array.isArray(node) ? Number(key) : key)
        this.#names(item, path)
        path.pop()
      } else if (keys.length === 1 && typeof item === "string") {
        if (key === "value") this.#has(this.#plan.values, item, toDotPath(path), "value")
        if (key === "secret") this.#has(this.#plan.secrets, item, toDotPath(path), "secret")
      }
    }
  }

  /** Checks that a schema name refers to a schema of the plan, or to a member of one. */
  #hasSchema(name: string, own: string | undefined, path: string): void {
    const [key, pointer] = name.split("#", 2) as [string, string | undefined]
    const schema = this.#plan.schemas[key === "" && own !== undefined ? own : key]
    const members = typeof schema === "object" ? schema["$defs"] : undefined
    const member = pointer?.slice("/$defs/".length)
    const found = member === undefined ? schema !== undefined : Object.hasOwn(Object(members), member)
    if (!found) this.#add(path, `there is no schema \`${cut(name)}\``)
  }

  #has(table: Record<string, unknown>, key: string, path: string, what: string): void {
    if (!Object.hasOwn(table, key)) this.#add(path, `there is no ${what} \`${cut(key)}\``)
  }

  #add(path: string, message: string): void {
    this.#problems.push({ path: `plan.${path}`, message })
  }
}

/** Words for the entries of each table in messages. */
const tableWords: { readonly [Table in Exclude<NamedTable, "schemas">]: string } = {
  issuers: "issuer",
  introspections: "introspection",
  oidcClients: "OIDC client",
  users: "users",
  backends: "backend",
  stores: "store",
  pdps: "decision point",
  tokenClients: "token client",
  certificates: "certificate",
}

/** Whether no step would report the faults that this step found: the request would pass with them. */
function isUnreported(step: Step, next: Step | undefined): boolean {
  if (step.kind !== "validate-parameters" || step.withBody !== true) return false
  return next?.kind !== "validate-content" || next.message !== "request"
}

function quote(key: string): string {
  return JSON.stringify(cut(key, 120))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value)
}

/** Every `$ref` of a schema. */
function schemaReferences(schema: unknown): string[] {
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "enum" || key === "const") return []
    return key === "$ref" && typeof value === "string" ? [value] : schemaReferences(value)
  })
}

/** Whether a value of JSON is an object or a list. */
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

/** Problems a schema cannot find: JSON that is too deep for it, and keys that it would drop silently. Uses its own stack, because the value may be hostile. */
function shapeProblem(json: unknown): SchemaIssue | undefined {
  if (!isObject(json)) return undefined
  const stack: Place[] = [{ value: json, key: "", level: 1, above: undefined }]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, level } = top
    if (level > depthMax) return { path: "", message: `nested deeper than ${depthMax} levels` }
    if (Object.hasOwn(value, "__proto__")) return { path: pathOf(top), message: 'unknown key "__proto__"' }
    for (const key of Object.keys(value)) {
      const item = (value as Readonly<Record<string, unknown>>)[key]
      if (isObject(item)) stack.push({ value: item, key, level: level + 1, above: top })
    }
  }
  return undefined
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place | undefined = place; at?.above !== undefined; at = at.above) keys.unshift(at.key)
  return keys.join(".")
}

/** The findings of a schema as sentences for people, with values truncated. At most 50, in the order of the schema. */
export function problemsOf(error: z.ZodError): SchemaIssue[] {
  return error.issues.slice(0, issuesMax).map((issue) => problemOf(issue, []))
}

/** A part of a plan, truncated for a message. */
function cut(text: string, max = wordCharactersMax): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

function problemOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): SchemaIssue {
  const path = [...above, ...issue.path]
  const inner = issue.code === "invalid_union" ? closest(issue.errors) : undefined
  if (inner !== undefined) return problemOf(inner, path)
  const keys = path.map((key) => (typeof key === "string" ? cut(key, 2 * wordCharactersMax) : key))
  return { path: toDotPath(keys), message: cut(messageOf(issue), charactersMax) }
}

/** Of the alternatives of a union, the issues of the one that is closest to the value. */
function closest(alternatives: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue | undefined {
  const [best] = [...alternatives].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
  return best?.[0]
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.min(...issues.map(({ path }) => path.length))
}

/** A message of the schema in the words of this project. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") {
    const [first = "", ...others] = issue.keys
    return `unknown key ${JSON.stringify(cut(first))}${others.length === 0 ? "" : ` and ${others.length} more`}`
  }
  if (issue.code === "invalid_key") return "this key is not allowed here"
  if (issue.code === "invalid_union") return "this value is not allowed here"
  const text = issue.message.replace(/^Invalid (?:input|option|string): /, "")
  const absent = / ?,? ?received undefined$/.exec(text)
  if (absent !== null) return `is missing (${text.slice(0, absent.index)})`
  return text.replace(", received", ", found").replace(/^Too (big|small)/, (_, size) => `too ${size}`)
}

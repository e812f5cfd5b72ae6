import * as z from "zod"
import type { KindFacts, NamedTable, Role, StepFacts } from "./facts.ts"
import type { CredentialFacts, ShownCredential } from "./step-values.ts"
import { anyOf } from "./steps/any-of.ts"
import { authenticate } from "./steps/authenticate.ts"
import { basicAuth } from "./steps/basic-auth.ts"
import { cacheGet } from "./steps/cache-get.ts"
import { cacheLookup } from "./steps/cache-lookup.ts"
import { cacheRemove } from "./steps/cache-remove.ts"
import { cacheSet } from "./steps/cache-set.ts"
import { cacheStore } from "./steps/cache-store.ts"
import { cacheValue } from "./steps/cache-value.ts"
import { checkHeader } from "./steps/check-header.ts"
import { compress } from "./steps/compress.ts"
import { contentSafety } from "./steps/content-safety.ts"
import { cors } from "./steps/cors.ts"
import { decompress } from "./steps/decompress.ts"
import { deprecation } from "./steps/deprecation.ts"
import { filter } from "./steps/filter.ts"
import { findReplace } from "./steps/find-replace.ts"
import { forward } from "./steps/forward.ts"
import { grant } from "./steps/grant.ts"
import { introspect } from "./steps/introspect.ts"
import { ipFilter } from "./steps/ip-filter.ts"
import { jsonToXml } from "./steps/json-to-xml.ts"
import { jsonp } from "./steps/jsonp.ts"
import { limitConcurrency } from "./steps/limit-concurrency.ts"
import { maskUrls } from "./steps/mask-urls.ts"
import { metric } from "./steps/metric.ts"
import { mirror } from "./steps/mirror.ts"
import { oidcSession } from "./steps/oidc-session.ts"
import { parallel } from "./steps/parallel.ts"
import { quota } from "./steps/quota.ts"
import { rateLimit } from "./steps/rate-limit.ts"
import { renameHeader } from "./steps/rename-header.ts"
import { require_ } from "./steps/require.ts"
import { requireAll } from "./steps/require-all.ts"
import { requireAny } from "./steps/require-any.ts"
import { respond } from "./steps/respond.ts"
import { retry } from "./steps/retry.ts"
import { rewrite } from "./steps/rewrite.ts"
import { sendRequest } from "./steps/send-request.ts"
import { setBackend } from "./steps/set-backend.ts"
import { setBody } from "./steps/set-body.ts"
import { setHeader } from "./steps/set-header.ts"
import { setHost } from "./steps/set-host.ts"
import { setMethod } from "./steps/set-method.ts"
import { setQuery } from "./steps/set-query.ts"
import { setStatus } from "./steps/set-status.ts"
import { setVariable } from "./steps/set-variable.ts"
import { trace } from "./steps/trace.ts"
import { validateCertificate } from "./steps/validate-certificate.ts"
import { validateContent } from "./steps/validate-content.ts"
import { validateGraphql } from "./steps/validate-graphql.ts"
import { validateHeaders } from "./steps/validate-headers.ts"
import { validateHmac } from "./steps/validate-hmac.ts"
import { validateJwt } from "./steps/validate-jwt.ts"
import { validateKey } from "./steps/validate-key.ts"
import { validateParameters } from "./steps/validate-parameters.ts"
import { validateStatus } from "./steps/validate-status.ts"
import { when } from "./steps/when.ts"
import { xmlToJson } from "./steps/xml-to-json.ts"
import type { Expression, stepId } from "./text.ts"

/** Every kind of step. A new kind is one line here, and three files of one name: this one, one in `compiler/gateway/steps`, one in `runtime/policies`. */
const contracts = [
  validateJwt,
  introspect,
  basicAuth,
  validateCertificate,
  validateKey,
  validateHmac,
  oidcSession,
  validateContent,
  validateParameters,
  anyOf,
  cors,
  compress,
  checkHeader,
  ipFilter,
  rateLimit,
  quota,
  limitConcurrency,
  require_,
  requireAll,
  requireAny,
  filter,
  grant,
  setHeader,
  renameHeader,
  setQuery,
  setMethod,
  setStatus,
  rewrite,
  setHost,
  setBody,
  findReplace,
  decompress,
  maskUrls,
  jsonp,
  xmlToJson,
  jsonToXml,
  respond,
  setVariable,
  validateHeaders,
  validateGraphql,
  validateStatus,
  trace,
  metric,
  cacheLookup,
  cacheStore,
  cacheGet,
  cacheSet,
  cacheRemove,
  cacheValue,
  setBackend,
  sendRequest,
  mirror,
  contentSafety,
  authenticate,
  retry,
  parallel,
  when,
  deprecation,
  forward,
] as const

type Contract = (typeof contracts)[number]
/** One step of a section. */
export type Step = z.infer<Contract["schema"]>
/** The digest that identifies a step in the plan. */
export type StepId = z.infer<typeof stepId>
/** The name of a kind of step, e.g. `rate-limit`. */
export type StepKind = Step["kind"]
/** The step type of one kind, e.g. `StepOf<"rate-limit">`. */
export type StepOf<Kind extends StepKind> = Extract<Step, { kind: Kind }>

type Schemas = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]

/** Schema of a step of any kind. */
export const step: z.ZodType<Step> = z.discriminatedUnion(
  "kind",
  contracts.map(({ schema }) => schema) as unknown as Schemas,
) as unknown as z.ZodType<Step>

const byKind: ReadonlyMap<string, Contract> = new Map(contracts.map((each) => [each.kind, each]))

/** A list of steps inside another step, and the name of its field: `matched`, `branches.1`. */
export interface NestedSteps {
  readonly place: string
  readonly steps: readonly StepId[]
}

/** The facts that are the same for all steps of a kind. */
export function kindFacts(kind: StepKind): KindFacts {
  return byKind.get(kind) as Contract
}

/** The facts of one step: what it reads, writes and may do with these settings. */
export function factsOf(step: Step): StepFacts {
  return (byKind.get(step.kind) as { readonly facts: (step: Step) => StepFacts }).facts(step)
}

/** A step that authenticates by one credential: a token, a password, a client certificate, a signature, a session or a subscription key. `any-of` tries several. */
export type CredentialStep = StepOf<Extract<Contract, { readonly role: "credential" }>["kind"]>

/** Whether a step verifies a credential of the caller. */
export function isCredential(step: Step): step is CredentialStep {
  return kindFacts(step.kind).role === "credential"
}

/** Where the request carries the credential of this step. */
export function shownTo(step: CredentialStep): ShownCredential {
  return (factsOf(step) as CredentialFacts).shown
}

/** A step that authenticates the caller: by one credential, or by any of several. */
export type AuthStep = StepOf<Extract<Contract, { readonly role: "credential" | "ways" }>["kind"]>

/** Whether a step decides who may call: a credential, or several of them as alternatives. */
export function isAuth(step: Step): step is AuthStep {
  const { role } = kindFacts(step.kind)
  return role === "credential" || role === "ways"
}

/** The credential steps of an authentication step: itself, any of several, or none for another kind. */
export function credentialsOf(
  step: Step,
  stepOf: (id: StepId) => Step | undefined,
): readonly CredentialStep[] {
  if (isCredential(step)) return [step]
  if (!isAuth(step)) return []
  return step.steps.flatMap((id) => {
    const way = stepOf(id)
    return way === undefined ? [] : credentialsOf(way, stepOf)
  })
}

/** A step that checks whether a user has a relation on an object, or writes that relation. */
export type RelationStep = Extract<Step, { readonly relation: string }>

/** Whether a step asks about, grants or revokes a relation. */
export function isRelation(step: Step): step is RelationStep {
  return "relation" in step
}

/** A step that holds blocks of statements. */
export type BlockStep = StepOf<Extract<Contract, { readonly holds: "blocks" }>["kind"]>

/** Whether a step holds blocks of statements as steps of their own. The alternatives of a step are one statement with it. */
export function holdsBlocks(step: Step | undefined): step is BlockStep {
  return step !== undefined && kindFacts(step.kind).holds === "blocks"
}

/** Roles of steps that may reject a request by its caller or content. */
const protecting: ReadonlySet<Role> = new Set(["credential", "ways", "permission", "guard"])

/** Whether a step may reject a request by its caller or content, not only by usage. */
export function isProtection({ kind }: Pick<Step, "kind">): boolean {
  return protecting.has(kindFacts(kind).role)
}

/** Whether a step may reject a request by its caller, content or usage. */
export function isGuard(step: Pick<Step, "kind">): boolean {
  return isProtection(step) || kindFacts(step.kind).role === "limit"
}

/** A step that rejects a request when too much was used: calls, bytes, slots. */
export type LimitStep = StepOf<Extract<Contract, { readonly role: "limit" }>["kind"]>

/** Whether a step counts requests against a limit. */
export function isLimit(step: Step): step is LimitStep {
  return kindFacts(step.kind).role === "limit"
}

/** Whether a step checks the permission of the caller by relations. */
export function asksPermission({ kind }: Pick<Step, "kind">): boolean {
  return kindFacts(kind).role === "permission"
}

/** A step that responds in place of the backend. */
export type AnswerStep = StepOf<Extract<Contract, { readonly role: "answer" }>["kind"]>

/** Whether a step always responds in place of the backend. */
export function isAnswer(step: Step | undefined): step is AnswerStep {
  return step !== undefined && kindFacts(step.kind).role === "answer"
}

/** A step that sends the request to the backend. */
export type SendStep = StepOf<Extract<Contract, { readonly role: "send" }>["kind"]>

/** Whether a step sends the request to the backend. */
export function isSend(step: Step | undefined): step is SendStep {
  return step !== undefined && kindFacts(step.kind).role === "send"
}

/** Whether a step allows cross-origin requests: on a preflight nothing else runs. */
export function isSharing(step: Pick<Step, "kind"> | undefined): boolean {
  return step !== undefined && kindFacts(step.kind).role === "share"
}

/** The names of entries of a table that the steps reference. */
export function namedBy(steps: Iterable<Step>, table: NamedTable): ReadonlySet<string> {
  const found = new Set<string>()
  for (const step of steps) for (const each of namesIn(step)) if (each.table === table) found.add(each.name)
  return found
}

/** Each table is asked for, in plans with thousands of steps. */
const namesByStep = new WeakMap<Step, NonNullable<StepFacts["names"]>>()

function namesIn(step: Step): NonNullable<StepFacts["names"]> {
  const known = namesByStep.get(step) ?? factsOf(step).names ?? []
  namesByStep.set(step, known)
  return known
}

/** Names of the variables that a step sets. */
export function variablesSetBy(step: Step): string[] {
  return (factsOf(step).writes ?? []).flatMap((place) =>
    place.startsWith("variable:") ? [place.slice("variable:".length)] : [],
  )
}

/** The lists of steps inside a step; empty for most kinds. */
export function nestedSteps(step: Step): readonly NestedSteps[] {
  const found: NestedSteps[] = []
  if ("matched" in step) found.push({ place: "matched", steps: step.matched })
  if ("otherwise" in step) found.push({ place: "otherwise", steps: step.otherwise as readonly StepId[] })
  if ("steps" in step) found.push({ place: "steps", steps: step.steps })
  if ("branches" in step)
    for (const [index, steps] of (step.branches as readonly (readonly StepId[])[]).entries())
      found.push({ place: `branches.${index}`, steps })
  return found
}

/** The steps of a list, with those inside of others: each once, in the order in which they are reached. Steps that the plan does not have are left out. */
export function stepsReached(
  steps: Readonly<Record<StepId, Step>>,
  ids: readonly StepId[],
  found = new Map<StepId, Step>(),
): ReadonlyMap<StepId, Step> {
  for (const id of ids) {
    const step = steps[id]
    if (step === undefined || found.has(id)) continue
    found.set(id, step)
    for (const nested of nestedSteps(step)) stepsReached(steps, nested.steps, found)
  }
  return found
}

/** The expressions of a step without those of inner steps, in the order of its canonical JSON: their numbers are equal on any machine. */
export function expressionsOf(step: Step): readonly Expression[] {
  const found: Expression[] = []
  collect(step, found)
  return found
}

function collect(value: unknown, found: Expression[]): void {
  if (typeof value !== "object" || value === null) return
  if (Array.isArray(value)) for (const each of value) collect(each, found)
  else if ("lang" in value && "text" in value) found.push(value as Expression)
  else
    for (const key of Object.keys(value).sort())
      collect((value as Readonly<Record<string, unknown>>)[key], found)
}

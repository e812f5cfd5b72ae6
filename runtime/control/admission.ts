import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { includesRole } from "../plan/control.ts"
import { controlMark, type LoginAnswer } from "./api.ts"
import { Attempts } from "./attempts.ts"
import type { ConsoleLogins } from "./console/logins.ts"
import type { ConsoleSession, ConsoleSessions } from "./console/sessions.ts"
import { type Denial, type Operator, type OperatorAccess, operatorOf, setOperator } from "./operators.ts"
import { sendProblem } from "./problem.ts"
import { covers, type RouteRule, ruleOf } from "./routes.ts"

/** Why a request was refused before its handler. */
export type AdmissionRefusal =
  | "unauthenticated"
  | "forbidden"
  | "issuer-unavailable"
  | "too-many-attempts"
  | "cross-origin"

/** What decides about requests. */
export interface AdmissionSettings {
  readonly access: OperatorAccess
  readonly onRefused?: ((refusal: AdmissionRefusal) => void) | undefined
  /** Replaced in tests. */
  readonly attempts?: Attempts | undefined
  /** Sessions of the console. Absent: only the header `Authorization` counts. */
  readonly sessions?: ConsoleSessions | undefined
  /** Sessions of people who signed in to the console at an issuer. Absent: nobody can. */
  readonly logins?: ConsoleLogins | undefined
}

/**
 * Checks who calls and whether the role is sufficient, before anything else. `controlMark` lets commands tell this API from another service at the
 * address. A route without a rule cannot be registered.
 */
export function addAdmission(app: FastifyInstance, settings: AdmissionSettings): void {
  const { access, onRefused, attempts = new Attempts() } = settings
  app.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat())
      if (ruleOf(each, url, url) === undefined) throw new Error(`no rule for ${each} ${url}`)
  })
  app.addHook("onRequest", async (request, reply) => {
    reply.header(controlMark, "1")
    const { url = "" } = request.routeOptions
    const rule = ruleOf(request.method, url, request.url.split("?")[0] ?? "")
    if (rule?.needs === "open") return undefined
    const refuse = (refusal: AdmissionRefusal, detail: string): FastifyReply => {
      onRefused?.(refusal)
      return sendProblem(reply, refusal, detail)
    }
    if (isOfAnotherOrigin(request))
      return refuse(
        "cross-origin",
        "a web page of another origin sent this request; the control API accepts none",
      )
    const wait = attempts.waitSeconds(request.ip)
    if (wait > 0) {
      reply.header("retry-after", String(wait))
      return refuse("too-many-attempts", `too many failed attempts; try again in ${wait} s`)
    }
    const session = await sessionOf(request, settings)
    if (session !== undefined && "denied" in session) return refuse(session.denied, session.detail)
    if (session !== undefined && !mayUseSession(request))
      return refuse(
        "cross-origin",
        "a request with the session of the console needs the `Origin` of its page",
      )
    const authorization = request.headers.authorization ?? session?.authorization
    const found = await access.identify(authorization)
    if ("denied" in found) {
      if (found.denied === "unauthenticated") {
        // A request without a credential guesses nothing.
        if (request.headers.authorization !== undefined) attempts.failed(request.ip)
        reply.header("www-authenticate", 'Bearer realm="sallyport control"')
      }
      return refuse(found.denied, found.detail)
    }
    attempts.succeeded(request.ip)
    setOperator(request.raw, found, authorization)
    if (session !== undefined && session.renewal.length > 0) reply.header("set-cookie", session.renewal)
    const missing = missingRight(found, rule)
    if (missing !== undefined) return refuse("forbidden", missing)
    if (request.headers.expect !== undefined) reply.raw.writeContinue()
    return undefined
  })
}

/** Why an operator may not use a route; undefined: they may. Only operators learn that a route does not exist. */
function missingRight(
  { name, role, may }: Operator,
  { needs = "any", operation }: Partial<RouteRule> = {},
): string | undefined {
  if (needs !== "any" && needs !== "open" && !includesRole(role, needs))
    return `this needs the role \`${needs}\`, and \`${name}\` has \`${role}\``
  if (may !== undefined && operation !== undefined && !covers(may, operation))
    return `this is \`${operation}\`, and the token \`${name}\` may only do: ${may.join(", ")}`
  return undefined
}

/** The session of the console in a request; the header wins over it. */
async function sessionOf(
  { headers }: FastifyRequest,
  { sessions, logins }: AdmissionSettings,
): Promise<ConsoleSession | Denial | undefined> {
  if (headers.authorization !== undefined) return undefined
  return sessions?.find(headers.cookie) ?? (await logins?.find(headers.cookie))
}

/** A browser sends the cookie by itself, so a request that changes something must come from the console's own page. */
function mayUseSession(request: FastifyRequest): boolean {
  return request.method === "GET" || request.method === "HEAD" || isOwnOrigin(request)
}

/** Whether a page of this listener sent the request. Browsers name it in every request that could change something. */
export function isOwnOrigin(request: FastifyRequest): boolean {
  return request.headers.origin !== undefined && !isOfAnotherOrigin(request)
}

/** Browsers send `Origin` with every request of a page that could change something, and `Sec-Fetch-Site` with all. */
function isOfAnotherOrigin({ headers }: FastifyRequest): boolean {
  const { origin, host = "" } = headers
  if (headers["sec-fetch-site"] === "cross-site") return true
  if (origin === undefined) return false
  try {
    return new URL(origin).host !== host
  } catch {
    return true
  }
}

/** `GET /v1/whoami`: the caller. `GET /v1/login`: where people log in, for `sallyport login`. */
export function addIdentityRoutes(app: FastifyInstance, logins: () => LoginAnswer["logins"]): void {
  app.get("/v1/whoami", async (request) => {
    const { kind, name, role, groups = [], may = null, issuer = null, expiresAt } = operatorOf(request.raw)
    const end = expiresAt === undefined ? null : new Date(expiresAt * 1000).toISOString()
    return { kind, name, role, groups, may, issuer, expiresAt: end }
  })
  app.get("/v1/login", async (): Promise<LoginAnswer> => ({ logins: logins() }))
}

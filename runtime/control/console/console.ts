import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import type { Log } from "../../telemetry/log.ts"
import { isOwnOrigin } from "../admission.ts"
import { consoleLoginRequest, consoleSessionRequest, type TryItAnswer } from "../api.ts"
import type { Attempts } from "../attempts.ts"
import { type AuditPorts, aboutRequest } from "../audit.ts"
import { bodyOf } from "../body.ts"
import { type ControlCallers, type Operator, type OperatorAccess, setOperator } from "../operators.ts"
import { sendProblem } from "../problem.ts"
import type { ConsoleLinks } from "./links.ts"
import type { ConsoleLogins } from "./logins.ts"
import { PageFiles } from "./page-files.ts"
import type { ConsoleSessions } from "./sessions.ts"

/** What the console signs operators in with. */
export interface ConsoleParts {
  readonly access: OperatorAccess
  readonly attempts: Attempts
  readonly sessions: ConsoleSessions
  readonly links: ConsoleLinks
  /** Absent: nobody signs in at an issuer. */
  readonly logins: ConsoleLogins | undefined
  /** The gateway that the pages may call by the running plan; undefined: they call none. */
  readonly tryIt: () => ControlCallers["tryIt"]
  readonly audit: AuditPorts
  readonly log: Log
}

/**
 * Nothing but the console's own files may run or be loaded; `sallyport` is the policy of its worker. Pages may send requests only to this listener, and to the
 * `gateway` that `try-it` of the plan names.
 */
function contentPolicy(gateway: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${gateway === undefined ? "" : ` ${gateway}`}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types sallyport",
  ].join("; ")
}

function safeFields(gateway: string | undefined): Readonly<Record<string, string>> {
  return {
    "content-security-policy": contentPolicy(gateway),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  }
}

/** The gateway of the playground runs in the page's worker and compiles schemas to code; so the worker reaches nothing but its own scripts. */
const ofWorker = {
  "content-security-policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; connect-src 'none'",
}

/**
 * The console and the playground: their files below `/console/` and `/playground/`, which anybody may load, and the sessions with which the console's pages call
 * the control API. `POST /v1/console-links` makes a link that signs a browser in once with the credential of the caller.
 */
export function addConsoleRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  addPageFiles(app, "console", () => parts.tryIt()?.gateway)
  // It knows nothing of the running plan.
  addPageFiles(app, "playground", () => undefined)
  app.get("/v1/try-it", async (): Promise<TryItAnswer> => ({ tryIt: parts.tryIt() ?? null }))
  app.post("/console/session", (request, reply) => signIn(parts, request, reply))
  app.delete("/console/session", (request, reply) => signOut(parts, request, reply))
  app.post("/console/login", (request, reply) => beginLogin(parts, request, reply))
  app.get<{ Params: { issuer: string } }>("/console/login/:issuer", (request, reply) =>
    finishLogin(parts, request.params.issuer, request, reply),
  )
  app.post("/v1/console-links", (request, reply) => {
    const { authorization } = request.headers
    // Sessions that could make links would have no end.
    if (authorization === undefined)
      return sendProblem(reply, "forbidden", "a link is made with a token, not with a session of the console")
    const { code, seconds } = parts.links.make(authorization)
    return reply.code(201).send({ path: `/console/#code=${code}`, seconds })
  })
}

/** The files of one folder of pages below its name. `gateway`: what its pages may call beside this listener. */
function addPageFiles(
  app: FastifyInstance,
  folder: "console" | "playground",
  gateway: () => string | undefined,
): void {
  const files = new PageFiles(folder)
  app.get(`/${folder}`, (_, reply) => reply.code(308).header("location", `/${folder}/`).send())
  app.get<{ Params: { "*": string } }>(`/${folder}/*`, (request, reply) => {
    const name = request.params["*"]
    const isPlaygroundWorker = folder === "playground" && name.startsWith("worker-")
    const fields = safeFields(gateway())
    const sent = files.send(name, request, reply, isPlaygroundWorker ? { ...fields, ...ofWorker } : fields)
    if (typeof sent !== "string") return sent
    return sendProblem(
      reply,
      "not-found",
      sent === "no-file" ? `there is no file \`${name}\`` : "this installation was built without these pages",
    )
  })
}

/** Begins a session by a token, or by the code of a link. Wrong ones count as guesses. */
async function signIn(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { access, attempts, sessions, links } = parts
  const given = bodyOf(consoleSessionRequest, request.body, reply)
  if (given === undefined || isNotAllowed(attempts, request, reply)) return reply
  const authorization = "token" in given ? `Bearer ${given.token}` : links.take(given.code)
  if (authorization === undefined) {
    attempts.failed(request.ip)
    return sendProblem(
      reply,
      "unauthenticated",
      "the link was used or is older than ten minutes; print a new one with `sallyport console`",
    )
  }
  const found = await access.identify(authorization)
  if ("denied" in found) {
    if (found.denied === "unauthenticated") attempts.failed(request.ip)
    return sendProblem(reply, found.denied, found.detail)
  }
  const line = sessions.begin(authorization)
  if (line === undefined)
    return sendProblem(
      reply,
      "refused",
      "the token is too long for a cookie; use one with fewer claims, or a token of `POST /v1/tokens`",
    )
  await signedIn(parts, request, found)
  const other = (await parts.logins?.end(request.headers.cookie))?.lines ?? []
  return reply
    .header("set-cookie", [line, ...other])
    .code(204)
    .send()
}

/** Refuses what other sites send, which could sign the browser in with a credential of their own, and what follows too many wrong credentials. */
function isNotAllowed(attempts: Attempts, request: FastifyRequest, reply: FastifyReply): boolean {
  if (!isOwnOrigin(request)) {
    sendProblem(reply, "cross-origin", "only the console's own page may begin a session")
    return true
  }
  return isTooEarly(attempts, request, reply)
}

function isTooEarly(attempts: Attempts, request: FastifyRequest, reply: FastifyReply): boolean {
  const wait = attempts.waitSeconds(request.ip)
  if (wait > 0)
    sendProblem(
      reply.header("retry-after", String(wait)),
      "too-many-attempts",
      `too many failed attempts; try again in ${wait} s`,
    )
  return wait > 0
}

/** Counts for the address, and writes a row. Operators need the console when the database does not respond, so the row may be missing then. */
async function signedIn(
  { attempts, audit }: ConsoleParts,
  request: FastifyRequest,
  operator: Operator,
): Promise<void> {
  attempts.succeeded(request.ip)
  setOperator(request.raw, operator, undefined)
  const row = { ...aboutRequest(request), action: "console.sign-in", event: "signed-in" }
  await audit.append(row).catch((error: unknown) => audit.onLost(error))
}

/** Ends the session, and names the page where the session at the issuer ends. */
async function signOut(
  { sessions, logins }: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { cookie } = request.headers
  const { lines, page } = (await logins?.end(cookie)) ?? { lines: [], page: undefined }
  return reply.header("set-cookie", [sessions.end(cookie), ...lines]).send({ page: page ?? null })
}

/** Begins a login at an issuer. The browser's own page says by its Origin how it sees this listener, which a proxy with TLS may be in front of. */
async function beginLogin(
  { logins, attempts }: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const given = bodyOf(consoleLoginRequest, request.body, reply)
  if (given === undefined || isNotAllowed(attempts, request, reply)) return reply
  const { origin = "", cookie } = request.headers
  const step = await logins?.begin(given.issuer, origin, cookie, given.to)
  if (step === undefined)
    return sendProblem(reply, "not-found", `nobody signs in at an issuer \`${given.issuer}\` here`)
  if (step.kind === "failed") return sendProblem(reply, "issuer-unavailable", step.cause)
  return reply.header("set-cookie", [...step.cookies]).send({ page: step.location })
}

/** The browser comes back from the issuer. What failed is only a name in the address: texts in an address could be anybody's. */
async function finishLogin(
  parts: ConsoleParts,
  issuer: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { access, attempts, sessions, logins, log } = parts
  if (isTooEarly(attempts, request, reply)) return reply
  const { cookie } = request.headers
  const query = new URLSearchParams(request.url.split("?")[1] ?? "")
  const step = await logins?.finish(issuer, cookie, query)
  if (step === undefined) return sendProblem(reply, "not-found", "nobody signs in at this issuer here")
  reply.header("cache-control", "no-store")
  const failed = (fault: string, cause: string, cookies: readonly string[]): FastifyReply => {
    log.warn({ issuer, fault, cause, client: request.ip }, "a login to the console failed")
    return reply.header("set-cookie", [...cookies]).redirect(`/console/#failed=${fault}`, 303)
  }
  if (step.kind === "failed") {
    if (step.fault === "login-invalid") attempts.failed(request.ip)
    return failed(step.fault, step.cause, step.cookies)
  }
  const found = await access.identify(`Bearer ${step.accessToken}`)
  if ("denied" in found) {
    const over = await logins?.end(cookiesOf(step.cookies))
    return failed(found.denied, found.detail, [...step.cookies, ...(over?.lines ?? [])])
  }
  await signedIn(parts, request, found)
  return reply.header("set-cookie", [...step.cookies, sessions.end(cookie)]).redirect(step.location, 303)
}

/** The header Cookie that a browser would send after these lines of Set-Cookie. */
function cookiesOf(lines: readonly string[]): string {
  return lines.map((line) => line.split(";", 1)[0] ?? "").join("; ")
}

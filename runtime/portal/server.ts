import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { SourceUnavailable } from "../check/ports.ts"
import { PageFiles } from "../control/console/page-files.ts"
import { internalLimits, OwnNames, refusalOf } from "../http/server/internal-guard.ts"
import { type Listener, type ListenerSettings, openListener } from "../http/server/listener.ts"
import type { Address } from "../plan/resources.ts"
import { isSchemaFault } from "../store/fault.ts"
import type { Log } from "../telemetry/log.ts"
import { addAuditHooks } from "./audit.ts"
import { RequestBudget } from "./budget.ts"
import { addCatalogueRoutes } from "./catalogue-routes.ts"
import { loginStepOf, serveLogin } from "./login-routes.ts"
import { isOwnPage } from "./origin.ts"
import type { PortalPorts } from "./ports.ts"
import { sendPortalProblem, sendRawRefusal, writeRefusal } from "./problem.ts"
import type { PortalScene, SignIn } from "./scene.ts"
import { addSubscriptionRoutes } from "./subscription-routes.ts"

/** How to open a listener of the portal. `hosts`: accepted host names in addition to that of the plan, IP addresses and `localhost`. */
export interface PortalSettings {
  readonly hosts: readonly string[]
  readonly log: Log
  readonly opening: Pick<
    ListenerSettings,
    "transport" | "leaving" | "onHandshakeFailed" | "admit" | "onRefused"
  >
}

const bodyBytesMax = 16 * 1024
const requestArrivesMs = 10_000
/** Requests of one address that nobody has signed in from, and of one person. People behind one address share the first. */
const anonymousPace = { burst: 600, everyMs: 50 }

/** Opens an address of the portal. Rejects with the system's error when it cannot be opened. */
export function openPortal(listen: Address, settings: PortalSettings, ports: PortalPorts): Promise<Listener> {
  const { hosts, log, opening } = settings
  let known: { readonly external: string | undefined; readonly names: readonly string[] } | undefined
  const names = new OwnNames(listen.host, () => {
    const external = ports.scene()?.external
    if (known === undefined || known.external !== external)
      known = { external, names: external === undefined ? hosts : [...hosts, new URL(external).hostname] }
    return known.names
  })
  return openListener(listen, {
    ...opening,
    limits: { ...internalLimits, requestMs: requestArrivesMs },
    guard: { names, refuse: (_, response, { status }) => writeRefusal(response, status) },
    service: {
      kind: "routes",
      app: {
        options: {
          bodyLimit: bodyBytesMax,
          frameworkErrors: (_error, _request, reply) =>
            void sendPortalProblem(reply, "bad-request", "the path of the request is malformed"),
        },
        addRoutes: async (app) => addRoutes(app, ports, log),
      },
    },
    answerRaw: (socket, fault) => sendRawRefusal(socket, refusalOf(fault).status),
  })
}

function addRoutes(app: FastifyInstance, ports: PortalPorts, log: Log): void {
  addParsers(app)
  addFailures(app, log)
  addGuards(app, ports)
  addAuditHooks(app, ports.audit)
  addCatalogueRoutes(app, ports)
  addSubscriptionRoutes(app, ports)
  addPages(app, ports)
}

/** Bodies are JSON. A form can only be a logout, and has nothing to say. */
function addParsers(app: FastifyInstance): void {
  app.removeContentTypeParser("text/plain")
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "buffer" },
    (_request, _body, done) => done(null, undefined),
  )
}

/** What is checked before every route: the pace of requests, and that a page of this portal sends changes. */
function addGuards(app: FastifyInstance, ports: PortalPorts): void {
  const budget = new RequestBudget(anonymousPace)
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(safeFields(ports.scene()))
    const wait = budget.take(request.ip)
    if (wait > 0)
      return sendPortalProblem(
        reply.header("retry-after", String(wait)),
        "too-many-requests",
        `too many requests; try again in ${wait} s`,
      )
    const scene = ports.scene()
    if (scene === undefined)
      return sendPortalProblem(reply.header("retry-after", "1"), "unavailable", "the portal is not open yet")
    if (request.method === "GET" || request.method === "HEAD") return undefined
    if (!isOwnPage(scene, request))
      return sendPortalProblem(reply, "cross-origin", "only a page of this portal may send this request")
    const isApi = request.url.startsWith("/api/")
    if (isApi && !/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? ""))
      return sendPortalProblem(reply, "unsupported-media-type", "send the body as application/json")
    return undefined
  })
}

/** Nothing but the portal's own files may run or be loaded; pages may call the gateway only if the plan lets them try operations. */
function contentPolicy(scene: PortalScene | undefined): string {
  const gateways = scene?.portal.tryIt === true ? scene.published.origins : []
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...gateways].join(" "),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ")
}

function safeFields(scene: PortalScene | undefined): Record<string, string> {
  return {
    "content-security-policy": contentPolicy(scene),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
  }
}

/** The files of the pages, and the steps of a login. Every other path is an address that the pages read themselves. */
function addPages(app: FastifyInstance, ports: PortalPorts): void {
  const pages = new PageFiles("portal")
  addSwagger(app, ports, pages)
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const scene = ports.scene()
    const path = request.url.split("?")[0] ?? "/"
    const step = scene === undefined ? undefined : loginStepOf(scene, path)
    const isPost = request.method === "POST"
    if (scene !== undefined && step !== undefined && isPost === (step === "logout"))
      return serveLogin(scene as PortalScene & { readonly signIn: SignIn }, step, request, reply)
    if (isPost || step !== undefined || /^\/api(?:\/|$)/.test(path))
      return sendPortalProblem(reply, "not-found", "there is nothing here")
    return sendPage(pages, path.slice(1), request, reply)
  }
  app.get("/*", serve)
  app.post("/*", serve)
}

/** Swagger UI, with a page for each published version. Its files are apart from those of `pages`, so they are read only if somebody opens it. */
function addSwagger(app: FastifyInstance, ports: PortalPorts, pages: PageFiles): void {
  const swagger = new PageFiles("portal/swagger")
  app.get<{ Params: { file: string } }>("/swagger/:file(^.+\\.(?:js|css)$)", (request, reply) =>
    sendPage(swagger, request.params.file, request, reply),
  )
  app.get<{ Params: { api: string; version: string } }>("/swagger/:api/:version", (request, reply) => {
    const { api, version } = request.params
    const isPublished = ports.scene()?.published.document(api, version) !== undefined
    // The portal's own page says what is not published.
    return isPublished ? sendPage(swagger, "", request, reply) : sendPage(pages, "", request, reply.code(404))
  })
}

function sendPage(
  files: PageFiles,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const sent = files.send(name, request, reply)
  if (typeof sent !== "string") return sent
  return sendPortalProblem(
    reply,
    "not-found",
    sent === "no-file"
      ? "there is nothing here"
      : "this installation was built without the pages of the portal",
  )
}

/** Failures say nothing about the inside; the log does. */
function addFailures(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler((_request, reply) => sendPortalProblem(reply, "not-found", "there is nothing here"))
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof SourceUnavailable || isSchemaFault(error)) {
      log.warn({ error: error.message, path: request.url }, "portal: database unavailable")
      return sendPortalProblem(
        reply.header("retry-after", "1"),
        "unavailable",
        "try again in a moment; nothing was changed",
      )
    }
    if (error.statusCode === 413) return sendPortalProblem(reply, "too-large", "the body is too large")
    if (error.statusCode === 415)
      return sendPortalProblem(reply, "unsupported-media-type", "send the body as application/json")
    if (error.statusCode !== undefined && error.statusCode < 500)
      return sendPortalProblem(reply, "bad-request", "the request is not valid")
    log.error({ err: error, path: request.url }, "portal request failed")
    return sendPortalProblem(reply, "internal", "the request failed")
  })
}

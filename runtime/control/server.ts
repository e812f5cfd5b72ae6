import { lookup } from "node:dns/promises"
import httpProxy from "@fastify/http-proxy"
import type { FastifyInstance } from "fastify"
import { SourceUnavailable } from "../check/ports.ts"
import type { RequestSender } from "../http/client/http-client.ts"
import type { Transport } from "../http/server/incoming.ts"
import { internalLimits, OwnNames, refusalOf } from "../http/server/internal-guard.ts"
import { type Guard, type Listener, type ListenerSettings, openListener } from "../http/server/listener.ts"
import { type Address, addressText } from "../plan/resources.ts"
import { isSchemaFault } from "../store/fault.ts"
import type { Log } from "../telemetry/log.ts"
import { metricsPage } from "../telemetry/metrics.ts"
import { acceptsOpenMetrics, openMetricsPage, openMetricsType } from "../telemetry/open-metrics.ts"
import { type AdmissionRefusal, addAdmission, addIdentityRoutes } from "./admission.ts"
import { controlMark, explainRequestQuestion, type LoginAnswer } from "./api.ts"
import { Attempts } from "./attempts.ts"
import { addAuditHooks, addAuditRoutes } from "./audit.ts"
import { bodyOf } from "./body.ts"
import { addCanaryRoutes } from "./canary-desk.ts"
import { addConsentRoutes } from "./consent-desk.ts"
import { addConsoleRoutes } from "./console/console.ts"
import { ConsoleLinks } from "./console/links.ts"
import { ConsoleLogins } from "./console/logins.ts"
import { ConsoleSessions } from "./console/sessions.ts"
import { addEventRoutes, EventDesk } from "./event-desk.ts"
import { addImpactRoute } from "./impact.ts"
import { addMoveRoutes } from "./moves.ts"
import { type ControlCallers, OperatorAccess, type OperatorSources } from "./operators.ts"
import { addOutageRoutes } from "./outage-desk.ts"
import { addPlanChangesRoutes } from "./plan-changes.ts"
import { addPlanRoutes } from "./plans.ts"
import { type ControlPorts, type HealthPorts, Unavailable } from "./ports.ts"
import { kindOf, sendProblem, sendRawProblem, writeProblem } from "./problem.ts"
import { addPruneRoute } from "./prune.ts"
import { addRouteRoutes } from "./route-desk.ts"
import { addSubscriptionRoutes } from "./subscription-desk.ts"
import { addTokenRoutes } from "./token-desk.ts"
import { addTupleImpactRoute } from "./tuple-impact.ts"
import { addUsageRoutes } from "./usage-desk.ts"

/** Where to listen. */
export interface ListenSettings {
  readonly listen: Address
  /** Accepted host names in addition to IP addresses, `localhost` and the machine's name (`OwnNames.more`); absent: none. */
  readonly hosts?: readonly string[] | undefined
  readonly log: Log
  /** What its listeners call for each connection. */
  readonly hooks?: Pick<ListenerSettings, "onHandshakeFailed" | "admit" | "onRefused"> | undefined
}

/** The address, and what operators are identified by. */
export interface ControlSettings extends ListenSettings, OperatorSources {
  readonly onRefused?: ((refusal: AdmissionRefusal) => void) | undefined
  /** For requests to the issuers of operators. Absent: nobody signs in to the console at an issuer. */
  readonly http?: RequestSender | undefined
}

/** An address to open for the same routes. */
export interface ControlAddress {
  readonly listen: Address
  readonly transport: Transport | undefined
  /** Listeners that release their address when it conflicts. */
  readonly leaving: readonly Listener[]
}

/** A running control listener. */
export interface Control {
  readonly url: string
  /** Those of the address with which the process was started: two for a `localhost` with two addresses. */
  readonly listeners: readonly Listener[]
  /** Opens another address for the same routes; the caller closes it. Rejects with the system's error when it cannot be opened. */
  open(address: ControlAddress): Promise<Listener>
  close(): Promise<void>
}

/** A plan of 10,000 routes with their origins is about 10 MB. */
const bodyBytesMax = 64 * 1024 * 1024
/** Each refused host name is logged once, up to this number of names, because callers choose them. */
const hostsTold = 100
/** Timeout for receiving a whole request, which may contain a plan. */
const requestArrivesMs = 60_000
const openPaths = new Set(["/healthz", "/startupz", "/readyz", "/metrics"])

/**
 * Opens the control listener: plans, status, health, metrics, and `/authz/*`, which is forwarded to the engine, so that operators need one
 * address and one credential. `routes.ts` says which role each route needs. Rejects with the system's error when the address
 * cannot be opened.
 */
export async function startControl(settings: ControlSettings, ports: ControlPorts): Promise<Control> {
  const { token, callers, findToken, onRefused, http, log } = settings
  const access = new OperatorAccess({ token, callers, findToken })
  // All addresses count together.
  const attempts = new Attempts()
  const sessions = new ConsoleSessions(token)
  const links = new ConsoleLinks()
  const logins =
    http === undefined || callers === undefined ? undefined : new ConsoleLogins({ token, callers, http })
  const tryIt = () => callers?.()?.tryIt
  const events = new EventDesk(ports)
  const control = await listenWith(settings, async (app) => {
    addAdmission(app, { access, attempts, sessions, logins, onRefused })
    addConsoleRoutes(app, { access, attempts, sessions, links, logins, tryIt, audit: ports.audit, log })
    addEventRoutes(app, events, ports, { access, sessions })
    addAuditHooks(app, ports.audit)
    addHealthRoutes(app, ports)
    addIdentityRoutes(app, () => loginsOf(callers?.()))
    addTokenRoutes(app, ports.tokens)
    addAuditRoutes(app, ports.audit)
    addStatusRoute(app, ports)
    addPlanRoutes(app, ports)
    addPlanChangesRoutes(app, ports)
    addOutageRoutes(app, ports)
    addConsentRoutes(app, ports)
    addCanaryRoutes(app, ports)
    addImpactRoute(app, ports)
    addTupleImpactRoute(app, ports)
    addMoveRoutes(app, ports.moves)
    addSubscriptionRoutes(app, ports.subscriptions)
    addUsageRoutes(app, ports.usage)
    addPruneRoute(app, ports.pruning)
    addExplainRoutes(app, ports)
    addRouteRoutes(app, ports)
    await addEngineProxy(app, ports)
  })
  return {
    ...control,
    async close() {
      // Streams would keep their connections open.
      events.close()
      await control.close()
    },
  }
}

/**
 * The listener of a process without the role `control`: health and metrics only, for orchestrators and metrics scrapers. It needs no token;
 * all other requests get 503.
 */
export function startHealth(settings: ListenSettings, ports: HealthPorts): Promise<Control> {
  return listenWith(settings, async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      reply.header(controlMark, "1")
      if (openPaths.has(request.routeOptions.url ?? "")) return undefined
      return sendProblem(
        reply.header("connection", "close"),
        "no-control",
        "this process was started without the role `control`: it serves only /healthz, /startupz, /readyz and /metrics here",
      )
    })
    addHealthRoutes(app, ports)
  })
}

/** Opens the address with routes. `localhost` opens all of its addresses, because clients use one or the other. */
async function listenWith(
  settings: ListenSettings,
  addRoutes: (app: FastifyInstance) => Promise<void>,
): Promise<Control> {
  const { listen, log, hooks } = settings
  const openingOf = (host: string): ListenerSettings => ({
    limits: { ...internalLimits, requestMs: requestArrivesMs },
    guard: guardOf({ ...settings, listen: { ...listen, host } }),
    ...hooks,
    service: {
      kind: "routes",
      app: {
        options: {
          bodyLimit: bodyBytesMax,
          // Fastify does not pass paths that it cannot decode to its error handler.
          frameworkErrors: (_error, _request, reply) =>
            void sendProblem(reply, "bad-request", "the path of the request is malformed"),
        },
        addRoutes: async (app) => {
          answerFailures(app, log)
          await addRoutes(app)
        },
      },
    },
    answerRaw: (socket, fault) => {
      const { name, detail } = refusalOf(fault)
      sendRawProblem(socket, kindOf(name), detail)
    },
  })
  const opening = openingOf(listen.host)
  const first = await openListener(listen, opening)
  const listeners = [first]
  const { port, host } = first.opened.address
  if (listen.host === "localhost")
    for (const { address } of await lookup(listen.host, { all: true })) {
      if (address === host) continue
      const other = await openListener({ host: address, port }, opening).catch(() => undefined)
      if (other !== undefined) listeners.push(other)
    }
  return {
    url: `http://${addressText(first.opened.address)}`,
    listeners,
    open: ({ listen: asked, ...how }) => openListener(asked, { ...openingOf(asked.host), ...how }),
    close: async () => {
      await Promise.all(listeners.map((listener: Listener) => listener.close(0)))
    },
  }
}

/** First refuses requests that two parsers could understand differently, and requests for a host that is not this listener. */
function guardOf({ listen, hosts = [], log }: ListenSettings): Guard {
  const told = new Set<string>()
  return {
    names: new OwnNames(listen.host, () => hosts),
    refuse({ headers, socket }, response, { name, detail }) {
      const { host = "" } = headers
      if (name === "misdirected" && !told.has(host) && told.size < hostsTold) {
        told.add(host)
        log.warn(
          { host, client: socket.remoteAddress },
          "refused a control request with an unknown host name",
        )
      }
      writeProblem(response, kindOf(name), detail)
    },
  }
}

function loginsOf(callers: ControlCallers | undefined): LoginAnswer["logins"] {
  return (callers?.issuers ?? []).flatMap(({ name, discovery, plan: { login } }) =>
    login === undefined || discovery === undefined
      ? []
      : [{ issuer: name, discovery, client: login.client, scope: login.scope ?? null }],
  )
}

/** Answers for failures. Only foreseen ones say more than that something failed. */
function answerFailures(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, "not-found", `there is no ${request.method} ${request.url.split("?")[0]}`),
  )
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    if (error instanceof Unavailable || error instanceof SourceUnavailable) {
      log.warn({ error: error.message, path: request.url }, "database unavailable")
      return sendProblem(
        reply.header("retry-after", "1"),
        "unavailable",
        "the database is unavailable; nothing was changed",
      )
    }
    if (isSchemaFault(error)) {
      log.warn({ error: error.message, path: request.url }, "database not migrated")
      return sendProblem(
        reply.header("retry-after", "1"),
        "unavailable",
        "the schema of the database does not match this version: run `sallyport migrate`",
      )
    }
    if (error.statusCode === 413)
      return sendProblem(reply, "too-large", `the body is larger than ${bodyBytesMax} bytes`)
    if (error.statusCode !== undefined && error.statusCode < 500)
      return sendProblem(reply, "bad-request", error.message)
    // The client closed the connection, which aborted the engine's response: not an error, and no client waits for a reply.
    if (error.code === "UND_ERR_ABORTED" && reply.raw.destroyed) return
    log.error({ err: error, path: request.url }, "control request failed")
    return sendProblem(reply, "internal", "the request failed; see the log for the reason")
  })
}

/** Operators may do everything: their token gives access here, and this process calls the engine with its own credential. */
async function addEngineProxy(app: FastifyInstance, ports: ControlPorts): Promise<void> {
  await app.register(httpProxy, {
    prefix: "/authz",
    rewritePrefix: "/",
    upstream: "",
    disableRequestLogging: true,
    retryMethods: [],
    // See `EngineDoor.url`.
    undici: { connect: { rejectUnauthorized: false } },
    preHandler: async (_, reply) => {
      if (ports.engine() === undefined) {
        return sendProblem(
          reply,
          "no-engine",
          "this process has no engine: the plan has no `authz` block, or no plan is applied",
        )
      }
    },
    replyOptions: {
      getUpstream: () => ports.engine()?.url as string,
      rewriteRequestHeaders: (_, headers) => {
        const {
          authorization: _token,
          expect: _expect,
          "proxy-authorization": _proxy,
          // The session of the console is the operator's credential, which the engine does not need.
          cookie: _cookie,
          // It was compared with this listener's own; the engine would compare it with its own.
          origin: _origin,
          te: _te,
          ...rest
        } = headers
        return { ...rest, authorization: ports.engine()?.authorization }
      },
      onError: (reply) => {
        sendProblem(reply as never, "no-engine", "the engine does not respond")
      },
    },
  })
}

/** `POST /v1/explain-request`: what the running plan would do with a request. `GET /v1/refusals/{id}`: why a request was refused. */
function addExplainRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.post("/v1/explain-request", async (request, reply) => {
    const question = bodyOf(explainRequestQuestion, request.body, reply)
    if (question === undefined) return reply
    const { body, ...rest } = question
    const explained = await ports.explain({
      ...rest,
      body: body === undefined ? undefined : Buffer.from(body, "base64"),
    })
    return (
      explained ??
      sendProblem(
        reply,
        "no-gateway",
        "this process has no gateway: it was started with another role, or no plan is applied yet",
      )
    )
  })
  app.get<{ Params: { id: string } }>("/v1/refusals/:id", async ({ params }, reply) => {
    const found = await ports.refusal(params.id)
    return (
      found ??
      sendProblem(reply, "not-found", "no process keeps a refusal with this id; look in the access log")
    )
  })
}

/**
 * `GET /healthz`: the process lives. `GET /startupz`: its start is over, else 503. `GET /readyz`: it may get traffic, else 503 with the
 * reasons; `warnings` when it is ready and lacks something. `GET /metrics`: text for Prometheus, or OpenMetrics for those who accept it. They
 * need no token, because orchestrators and scrapers call them and they contain no secrets. Every process has them, whatever its roles.
 */
function addHealthRoutes(app: FastifyInstance, ports: HealthPorts): void {
  app.get("/healthz", async () => ({ status: "ok" }))
  app.get("/startupz", async (_, reply) => {
    const started = ports.started()
    return reply.code(started ? 200 : 503).send({ started })
  })
  app.get("/readyz", async (_, reply) => {
    const { reasons, warnings } = await ports.readiness()
    const ready = reasons.length === 0
    return reply
      .code(ready ? 200 : 503)
      .send(warnings.length === 0 ? { ready, reasons } : { ready, reasons, warnings })
  })
  app.get("/metrics", async (request, reply) => {
    const families = await ports.metrics()
    reply.header("vary", "accept")
    return acceptsOpenMetrics(request.headers.accept)
      ? reply.type(openMetricsType).send(openMetricsPage(families))
      : reply.type("text/plain; version=0.0.4; charset=utf-8").send(metricsPage(families))
  })
}

/** `GET /v1/status`: all processes. */
function addStatusRoute(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/status", async () => ports.status())
}

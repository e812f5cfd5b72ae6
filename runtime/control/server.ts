import type { Socket } from "node:net"
import httpProxy from "@fastify/http-proxy"
import Fastify, { type FastifyInstance } from "fastify"
import { SourceUnavailable } from "../check/ports.ts"
import { internalOptions, judgeRequest, refusalOf } from "../http/server/internal-guard.ts"
import { OwnNames } from "../http/server/own-names.ts"
import {
  noteAnswer,
  type RawAnswerer,
  refuseConnection,
  takeAllRequests,
} from "../http/server/strict-server.ts"
import type { Address } from "../plan/resources.ts"
import { isSchemaFault } from "../store/fault.ts"
import type { Log } from "../telemetry/log.ts"
import { controlMark } from "./api.ts"
import { addExplainRoutes } from "./explain.ts"
import { addHealthRoutes, addStatusRoute } from "./health.ts"
import { addPlanRoutes } from "./plans.ts"
import { type ControlPorts, type HealthPorts, Unavailable } from "./ports.ts"
import { kindOf, sendProblem, sendRawProblem } from "./problem.ts"
import { addSubscriptionRoutes } from "./subscriptions.ts"
import { bearerGuard } from "./token.ts"
import { addUsageRoutes } from "./usage.ts"

/** Where to listen. */
export interface ListenSettings {
  readonly listen: Address
  /** Names it answers to besides IP addresses, `localhost` and the machine's name (`OwnNames.more`); none when absent. */
  readonly hosts?: readonly string[] | undefined
  readonly log: Log
}

/** The same, and the token everything but health and metrics asks for. */
export interface ControlSettings extends ListenSettings {
  readonly token: string
}

/** A running control listener. */
export interface Control {
  readonly url: string
  close(): Promise<void>
}

/** A plan of 10,000 routes with their origins is about 10 MB. */
const bodyBytesMax = 64 * 1024 * 1024
/** Each name that was refused is logged once, and no more names than these: they are the caller's to choose. */
const hostsTold = 100
const openPaths = new Set(["/healthz", "/readyz", "/metrics"])

/**
 * Opens the control listener: plans, status, health, metrics, and `/authz/*` carried to the engine, so that operators need one address and one
 * token. Everything but health and metrics asks for the bearer token. Rejects with the system's error when the address cannot be had.
 */
export async function startControl(settings: ControlSettings, ports: ControlPorts): Promise<Control> {
  const app = strictApp(settings)
  guard(app, settings.token)
  addHealthRoutes(app, ports)
  addStatusRoute(app, ports)
  addPlanRoutes(app, ports)
  addSubscriptionRoutes(app, ports.subscriptions)
  addUsageRoutes(app, ports.usage)
  addExplainRoutes(app, ports)
  await addEngineProxy(app, ports)
  return listenAt(app, settings.listen)
}

/** The same address in a process without the role `control`: health and metrics alone, for orchestrators and scrapers. It needs no token, and everything else is 503. */
export async function startHealth(settings: ListenSettings, ports: HealthPorts): Promise<Control> {
  const app = strictApp(settings)
  app.addHook("onRequest", async (request, reply) => {
    reply.header(controlMark, "1")
    if (openPaths.has(request.routeOptions.url ?? "")) return undefined
    return sendProblem(
      reply.header("connection", "close"),
      "no-control",
      "this process was started without the role `control`: it answers to /healthz, /readyz and /metrics here",
    )
  })
  addHealthRoutes(app, ports)
  return listenAt(app, settings.listen)
}

/** A server that judges requests as strictly as the gateway does, without routes. */
function strictApp(settings: ListenSettings): FastifyInstance {
  const answerRaw: RawAnswerer = (socket, fault) => {
    const { name, detail } = refusalOf(fault)
    sendRawProblem(socket, kindOf(name), detail)
  }
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: 60_000,
    forceCloseConnections: true,
    http: internalOptions,
    clientErrorHandler: (error, socket) => refuseConnection(error, socket as Socket, answerRaw),
    // Paths that fastify cannot decode never reach its error handler.
    frameworkErrors: (_error, _request, reply) =>
      void sendProblem(reply, "bad-request", "the path of the request is malformed"),
  })
  takeAllRequests(app.server, answerRaw)
  refuseOthers(app, settings)
  answerFailures(app, settings.log)
  return app
}

async function listenAt(app: FastifyInstance, listen: Address): Promise<Control> {
  await app.listen({ host: listen.host, port: listen.port })
  const { address, port, family } = app.addresses()[0] as { address: string; port: number; family: string }
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    close: () => app.close(),
  }
}

/** Before anything else: a request that two readers could understand differently, or that is meant for a host this listener is not. */
function refuseOthers(app: FastifyInstance, { listen, hosts = [], log }: ListenSettings): void {
  const names = new OwnNames(listen.host, () => hosts)
  const told = new Set<string>()
  app.addHook("onRequest", async (request, reply) => {
    const { raw } = request
    noteAnswer(raw, reply.raw)
    const refusal = judgeRequest(raw, raw.url ?? "", names)
    if (refusal === undefined) return undefined
    const { host = "" } = raw.headers
    if (refusal.name === "misdirected" && !told.has(host) && told.size < hostsTold) {
      told.add(host)
      log.warn({ host, client: raw.socket.remoteAddress }, "control request for another host")
    }
    return sendProblem(reply.header("connection", "close"), kindOf(refusal.name), refusal.detail)
  })
}

function guard(app: FastifyInstance, token: string): void {
  const allowed = bearerGuard(token)
  app.addHook("onRequest", async (request, reply) => {
    reply.header(controlMark, "1")
    if (openPaths.has(request.routeOptions.url ?? "") || allowed(request.headers.authorization)) {
      if (request.headers.expect !== undefined) reply.raw.writeContinue()
      return undefined
    }
    reply.header("www-authenticate", 'Bearer realm="sallyport control"')
    return sendProblem(
      reply,
      "unauthenticated",
      request.headers.authorization === undefined
        ? "a bearer token is required"
        : "this is not the control token of this process",
    )
  })
}

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
        "the database does not answer; nothing was changed",
      )
    }
    if (isSchemaFault(error)) {
      log.warn({ error: error.message, path: request.url }, "database not migrated")
      return sendProblem(
        reply.header("retry-after", "1"),
        "unavailable",
        "the database's schema is not the one this version needs: run `sallyport migrate`",
      )
    }
    if (error.statusCode === 413)
      return sendProblem(reply, "too-large", `a body may have ${bodyBytesMax} bytes`)
    if (error.statusCode !== undefined && error.statusCode < 500)
      return sendProblem(reply, "bad-request", error.message)
    // The client went away, and the engine's answer with it: nothing failed, and nobody waits.
    if (error.code === "UND_ERR_ABORTED" && reply.raw.destroyed) return
    log.error({ err: error, path: request.url }, "control request failed")
    return sendProblem(reply, "internal", "the request failed; the log says why")
  })
}

/** Operators may do everything: their token opens this door, and the engine is asked with this process's own credential. */
async function addEngineProxy(app: FastifyInstance, ports: ControlPorts): Promise<void> {
  await app.register(httpProxy, {
    prefix: "/authz",
    rewritePrefix: "/",
    upstream: "",
    disableRequestLogging: true,
    retryMethods: [],
    preHandler: async (_, reply) => {
      if (ports.engine() === undefined) {
        return sendProblem(
          reply,
          "no-engine",
          "no engine listener is known to this process: the plan has no `authz` block, or no plan is applied",
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
          te: _te,
          ...rest
        } = headers
        return { ...rest, authorization: ports.engine()?.authorization }
      },
      onError: (reply) => {
        sendProblem(reply as never, "no-engine", "the engine's listener does not answer")
      },
    },
  })
}

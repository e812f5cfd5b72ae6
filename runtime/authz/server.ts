import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http"
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify"
import { newRequestId, sendError, sendJson } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, bodyTooLarge } from "./api-error.ts"
import { getModel, getModels, postModel } from "./authorization-models.ts"
import { bodyBytesMax, parseBody } from "./body.ts"
import { answerCheck } from "./check.ts"
import { getHealth } from "./healthz.ts"
import { postRead } from "./read.ts"
import type { Answer, Handler } from "./route.ts"
import { getStore, getStores, postStore, removeStore } from "./stores.ts"
import { postWrite } from "./write.ts"

/** Every resource but check, which has its own way. */
const routes: readonly (readonly ["GET" | "POST" | "DELETE", string, Handler])[] = [
  ["GET", "/stores", getStores],
  ["POST", "/stores", postStore],
  ["GET", "/stores/:store", getStore],
  ["DELETE", "/stores/:store", removeStore],
  ["GET", "/stores/:store/authorization-models", getModels],
  ["POST", "/stores/:store/authorization-models", postModel],
  ["GET", "/stores/:store/authorization-models/:id", getModel],
  ["POST", "/stores/:store/write", postWrite],
  ["POST", "/stores/:store/read", postRead],
  ["GET", "/healthz", getHealth],
]

/** Time for a whole request to arrive. */
const requestMs = 15_000

/** One listener. The path of a check is taken off before fastify sees it: that halves its cost. */
export function buildServer(api: AuthzApi): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: requestMs,
    forceCloseConnections: "idle",
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { maxParamLength: 256 },
    exposeHeadRoutes: false,
    // Paths that fastify cannot decode never reach its error handler.
    frameworkErrors: (error, _request, reply) => fail(api, reply, clientFault(error)),
    serverFactory: (handler) => checkFirst(api, handler as RequestListener),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body))
  for (const [method, url, handler] of routes) {
    app.route({ method, url, handler: (request, reply) => handle(api, handler, request, reply) })
  }
  app.post<{ Params: { store: string } }>("/stores/:store/check", (request, reply) => {
    reply.hijack()
    answerCheck(api, request.params.store, bodyOf(request), reply.raw)
  })
  app.setNotFoundHandler((request, reply) => fail(api, reply, notThere(request)))
  app.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _request, reply) =>
    fail(api, reply, clientFault(error)),
  )
  return app
}

async function handle(
  api: AuthzApi,
  handler: Handler,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.hijack()
  try {
    const { store = "", id = "" } = request.params as { store?: string; id?: string }
    const query = new URL(request.url, "http://any").searchParams
    const body = request.method === "POST" ? parseBody(bodyOf(request)) : {}
    send(reply.raw, await handler(api, { store, id, query, body }))
  } catch (error) {
    sendError(reply.raw, error, api.logFault)
  }
}

function send(response: ServerResponse, { status, body, headers = [] }: Answer): void {
  if (body !== undefined) {
    sendJson(response, status, JSON.stringify(body), headers)
    return
  }
  response.writeHead(status, ["X-Request-Id", newRequestId(), ...headers])
  response.end()
}

function fail(api: AuthzApi, reply: FastifyReply, error: unknown): void {
  reply.hijack()
  sendError(reply.raw, error, api.logFault)
}

function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}

function notThere({ method, url }: FastifyRequest): ApiError {
  if (method === "PATCH" && /^\/stores\/[^/]+$/.test(url))
    return new ApiError("unimplemented", "Method Not Implemented")
  return new ApiError("undefined_endpoint", "Not Found")
}

/** What fastify itself refuses, in our form; anything else is our fault. */
function clientFault(error: Error & { code?: string; statusCode?: number }): unknown {
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge(bodyBytesMax)
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new ApiError("validation_error", error.message)
  return error
}

/** The server of the listener: a plain check goes straight to its answer, everything else to fastify. */
function checkFirst(api: AuthzApi, fastify: RequestListener): Server {
  return createServer((request, response) => {
    const store = request.method === "POST" ? storeOfCheck(request.url ?? "") : undefined
    if (store === undefined) fastify(request, response)
    else readCheck(api, store, request, response)
  })
}

/** The store in `/stores/{store}/check`; undefined for other paths, and for those that need decoding. */
function storeOfCheck(url: string): string | undefined {
  if (!url.startsWith("/stores/") || !url.endsWith("/check")) return undefined
  const store = url.slice(8, -6)
  return /^[A-Za-z0-9_-]+$/.test(store) ? store : undefined
}

function readCheck(api: AuthzApi, store: string, request: IncomingMessage, response: ServerResponse): void {
  let body: Buffer | undefined
  let bytes = 0
  const tooLarge = () => {
    request.removeAllListeners("data")
    request.removeAllListeners("end")
    // The rest is not read: the connection has to end.
    response.setHeader("Connection", "close")
    sendError(response, bodyTooLarge(bodyBytesMax), api.logFault)
    request.resume()
  }
  if (Number(request.headers["content-length"] ?? 0) > bodyBytesMax) {
    tooLarge()
    return
  }
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bodyBytesMax) tooLarge()
    else if (body === undefined) body = chunk
    else chunks.push(chunk)
  })
  request.on("end", () => {
    const whole =
      body === undefined ? Buffer.alloc(0) : chunks.length === 0 ? body : Buffer.concat([body, ...chunks])
    answerCheck(api, store, whole, response)
  })
  // Broken off by the client: there is nobody to answer.
  request.on("error", () => undefined)
}

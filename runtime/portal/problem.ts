import type { Socket } from "node:net"
import type { FastifyReply } from "fastify"
import { sendRaw } from "../http/server/connection-errors.ts"
import type { Reply } from "../http/server/incoming.ts"
import type { PortalProblem, PortalProblemName } from "./api.ts"

const problems: Readonly<Record<PortalProblemName, readonly [status: number, title: string]>> = {
  "bad-request": [400, "Bad request"],
  unauthenticated: [401, "Sign-in required"],
  "no-sign-in": [404, "No sign-in"],
  forbidden: [403, "Not permitted"],
  "cross-origin": [403, "Request of another origin"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  conflict: [409, "Conflict with the current state"],
  refused: [422, "Request refused"],
  "too-large": [413, "Body too large"],
  "unsupported-media-type": [415, "Body is not JSON"],
  "too-many-requests": [429, "Too many requests"],
  unavailable: [503, "Not available at the moment"],
  internal: [500, "Internal error"],
}

const contentType = "application/problem+json"

/** Sends a problem body (RFC 9457). `detail` is for the person at the browser: it says nothing about the inside. */
export function sendPortalProblem(
  reply: FastifyReply,
  name: PortalProblemName,
  detail: string,
): FastifyReply {
  const [status, title] = problems[name]
  const body: PortalProblem = { type: `urn:sallyport:portal:${name}`, title, status, detail }
  return reply.code(status).type(contentType).header("cache-control", "no-store").send(JSON.stringify(body))
}

/** A refusal before the routes: the request itself is not valid. */
function refusalBody(status: number): Buffer {
  const detail =
    status === 421 ? "this portal does not have the host name of the request" : "the request is not valid"
  const [, title] = problems["bad-request"]
  return Buffer.from(JSON.stringify({ type: "urn:sallyport:portal:bad-request", title, status, detail }))
}

/** The same for a request that the routes do not see. */
export function writeRefusal(response: Pick<Reply, "writeHead" | "end">, status: number): void {
  const body = refusalBody(status)
  response.writeHead(status, ["content-type", contentType, "content-length", String(body.length)])
  response.end(body)
}

/** The same on a connection without a valid request; ends the connection. */
export function sendRawRefusal(socket: Socket, status: number): void {
  sendRaw(socket, { status, body: refusalBody(status), headers: ["content-type", contentType] })
}

import type { Socket } from "node:net"
import type { FastifyReply } from "fastify"
import { sendRaw } from "../http/server/connection-errors.ts"
import type { Reply } from "../http/server/incoming.ts"
import type { Refusal } from "../http/server/internal-guard.ts"
import type { ControlProblem } from "./api.ts"

/** Problem types of the control API, with status and title. The last part of `type` is stable; clients compare it. */
export const controlProblems = {
  unauthenticated: [401, "Authentication required"],
  "too-many-attempts": [429, "Too many failed attempts"],
  forbidden: [403, "Not permitted"],
  "cross-origin": [403, "Request of another origin"],
  "issuer-unavailable": [503, "Issuer unavailable"],
  "certificate-required": [401, "Client certificate required"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  "bad-request": [400, "Bad request"],
  "https-required": [400, "HTTPS required"],
  "request-timeout": [408, "Request timeout"],
  "target-too-long": [414, "Target too long"],
  "expectation-failed": [417, "Expectation failed"],
  misdirected: [421, "Unknown host name"],
  "header-too-large": [431, "Header too large"],
  "not-implemented": [501, "Not implemented"],
  "version-not-supported": [505, "HTTP version not supported"],
  "too-large": [413, "Body too large"],
  conflict: [409, "Conflict with the current state"],
  refused: [422, "Request refused"],
  "plan-invalid": [422, "Plan is not valid"],
  "plan-refused": [422, "Plan cannot be provisioned here"],
  "plan-stale": [412, "Plan is stale"],
  "plan-unsigned": [403, "Plan is not signed as declared"],
  "consent-required": [403, "Plan needs consent"],
  unavailable: [503, "Database unavailable"],
  "no-control": [503, "Control API not available in this process"],
  "no-engine": [503, "No engine available"],
  "no-gateway": [503, "No gateway available"],
  "no-review": [503, "Plans cannot be compared in this process"],
  internal: [500, "Internal error"],
} as const

const contentType = "application/problem+json"

export type ProblemKind = keyof typeof controlProblems

/** Sends a problem body (RFC 9457). `detail` and the members of `extra` are for operators. */
export function sendProblem(
  reply: FastifyReply,
  kind: ProblemKind,
  detail: string,
  extra: Pick<ControlProblem, "problems" | "current" | "missing"> = {},
): FastifyReply {
  const [status, title] = controlProblems[kind]
  return reply
    .code(status)
    .type(contentType)
    .send(JSON.stringify({ type: `urn:sallyport:control:${kind}`, title, status, detail, ...extra }))
}

/** The same, before Fastify has seen the request. */
export function writeProblem(
  response: Pick<Reply, "writeHead" | "end">,
  kind: ProblemKind,
  detail: string,
): void {
  const { status, body } = plainProblem(kind, detail)
  response.writeHead(status, ["content-type", contentType, "content-length", String(body.length)])
  response.end(body)
}

/** The same on a connection without a request; ends the connection. */
export function sendRawProblem(socket: Socket, kind: ProblemKind, detail: string): void {
  sendRaw(socket, { ...plainProblem(kind, detail), headers: ["content-type", contentType] })
}

function plainProblem(kind: ProblemKind, detail: string): { status: number; body: Buffer } {
  const [status, title] = controlProblems[kind]
  const body = JSON.stringify({ type: `urn:sallyport:control:${kind}`, title, status, detail })
  return { status, body: Buffer.from(body) }
}

/** The problem of a request that is refused before routing. */
export function kindOf(name: Refusal["name"]): ProblemKind {
  switch (name) {
    case "invalid-request":
    case "invalid-path":
    case "invalid-header":
      return "bad-request"
    case "body-too-large":
      return "too-large"
    default:
      return name
  }
}

import type { FastifyReply } from "fastify"
import type { ControlProblem } from "./api.ts"

/** Problem types of the control API; the last part is stable and what clients compare. */
const titles = {
  unauthenticated: [401, "Authentication required"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  "bad-request": [400, "Bad request"],
  "too-large": [413, "Body too large"],
  conflict: [409, "Not possible as it stands"],
  refused: [422, "Not possible"],
  "plan-invalid": [422, "Plan is not valid"],
  "plan-refused": [422, "Plan cannot be provisioned here"],
  "plan-stale": [412, "Plan is stale"],
  unavailable: [503, "Database unavailable"],
  "no-engine": [503, "No engine to ask"],
  "no-gateway": [503, "No gateway to ask"],
  internal: [500, "Internal error"],
} as const

export type ProblemKind = keyof typeof titles

/** Answers with a problem body (RFC 9457); `detail` and the members of `extra` must be fit for operators to read. */
export function sendProblem(
  reply: FastifyReply,
  kind: ProblemKind,
  detail: string,
  extra: Pick<ControlProblem, "problems" | "current"> = {},
): FastifyReply {
  const [status, title] = titles[kind]
  return reply
    .code(status)
    .type("application/problem+json")
    .send(JSON.stringify({ type: `urn:sallyport:control:${kind}`, title, status, detail, ...extra }))
}

import type { FastifyInstance } from "fastify"
import { includesRole } from "../plan/control.ts"
import {
  type ControlTokenRecord,
  deleteControlToken,
  insertControlToken,
  listControlTokens,
} from "../store/control-tokens.ts"
import type { Database } from "../store/database.ts"
import { createTokenRequest, type MachineToken } from "./api.ts"
import { bodyOf } from "./body.ts"
import { operatorOf } from "./operators.ts"
import { sendProblem } from "./problem.ts"
import { newOperatorToken } from "./subscription-key.ts"

/** Tokens of machines for the control API; only their digests are stored. */
export interface TokenPorts {
  readonly database: Database
}

/** `GET|POST /v1/tokens`, `DELETE /v1/tokens/{name}`. The response of a POST is the only one with the token. */
export function addTokenRoutes(app: FastifyInstance, ports: TokenPorts): void {
  app.get("/v1/tokens", async () => ({ tokens: (await listControlTokens(ports.database)).map(shown) }))
  app.post("/v1/tokens", async (request, reply) => {
    const body = bodyOf(createTokenRequest, request.body, reply)
    if (body === undefined) return reply
    const operator = operatorOf(request.raw)
    const expiresAt = new Date(body.expiresAt)
    if (expiresAt.getTime() <= Date.now()) return sendProblem(reply, "refused", "`expiresAt` is in the past")
    if (!includesRole(operator.role, body.role))
      return sendProblem(reply, "forbidden", `\`${operator.name}\` cannot give a role that it does not have`)
    const { key, digest, prefix } = newOperatorToken()
    const { name, role } = body
    const made = { name, role, digest, prefix, expiresAt, createdBy: operator.name }
    const stored = await insertControlToken(ports.database, made)
    if (stored === undefined)
      return sendProblem(
        reply,
        "conflict",
        `there is already a token \`${name}\`; revoke it first, or use another name`,
      )
    return reply.code(201).send({ token: shown(stored), secret: key })
  })
  app.delete<{ Params: { name: string } }>("/v1/tokens/:name", async ({ params }, reply) =>
    (await deleteControlToken(ports.database, params.name))
      ? reply.code(204).send()
      : sendProblem(reply, "not-found", `there is no token \`${params.name}\``),
  )
}

function shown({ createdAt, expiresAt, lastUsedAt, ...record }: ControlTokenRecord): MachineToken {
  return {
    ...record,
    role: record.role as MachineToken["role"],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}

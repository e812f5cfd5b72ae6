import type { FastifyInstance } from "fastify"
import { includesRole, type OperatorRole } from "../plan/control.ts"
import {
  type ControlTokenRecord,
  deleteControlToken,
  insertControlToken,
  listControlTokens,
} from "../store/control-tokens.ts"
import type { Database } from "../store/database.ts"
import { createTokenRequest, type MachineToken } from "./api.ts"
import { bodyOf } from "./body.ts"
import { type Operator, operatorOf } from "./operators.ts"
import { sendProblem } from "./problem.ts"
import { covers, isScopeWord, operations, roleOfScope, scopeWords } from "./routes.ts"
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
    const { name, may = null } = body
    const role = body.role ?? (may === null ? undefined : roleOfScope(may))
    const refusal = scopeRefusal(role, may) ?? tooMuch(operator, { role, may, expiresAt })
    if (refusal !== undefined) return sendProblem(reply, refusal.kind, refusal.detail)
    const { key, digest, prefix } = newOperatorToken()
    const made = {
      name,
      role: role as OperatorRole,
      may,
      digest,
      prefix,
      expiresAt,
      createdBy: operator.name,
    }
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

interface AskedToken {
  readonly role: OperatorRole | undefined
  readonly may: readonly string[] | null
  readonly expiresAt: Date
}

interface TokenRefusal {
  readonly kind: "refused" | "forbidden"
  readonly detail: string
}

/** Why a token cannot be made for anybody; undefined: it can. */
function scopeRefusal(role: OperatorRole | undefined, may: AskedToken["may"]): TokenRefusal | undefined {
  if (role === undefined) return { kind: "refused", detail: "a token needs `role`, `may` or both" }
  const unknown = (may ?? []).find((word) => !isScopeWord(word))
  if (unknown !== undefined)
    return {
      kind: "refused",
      detail: `there is no operation \`${unknown}\`; the operations and their groups are ${scopeWords.join(", ")}`,
    }
  const beyond = [...operations].find(
    ([operation, needs]) => may !== null && covers(may, operation) && !includesRole(role, needs),
  )
  return beyond === undefined
    ? undefined
    : {
        kind: "refused",
        detail: `\`${beyond[0]}\` needs the role \`${beyond[1]}\`, and the token would have \`${role}\``,
      }
}

/** Why this operator cannot make the token: it would be worth more than the operator's own credential. */
function tooMuch(operator: Operator, { role, may, expiresAt }: AskedToken): TokenRefusal | undefined {
  const { name, kind, may: own } = operator
  if (role !== undefined && !includesRole(operator.role, role))
    return { kind: "forbidden", detail: `\`${name}\` cannot give a role that it does not have` }
  if (own !== undefined && (may === null || may.some((word) => !covers(own, word))))
    return {
      kind: "forbidden",
      detail: `\`${name}\` may only do ${own.join(", ")}, and cannot give more than that`,
    }
  const endMs = kind === "token" ? (operator.expiresAt ?? 0) * 1000 : Number.POSITIVE_INFINITY
  return expiresAt.getTime() > endMs
    ? {
        kind: "forbidden",
        detail: `\`${name}\` ends before \`expiresAt\`, and cannot make a token that outlives it`,
      }
    : undefined
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

import { hash } from "node:crypto"
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { SourceUnavailable } from "../check/ports.ts"
import type { AuditContent, AuditPage, AuditRange } from "../store/audit-log.ts"
import { auditPruneRequest, auditQuery } from "./api.ts"
import { bodyOf } from "./body.ts"
import { findOperator, type Operator } from "./operators.ts"
import { sendProblem } from "./problem.ts"
import { ruleOf } from "./routes.ts"
import { tupleEdits } from "./tuple-edits.ts"

/** A row of a journal on disk, which the audit log gets later. */
export interface JournalPlace {
  /** Id of the journal. */
  readonly journal: string
  readonly seq: number
}

/** The log of what operators did. */
export interface AuditPorts {
  /** Returns the number of the row. Rejects with `SourceUnavailable`; then there is no row. */
  append(content: AuditContent): Promise<number>
  /** Appends to a journal on disk, for the changes that are possible without the database. Absent: there is none. */
  readonly journal?: ((content: AuditContent) => Promise<JournalPlace>) | undefined
  read(range: AuditRange): Promise<AuditPage>
  /** Deletes older rows; returns their number. */
  prune(olderThanSeconds: number): Promise<number>
  /** Called when a row that does not stop a request could not be written. */
  onLost(error: unknown): void
}

/** Fields of bodies that are not secret and say what was changed. */
const shownFields = [
  "serial",
  "base",
  "name",
  "scope",
  "owner",
  "state",
  "role",
  "may",
  "expiresAt",
  "key",
  "dryRun",
  "id",
  "percent",
  "seconds",
  "limits",
  "digest",
  "allow",
  "message",
  "author",
] as const

/** The number of the row that was written before a request, or its place in the journal. */
const begun = new WeakMap<FastifyRequest["raw"], number | JournalPlace>()

/** Whether the row before a request is in the journal on disk, because the database did not take it. */
export function isBegunInJournal(request: FastifyRequest): boolean {
  return typeof begun.get(request.raw) === "object"
}

/**
 * Writes a row before each request that changes something or reads tuples, and one after it with its status. A change whose first row cannot be
 * written is refused. Refusals for a role have a row, too.
 */
export function addAuditHooks(app: FastifyInstance, audit: AuditPorts): void {
  app.addHook("preHandler", async (request, reply) => {
    const rule = ruleOfRequest(request)
    if (rule?.audit === undefined) return undefined
    const details = (await tupleEdits(request)) ?? detailsOf(request.body)
    const content = { ...aboutRequest(request), event: "requested", details }
    try {
      begun.set(request.raw, await audit.append(content))
    } catch (error) {
      const isAway = error instanceof SourceUnavailable
      if (rule.audit === "journal" && isAway && audit.journal !== undefined)
        return beginInJournal(audit.journal, content, request, reply)
      if (rule.audit !== "read") throw error
      audit.onLost(error)
    }
    return undefined
  })
  app.addHook("onResponse", async (request, reply) => {
    const of = begun.get(request.raw)
    const { statusCode: status } = reply
    const isDenied = of === undefined && status === 403 && findOperator(request.raw) !== undefined
    if (of === undefined && !isDenied) return
    const event = isDenied ? { event: "denied" } : { event: "ended", of }
    const content = { ...aboutRequest(request), ...event, status }
    const append = typeof of === "object" && audit.journal !== undefined ? audit.journal : audit.append
    // The request is over, so its outcome can only be missing.
    await append(content).catch((error) => audit.onLost(error))
  })
}

async function beginInJournal(
  append: NonNullable<AuditPorts["journal"]>,
  content: AuditContent,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  try {
    begun.set(request.raw, await append(content))
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return sendProblem(
      reply,
      "refused",
      `nothing was changed, because the journal on disk does not take a row: ${reason}`,
    )
  }
}

function ruleOfRequest(request: FastifyRequest): ReturnType<typeof ruleOf> {
  return ruleOf(request.method, request.routeOptions.url ?? "", pathOf(request))
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?")[0] ?? ""
}

/** Who sent a request, and which. */
export function aboutRequest(request: FastifyRequest): AuditContent {
  const { kind, name, role, issuer }: Partial<Operator> = findOperator(request.raw) ?? {}
  return {
    action: ruleOfRequest(request)?.operation ?? "other",
    ...{ method: request.method, path: pathOf(request).slice(0, 1_024), client: request.ip },
    who: { kind, name, role, issuer },
  }
}

function detailsOf(body: unknown): AuditContent | undefined {
  if (typeof body !== "object" || body === null || "pipe" in body) return undefined
  const given = body as Record<string, unknown>
  const shown = shownFields.flatMap((field) =>
    given[field] === undefined ? [] : [[field, given[field]] as const],
  )
  const { plan } = given
  const digest = typeof plan === "object" && plan !== null && "digest" in plan ? plan.digest : undefined
  const details = { ...Object.fromEntries(shown), ...(digest === undefined ? {} : { plan: digest }) }
  // Callers choose the content, and a row must not become large.
  const text = JSON.stringify(details)
  return text.length <= detailsMax ? details : { sha256: hash("sha256", text, "hex") }
}

const detailsMax = 8_192

/** `GET /v1/audit`: rows in order, with the ends of the chain. `POST /v1/audit/prune`: deletes old rows. */
export function addAuditRoutes(app: FastifyInstance, audit: AuditPorts): void {
  app.get("/v1/audit", async (request, reply) => {
    const query = bodyOf(auditQuery, request.query, reply)
    if (query === undefined) return reply
    const { after, from, to, limit } = query
    const range = {
      from: from === undefined ? null : new Date(from),
      to: to === undefined ? null : new Date(to),
    }
    const { rows, head, anchor } = await audit.read({ after, limit, ...range })
    return { rows, head, anchor, next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null) }
  })
  app.post("/v1/audit/prune", async (request, reply) => {
    const body = bodyOf(auditPruneRequest, request.body, reply)
    return body === undefined ? reply : { deleted: await audit.prune(body.olderThanSeconds) }
  })
}

import type { FastifyInstance } from "fastify"
import * as z from "zod"
import type { ImpactRow } from "../check/access-change.ts"
import type { AccessImpact, RelationImpact } from "../check/impact.ts"
import { bodyOf } from "./body.ts"
import { sendProblem } from "./problem.ts"

const tupleKey = z.strictObject({
  user: z.string().max(1_024),
  relation: z.string().max(64),
  object: z.string().max(512),
  condition: z
    .strictObject({ name: z.string().max(64), context: z.record(z.string(), z.unknown()).optional() })
    .nullish()
    .transform((condition) => condition ?? undefined),
})

/**
 * Body of `POST /v1/tuples/impact`: the store by its id or declared name, the tuples that would be written and deleted together, and values
 * for conditions.
 */
export const tupleImpactRequest = z.strictObject({
  store: z.string().min(1).max(128),
  writes: z.array(tupleKey).max(100).default([]),
  deletes: z.array(tupleKey).max(100).default([]),
  context: z.record(z.string(), z.unknown()).optional(),
})

/** What a change of tuples means for people. */
export interface TupleImpactAnswer {
  /** The revision of the store at which it was found. */
  readonly revision: number
  readonly relations: readonly Omit<RelationImpact, "samples">[]
  readonly users: AccessImpact["users"]
  readonly objects: number
  /** Objects and relations that were compared; fewer than `candidates` if the memory was not enough. */
  readonly compared: number
  readonly candidates: number
  /** Every change, or null when they are too many to list. */
  readonly rows: readonly ImpactRow[] | null
}

/** What is asked about. */
export type TupleImpactQuestion = z.infer<typeof tupleImpactRequest> & {
  /** Aborts when the caller does not wait any more. */
  readonly signal: AbortSignal
}

/** Finds who gains or loses access by a change of tuples; runtime/process implements it. */
export interface TupleImpactPorts {
  /** Null: there is no such store. A text: why the change cannot be written. */
  tupleImpact(question: TupleImpactQuestion): Promise<TupleImpactAnswer | string | null>
}

/** `POST /v1/tuples/impact`: who would gain or lose access if these tuples were written and deleted. Nothing is changed. */
export function addTupleImpactRoute(app: FastifyInstance, ports: TupleImpactPorts): void {
  let isRunning = false
  app.post("/v1/tuples/impact", async (request, reply) => {
    const body = bodyOf(tupleImpactRequest, request.body, reply)
    if (body === undefined) return reply
    if (body.writes.length + body.deletes.length === 0)
      return sendProblem(reply, "bad-request", "the body names no tuple that would be written or deleted")
    if (isRunning)
      return sendProblem(
        reply.header("retry-after", "1"),
        "conflict",
        "this process finds the effect of other tuples at the moment; try again when it is done",
      )
    isRunning = true
    const gone = new AbortController()
    reply.raw.once("close", () => gone.abort())
    try {
      const found = await ports.tupleImpact({ ...body, signal: gone.signal })
      if (found === null) return sendProblem(reply, "not-found", `there is no store ${body.store}`)
      return typeof found === "string" ? sendProblem(reply, "bad-request", found) : found
    } finally {
      isRunning = false
    }
  })
}

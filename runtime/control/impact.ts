import { Readable } from "node:stream"
import type { FastifyInstance } from "fastify"
import * as z from "zod"
import type { ImpactRow } from "../check/access-change.ts"
import type { AccessImpact, ImpactProgress } from "../check/impact.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { bodyOf } from "./body.ts"
import { sendProblem } from "./problem.ts"

/**
 * Body of `POST /v1/plan/impact`: a compiled plan, values for conditions, whether all rows are wanted, and the only store to compare (default:
 * all whose model changes).
 */
const impactRequest = z.strictObject({
  plan: z.unknown(),
  context: z.record(z.string(), z.unknown()).optional(),
  rows: z.boolean().default(false),
  store: z.string().max(128).optional(),
})

/**
 * One line of the response. `reading`: part of the tuples that has been read, null when it is not known. The last line of a store has `impact`, the
 * last line of all `end`, or `error`: why there is no more.
 */
export type ImpactLine =
  | { readonly store: string; readonly reading: number | null }
  | { readonly store: string; readonly progress: ImpactProgress }
  | { readonly store: string; readonly row: ImpactRow }
  | {
      readonly store: string
      readonly impact: AccessImpact
      readonly revision: number
      readonly tuples: number
    }
  | { readonly end: true }
  | { readonly error: string }

/** What is compared with the running plan. */
export interface ImpactQuestion {
  readonly plan: Plan
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly rows: boolean
  /** Undefined: every store whose model changes. */
  readonly store: string | undefined
  /** Aborts when the caller does not wait any more. */
  readonly signal: AbortSignal
}

/** Compares the people of a plan with those of the running plan; runtime/process implements it. */
export interface ImpactPorts {
  impact(question: ImpactQuestion): AsyncIterable<ImpactLine>
}

/**
 * `POST /v1/plan/impact`: who gains or loses access if this plan is applied, over the tuples in the database. Streams JSON lines, with progress. One
 * comparison runs at a time.
 */
export function addImpactRoute(app: FastifyInstance, ports: ImpactPorts): void {
  let isRunning = false
  app.post("/v1/plan/impact", async (request, reply) => {
    const body = bodyOf(impactRequest, request.body, reply)
    if (body === undefined) return reply
    const read = readPlan(body.plan)
    if ("problems" in read)
      return sendProblem(reply, "plan-invalid", read.problems[0]?.message ?? "", {
        problems: [...read.problems],
      })
    if (isRunning)
      return sendProblem(
        reply.header("retry-after", "5"),
        "conflict",
        "this process compares another plan at the moment; try again when it is done",
      )
    isRunning = true
    const gone = new AbortController()
    const { context, rows, store } = body
    const lines = ports.impact({ plan: read.plan, context, rows, store, signal: gone.signal })
    const stream = Readable.from(textOf(lines, (error) => request.log.error({ err: error })))
    stream.once("close", () => {
      isRunning = false
      gone.abort()
    })
    // The caller may close the connection before the stream is read.
    reply.raw.once("close", () => stream.destroy())
    return reply.type("application/x-ndjson").send(stream)
  })
}

/** The status was sent with the first line, so a failure is a line too. */
async function* textOf(
  lines: AsyncIterable<ImpactLine>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<string> {
  try {
    for await (const line of lines) yield `${JSON.stringify(line)}\n`
    yield `${JSON.stringify({ end: true } satisfies ImpactLine)}\n`
  } catch (error) {
    onFailure(error)
    const reason = error instanceof Error ? error.message : String(error)
    yield `${JSON.stringify({ error: reason } satisfies ImpactLine)}\n`
  }
}

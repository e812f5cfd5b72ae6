import { Readable } from "node:stream"
import type { FastifyInstance } from "fastify"
import * as z from "zod"
import type { ImpactRow } from "../check/access-change.ts"
import type { AccessImpact, ImpactProgress } from "../check/impact.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import type { PlanAnswer } from "./api.ts"
import { bodyOf } from "./body.ts"
import { isBase, sendStale } from "./plan-base.ts"
import { sendProblem } from "./problem.ts"

/**
 * Body of `POST /v1/plan/impact`: a compiled plan, the plan with which it is compared (`base` and `baseStamp` as in `PUT /v1/plan`; default: the
 * running one), values for conditions, whether all rows are wanted, and the only store to compare (default: all whose model changes).
 */
const impactRequest = z.strictObject({
  plan: z.unknown(),
  base: z.number().int().nullable().optional(),
  baseStamp: z.string().optional(),
  context: z.record(z.string(), z.unknown()).optional(),
  rows: z.boolean().default(false),
  store: z.string().max(128).optional(),
})

/**
 * One line of the response. The first is `base`: the running plan with which the plan is compared, or null. `reading`: part of the tuples that has been read, null when it is not known. The last line of a store has `impact` and the number of tuples that were read (`whole`: all of the store, otherwise those that the change concerns), the
 * last line of all `end`, or `error`: why there is no more.
 */
export type ImpactLine =
  | { readonly base: { readonly serial: number; readonly stamp: string } | null }
  | { readonly store: string; readonly reading: number | null }
  | { readonly store: string; readonly progress: ImpactProgress }
  | { readonly store: string; readonly row: ImpactRow }
  | {
      readonly store: string
      readonly impact: AccessImpact
      readonly revision: number
      readonly tuples: number
      readonly whole: boolean
    }
  | { readonly end: true }
  | { readonly error: string }

/** What is compared with the running plan. */
export interface ImpactQuestion {
  readonly plan: Plan
  readonly running: PlanAnswer | undefined
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly rows: boolean
  /** Undefined: every store whose model changes. */
  readonly store: string | undefined
  /** Aborts when the caller does not wait any more. */
  readonly signal: AbortSignal
}

/** Compares the people of a plan with those of the running plan; runtime/process implements it. */
export interface ImpactPorts {
  /** The running plan. */
  current(): Promise<PlanAnswer | undefined>
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
    const running = await ports.current()
    const { base, baseStamp } = body
    const wanted = base == null ? null : { serial: base, stamp: baseStamp }
    if (base !== undefined && !isBase(wanted, running?.record))
      return sendStale(reply, wanted, running?.record ?? null)
    if (isRunning)
      return sendProblem(
        reply.header("retry-after", "5"),
        "conflict",
        "this process compares another plan at the moment; try again when it is done",
      )
    isRunning = true
    const gone = new AbortController()
    const { context, rows, store } = body
    const lines = ports.impact({ plan: read.plan, running, context, rows, store, signal: gone.signal })
    const stream = Readable.from(
      textOf(withBase(lines, running, ports), (error) => request.log.error({ err: error })),
    )
    stream.once("close", () => {
      isRunning = false
      gone.abort()
    })
    // The caller may close the connection before the stream is read.
    reply.raw.once("close", () => stream.destroy())
    return reply.type("application/x-ndjson").send(stream)
  })
}

/**
 * The lines after that of the base. They say what the plan would do to the base, so they are worth nothing if it was replaced meanwhile.
 * @throws when another plan is running at the end
 */
async function* withBase(
  lines: AsyncIterable<ImpactLine>,
  running: PlanAnswer | undefined,
  ports: Pick<ImpactPorts, "current">,
): AsyncGenerator<ImpactLine> {
  const base = running === undefined ? null : { serial: running.record.serial, stamp: running.record.stamp }
  yield { base }
  yield* lines
  const now = (await ports.current())?.record
  if (isBase(base, now)) return
  const [then, later] = [base?.serial, now?.serial].map((serial) =>
    serial === undefined ? "no plan" : `serial ${serial}`,
  )
  throw new Error(
    `the plan was compared with ${then}, but ${later} is running now; compare it again with the running plan`,
  )
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

import type { FastifyInstance } from "fastify"
import type { PruneCursor, Pruned, Retention } from "../store/prune.ts"
import { type PruneAnswer, pruneRequest } from "./api.ts"
import { bodyOf } from "./body.ts"
import { sendProblem } from "./problem.ts"

/** Deletes what is older than a retention; runtime/store implements it. */
export interface PrunePorts {
  prune(
    retention: Retention,
    cursor: PruneCursor | undefined,
  ): Promise<{ readonly pruned: Pruned; readonly next: PruneCursor | undefined }>
  countPrunable(retention: Retention): Promise<Pruned>
}

/**
 * `POST /v1/prune`: deletes a bounded number of rows and answers with the cursor of the next call, null at the end. With `dryRun` it counts
 * all that the calls together would delete.
 */
export function addPruneRoute(app: FastifyInstance, ports: PrunePorts): void {
  app.post("/v1/prune", async (request, reply) => {
    const body = bodyOf(pruneRequest, request.body, reply)
    if (body === undefined) return reply
    const { dryRun, cursor, ...retention } = body
    if (dryRun) return { pruned: await ports.countPrunable(retention), next: null } satisfies PruneAnswer
    const at = cursor === null ? undefined : cursorOf(cursor)
    if (at === null) return sendProblem(reply, "bad-request", "`cursor` is not one of a previous answer")
    const { pruned, next } = await ports.prune(retention, at)
    return { pruned, next: next === undefined ? null : textOf(next) } satisfies PruneAnswer
  })
}

function textOf(cursor: PruneCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url")
}

/** Null: it was not made here. */
function cursorOf(text: string): PruneCursor | null {
  try {
    const [store, revision, ordinal, end, ...rest] = JSON.parse(
      Buffer.from(text, "base64url").toString("utf8"),
    )
    const whole = [revision, ordinal, end].every((each) => Number.isSafeInteger(each) && each >= 0)
    if (typeof store === "string" && /^[0-9A-Z!]{0,64}$/.test(store) && whole && rest.length === 0)
      return [store, revision, ordinal, end]
  } catch {
    // Not JSON, or no list.
  }
  return null
}

import type { FastifyInstance } from "fastify"
import * as z from "zod"
import { type TupleMove, tupleMove } from "../plan/authz.ts"
import type { MoveRecord } from "../store/tuple-moves.ts"
import type { FinishedMoves, MovedTuples, MovesAnswer } from "./api.ts"
import { bodyOf } from "./body.ts"
import { sendProblem } from "./problem.ts"

/** The moves of tuples; runtime/store implements it. */
export interface MovePorts {
  list(): Promise<readonly MoveRecord[]>
  /** The number of stored tuples that each of these moves concerns. */
  count(store: string, moves: readonly TupleMove[]): Promise<number[]>
  finish(store: string): Promise<{ readonly finishing: number; readonly waits: readonly string[] }>
}

const finishRequest = z.strictObject({ store: z.string().max(128) })

const countRequest = z.strictObject({ store: z.string().max(128), moves: z.array(tupleMove).max(256) })

/** `GET /v1/moves`; `POST /v1/moves/count`: how many tuples moves concern that may begin; and `POST /v1/moves/finish`: the old tuples of a store may be deleted. */
export function addMoveRoutes(app: FastifyInstance, ports: MovePorts): void {
  app.get("/v1/moves", async () => ({ moves: [...(await ports.list())] }) satisfies MovesAnswer)
  app.post("/v1/moves/count", async (request, reply) => {
    const body = bodyOf(countRequest, request.body, reply)
    if (body === undefined) return reply
    return { tuples: await ports.count(body.store, body.moves) } satisfies MovedTuples
  })
  app.post("/v1/moves/finish", async (request, reply) => {
    const body = bodyOf(finishRequest, request.body, reply)
    if (body === undefined) return reply
    const { finishing, waits } = await ports.finish(body.store)
    if (finishing > 0) return { finishing } satisfies FinishedMoves
    return sendProblem(
      reply,
      "conflict",
      waits.length === 0
        ? `store ${body.store} has no move of tuples`
        : `no move of store ${body.store} can be finished: ${waits.join(", ")}; the running model must have only the new word first`,
    )
  })
}

import type { FastifyInstance } from "fastify"
import { bodyOf } from "./body.ts"
import { usageQuery } from "./usage-api.ts"
import type { UsageDesk } from "./usage-desk.ts"

/** `GET /v1/usage`: the sums of calls by what is asked. */
export function addUsageRoutes(app: FastifyInstance, desk: UsageDesk): void {
  app.get("/v1/usage", async (request, reply) => {
    const question = bodyOf(usageQuery, request.query, reply)
    return question === undefined ? reply : desk.ask(question)
  })
}

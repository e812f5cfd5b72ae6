import type { FastifyInstance, FastifyReply } from "fastify"
import { bodyOf } from "./body.ts"
import { sendProblem } from "./problem.ts"
import { activateRequest, createSubscriptionRequest, listQuery, rotateRequest } from "./subscription-api.ts"
import type { SubscriptionDesk, SubscriptionRefusal } from "./subscription-desk.ts"
import { subscriptionActions } from "./subscription-states.ts"

interface ByName {
  Params: { name: string }
}

/**
 * `GET|POST /v1/subscriptions`, `GET|DELETE /v1/subscriptions/{name}`, `POST /v1/subscriptions/{name}/{approve|reject|suspend|activate|cancel|rotate}`.
 * Keys are in the answers of create and rotate, and nowhere else.
 */
export function addSubscriptionRoutes(app: FastifyInstance, desk: SubscriptionDesk): void {
  app.get("/v1/subscriptions", async (request, reply) => {
    const query = bodyOf(listQuery, request.query, reply)
    return query === undefined ? reply : desk.list(query)
  })
  app.post("/v1/subscriptions", async (request, reply) => {
    const body = bodyOf(createSubscriptionRequest, request.body, reply)
    if (body === undefined) return reply
    return answer(reply.header("cache-control", "no-store"), await desk.create(body), 201)
  })
  app.get<ByName>("/v1/subscriptions/:name", async (request, reply) =>
    answer(reply, await desk.show(request.params.name)),
  )
  app.delete<ByName>("/v1/subscriptions/:name", async (request, reply) => {
    const refused = await desk.remove(request.params.name)
    return refused === undefined ? reply.code(204).send() : answer(reply, refused)
  })
  app.post<ByName>("/v1/subscriptions/:name/rotate", async (request, reply) => {
    const body = bodyOf(rotateRequest, request.body, reply)
    if (body === undefined) return reply
    return answer(reply.header("cache-control", "no-store"), await desk.rotate(request.params.name, body.key))
  })
  for (const action of subscriptionActions) {
    app.post<ByName>(`/v1/subscriptions/:name/${action}`, async (request, reply) => {
      const body = action === "activate" ? bodyOf(activateRequest, request.body ?? {}, reply) : {}
      if (body === undefined) return reply
      return answer(reply, await desk.act(request.params.name, action, body.expiresAt))
    })
  }
}

const problemOf = { absent: "not-found", conflict: "conflict", invalid: "refused" } as const

function answer(reply: FastifyReply, outcome: object | SubscriptionRefusal, status = 200): unknown {
  if ("refused" in outcome) return sendProblem(reply, problemOf[outcome.refused], outcome.message)
  reply.code(status)
  return outcome
}

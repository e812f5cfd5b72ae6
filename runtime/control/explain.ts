import type { FastifyInstance } from "fastify"
import { bodyOf } from "./body.ts"
import { explainRequestQuestion } from "./explain-api.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

/** `POST /v1/explain-request`: what the running plan would do with a request. `GET /v1/refusals/{id}`: why a request was refused. */
export function addExplainRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.post("/v1/explain-request", async (request, reply) => {
    const question = bodyOf(explainRequestQuestion, request.body, reply)
    if (question === undefined) return reply
    const { body, ...rest } = question
    const explained = await ports.explain({
      ...rest,
      body: body === undefined ? undefined : Buffer.from(body, "base64"),
    })
    return (
      explained ??
      sendProblem(reply, "no-gateway", "this process serves no requests: it has another role, or no plan yet")
    )
  })
  app.get<{ Params: { id: string } }>("/v1/refusals/:id", async ({ params }, reply) => {
    const found = await ports.refusal(params.id)
    return (
      found ??
      sendProblem(
        reply,
        "not-found",
        "this process does not remember such a refusal: it knows its own last 1,000; the access log has them all",
      )
    )
  })
}

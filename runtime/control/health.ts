import type { FastifyInstance } from "fastify"
import type { ControlPorts, HealthPorts } from "./ports.ts"

/**
 * `GET /healthz`: the process lives. `GET /readyz`: it may get traffic, else 503 with the reasons. `GET /metrics`: Prometheus text.
 * All three without token: orchestrators and scrapers ask them, and they tell no secret. Every process has them, whatever its roles.
 */
export function addHealthRoutes(app: FastifyInstance, ports: HealthPorts): void {
  app.get("/healthz", async () => ({ status: "ok" }))
  app.get("/readyz", async (_, reply) => {
    const reasons = await ports.notReady()
    return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons })
  })
  app.get("/metrics", async (_, reply) =>
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(ports.metrics()),
  )
}

/** `GET /v1/status`: the fleet. */
export function addStatusRoute(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/status", async () => ports.status())
}

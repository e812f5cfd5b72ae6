import type { AuthzApi } from "../api.ts"
import type { GrpcRequest } from "./grpc-request.ts"
import { notFound } from "./status.ts"

/** The whole server, or its service. */
const known: ReadonlySet<unknown> = new Set([undefined, "openfga.v1.OpenFGAService"])

/** `grpc.health.v1.Health/Check`, as `GET /healthz`. NOT_SERVING while the listener closes, so that probes take other processes. */
export async function checkHealth(api: AuthzApi, request: GrpcRequest): Promise<object> {
  const { service } = request.body
  if (!known.has(service))
    throw notFound(`service '${String(service)}' is not registered with the Health server`)
  const isServing = !request.listener.closing && (await api.healthy())
  return { status: isServing ? "SERVING" : "NOT_SERVING" }
}

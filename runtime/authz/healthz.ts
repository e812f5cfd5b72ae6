import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"

/** `GET /healthz` → `{"status":"SERVING"}`, or 503 `NOT_SERVING` while nothing could be answered. */
export async function getHealth(api: AuthzApi): Promise<ApiResponse> {
  return (await api.healthy())
    ? { status: 200, body: { status: "SERVING" } }
    : { status: 503, body: { status: "NOT_SERVING" } }
}

import type { FastifyInstance, FastifyRequest } from "fastify"
import type { AuditContent } from "../store/audit-log.ts"
import type { Person } from "./api.ts"
import type { PortalPorts } from "./ports.ts"

/** Names in the audit log of what people do, by route. */
const actions: Readonly<Record<string, string>> = {
  "/api/subscriptions": "subscription.create",
  "/api/subscriptions/:name/rotate": "subscription.rotate",
  "/api/subscriptions/:name/suspend": "subscription.suspend",
  "/api/subscriptions/:name/cancel": "subscription.cancel",
}

/** The number of the row that was written before a request. */
const begun = new WeakMap<FastifyRequest["raw"], { readonly of: number; readonly about: AuditContent }>()

/** Writes the row before a change. Rejects when it cannot be written; then nothing may be changed. */
export async function beginChange(
  audit: PortalPorts["audit"],
  request: FastifyRequest,
  person: Person,
  issuer: string,
): Promise<void> {
  const about: AuditContent = {
    action: actions[request.routeOptions.url ?? ""] ?? "other",
    ...{ method: request.method, path: (request.url.split("?")[0] ?? "").slice(0, 1024), client: request.ip },
    who: { kind: "developer", name: person.owner, issuer },
    via: "portal",
  }
  const of = await audit.append({ ...about, event: "requested", details: detailsOf(request.body) })
  begun.set(request.raw, { of, about })
}

/** Writes a row after each change, with its status. */
export function addAuditHooks(app: FastifyInstance, audit: PortalPorts["audit"]): void {
  app.addHook("onResponse", async (request, { statusCode: status }) => {
    const row = begun.get(request.raw)
    if (row === undefined) return
    // The request is over, so its outcome can only be missing.
    await audit
      .append({ ...row.about, event: "ended", of: row.of, status })
      .catch((error) => audit.onLost(error))
  })
}

/** Bodies were read by their schema, so they are small and have no secrets. */
function detailsOf(body: unknown): AuditContent | undefined {
  return typeof body === "object" && body !== null ? (body as AuditContent) : undefined
}

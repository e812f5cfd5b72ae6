import type { FastifyRequest } from "fastify"
import type { PortalScene } from "./scene.ts"

/** Scheme and host as the browser sees them: those of the plan if the request has its host, because a proxy in front may have the TLS. */
export function originOf({ external }: Pick<PortalScene, "external">, request: FastifyRequest): string {
  const host = request.headers.host ?? ""
  if (external !== undefined && new URL(external).host === host) return external
  return `${"encrypted" in request.raw.socket ? "https" : "http"}://${host}`
}

/** Whether a page of this portal sent the request. Browsers name the origin in every request that could change something. */
export function isOwnPage(scene: Pick<PortalScene, "external">, request: FastifyRequest): boolean {
  const { origin } = request.headers
  const site = request.headers["sec-fetch-site"]
  return origin === originOf(scene, request) && (site === undefined || site === "same-origin")
}

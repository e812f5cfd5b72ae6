import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import type { PageAnswer, PortalAnswer, ProductsAnswer } from "./api.ts"
import { Changelog } from "./changelog.ts"
import { personOf } from "./people.ts"
import type { PortalPorts } from "./ports.ts"
import { sendPortalProblem } from "./problem.ts"
import type { PortalScene } from "./scene.ts"

interface Version {
  Params: { api: string; version: string; id: string }
}

/** What everybody may read. */
export function addCatalogueRoutes(app: FastifyInstance, ports: PortalPorts): void {
  const shown = (reply: FastifyReply, found: object | undefined) =>
    found === undefined
      ? sendPortalProblem(reply, "not-found", "this portal does not publish it")
      : reply.header("cache-control", "no-cache").send(found)
  const scene = () => ports.scene() as PortalScene
  app.get("/api/portal", (request, reply) => aboutPortal(scene(), request, reply))
  app.get("/api/apis", (_, reply) => shown(reply, scene().published.list()))
  app.get<Version>("/api/apis/:api/:version", ({ params }, reply) =>
    shown(reply, scene().published.api(params.api, params.version)),
  )
  app.get<Version>("/api/apis/:api/:version/openapi.json", ({ params }, reply) =>
    shown(reply, scene().published.document(params.api, params.version)),
  )
  app.get<Version>("/api/apis/:api/:version/operations/:id", ({ params }, reply) =>
    shown(reply, scene().published.operation(params.api, params.version, params.id)),
  )
  app.get("/api/products", (_, reply) => {
    const answer: ProductsAnswer = { products: scene().published.products }
    return shown(reply, answer)
  })
  const changelog = new Changelog(ports.history)
  app.get<{ Querystring: { api?: unknown } }>("/api/changelog", async ({ query }, reply) =>
    shown(reply, await changelog.read(scene().published, query.api)),
  )
  app.get<{ Params: { slug: string } }>("/api/pages/:slug", ({ params }, reply) => {
    const page: PageAnswer | undefined = scene().portal.pages?.find(({ slug }) => slug === params.slug)
    return shown(reply, page)
  })
  app.get("/api/assets/logo.svg", (_, reply) => sendFile(reply, scene().portal.logo, "image/svg+xml"))
  app.get("/api/assets/style.css", (_, reply) =>
    sendFile(reply, scene().portal.style, "text/css; charset=utf-8"),
  )
}

/** Scripts in an SVG do not run as an image; the policy holds if somebody opens it as a page. */
function sendFile(reply: FastifyReply, text: string | undefined, type: string): FastifyReply {
  if (text === undefined) return sendPortalProblem(reply, "not-found", "the portal has no such file")
  return reply
    .type(type)
    .header("cache-control", "no-cache")
    .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .send(text)
}

async function aboutPortal(
  scene: PortalScene,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { portal, published, gateway, signIn } = scene
  const found = await personOf(scene, request, reply)
  const answer: PortalAnswer = {
    title: portal.title,
    logo: portal.logo === undefined ? null : "/api/assets/logo.svg",
    style: portal.style === undefined ? null : "/api/assets/style.css",
    texts: portal.texts ?? {},
    pages: (portal.pages ?? []).map(({ slug, title }) => ({ slug, title })),
    signIn: signIn === undefined ? null : { login: signIn.paths.login, logout: signIn.paths.logout },
    person: typeof found === "object" && "owner" in found ? found : null,
    gateway,
    tryIt: portal.tryIt === true && gateway !== null,
    canSubscribe: signIn !== undefined && published.products.length > 0,
  }
  return reply.header("cache-control", "no-store").send(answer)
}

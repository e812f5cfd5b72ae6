import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { isOwnOrigin } from "../admission.ts"
import { consoleSessionRequest } from "../api.ts"
import type { Attempts } from "../attempts.ts"
import { bodyOf } from "../body.ts"
import type { OperatorAccess } from "../operators.ts"
import { sendProblem } from "../problem.ts"
import type { ConsoleLinks } from "./links.ts"
import { type PageFile, readPageFiles } from "./page-files.ts"
import type { ConsoleSessions } from "./sessions.ts"

/** What the console signs operators in with. */
export interface ConsoleParts {
  readonly access: OperatorAccess
  readonly attempts: Attempts
  readonly sessions: ConsoleSessions
  readonly links: ConsoleLinks
}

/** Nothing but the console's own files may run or be loaded; `sallyport` is the policy of its worker. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types sallyport",
].join("; ")

const safeFields = {
  "content-security-policy": contentPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
}

/**
 * The console and the playground: their files below `/console/` and `/playground/`, which anybody may load, and the sessions with which the console's pages call
 * the control API. `POST /v1/console-links` makes a link that signs a browser in once with the credential of the caller.
 */
export function addConsoleRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  addPageFiles(app, "console")
  addPageFiles(app, "playground")
  app.post("/console/session", (request, reply) => signIn(parts, request, reply))
  app.delete("/console/session", (request, reply) =>
    reply.header("set-cookie", parts.sessions.end(request.headers.cookie)).code(204).send(),
  )
  app.post("/v1/console-links", (request, reply) => {
    const { authorization } = request.headers
    // Sessions that could make links would have no end.
    if (authorization === undefined)
      return sendProblem(reply, "forbidden", "a link is made with a token, not with a session of the console")
    const { code, seconds } = parts.links.make(authorization)
    return reply.code(201).send({ path: `/console/#code=${code}`, seconds })
  })
}

/** The files of one folder of pages below its name. They are read at the first request. */
function addPageFiles(app: FastifyInstance, folder: "console" | "playground"): void {
  let files: ReadonlyMap<string, PageFile> | undefined
  app.get(`/${folder}`, (_, reply) => reply.code(308).header("location", `/${folder}/`).send())
  app.get<{ Params: { "*": string } }>(`/${folder}/*`, (request, reply) => {
    files ??= readPageFiles(folder)
    return sendFile(files, request.params["*"], request, reply)
  })
}

/** Names with a hash never change, so browsers keep them. Every other path is an address of a page, which the page itself reads. */
function sendFile(
  files: ReadonlyMap<string, PageFile>,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const isAsset = /\.(?:js|css|svg|json)$/.test(name) && !name.includes("/")
  const file = files.get(isAsset ? name : "index.html")
  if (file === undefined)
    return sendProblem(
      reply,
      "not-found",
      isAsset ? `there is no file \`${name}\`` : "this installation was built without these pages",
    )
  const accepted = String(request.headers["accept-encoding"] ?? "")
  const [coding, content] = [...file.coded].find(([each]) => accepted.includes(each)) ?? []
  reply
    .headers(safeFields)
    .type(file.type)
    .header("vary", "accept-encoding")
    .header("cache-control", isAsset ? "public, max-age=31536000, immutable" : "no-store")
  if (coding !== undefined) reply.header("content-encoding", coding)
  return reply.send(content ?? file.content)
}

/** Begins a session by a token, or by the code of a link. Wrong ones count as guesses. */
async function signIn(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { access, attempts, sessions, links } = parts
  const given = bodyOf(consoleSessionRequest, request.body, reply)
  if (given === undefined) return reply
  // Otherwise a page of another site could sign the browser in with a credential of its own.
  if (!isOwnOrigin(request))
    return sendProblem(reply, "cross-origin", "only the console's own page may begin a session")
  const wait = attempts.waitSeconds(request.ip)
  if (wait > 0)
    return sendProblem(
      reply.header("retry-after", String(wait)),
      "too-many-attempts",
      `too many failed attempts; try again in ${wait} s`,
    )
  const authorization = "token" in given ? `Bearer ${given.token}` : links.take(given.code)
  if (authorization === undefined) {
    attempts.failed(request.ip)
    return sendProblem(
      reply,
      "unauthenticated",
      "the link was used or is older than ten minutes; print a new one with `sallyport console`",
    )
  }
  const found = await access.identify(authorization)
  if ("denied" in found) {
    if (found.denied === "unauthenticated") attempts.failed(request.ip)
    return sendProblem(reply, found.denied, found.detail)
  }
  const line = sessions.begin(authorization)
  if (line === undefined)
    return sendProblem(
      reply,
      "refused",
      "the token is too long for a cookie; use one with fewer claims, or a token of `POST /v1/tokens`",
    )
  attempts.succeeded(request.ip)
  return reply.header("set-cookie", line).code(204).send()
}

import type { FastifyReply, FastifyRequest } from "fastify"
import { type PageFile, readPageFiles } from "../control/console/page-files.ts"
import { sendPortalProblem } from "./problem.ts"

/** The files of the pages, as the build has written them. They are read at the first request. */
export class PortalPages {
  #files: ReadonlyMap<string, PageFile> | undefined

  /** Names with a hash never change, so browsers keep them. Every path that is no file gets the page, which reads the path itself. */
  send(path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    this.#files ??= readPageFiles("portal")
    const name = path.slice(1)
    const isAsset = /\.(?:js|css|svg|json)$/.test(name) && !name.includes("/")
    const file = this.#files.get(isAsset ? name : "index.html")
    if (file === undefined)
      return sendPortalProblem(
        reply,
        "not-found",
        isAsset ? "there is nothing here" : "this installation was built without the pages of the portal",
      )
    const accepted = String(request.headers["accept-encoding"] ?? "")
    const [coding, content] = [...file.coded].find(([each]) => accepted.includes(each)) ?? []
    reply
      .type(file.type)
      .header("vary", "accept-encoding")
      .header("cache-control", isAsset ? "public, max-age=31536000, immutable" : "no-store")
    if (coding !== undefined) reply.header("content-encoding", coding)
    return reply.send(content ?? file.content)
  }
}

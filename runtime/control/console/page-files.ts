import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, extname, join } from "node:path"
import type { FastifyReply, FastifyRequest } from "fastify"

/** A file of the pages. `coded`: the same, compressed by the build, by content coding. */
interface PageFile {
  readonly content: Buffer
  readonly type: string
  readonly coded: ReadonlyMap<string, Buffer>
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}
/** Content codings by the ending that the build gives their files, the smallest first. */
const codings = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const

/** The pages that the build has written to a folder in dist: `index.html` and what it loads. They are read at the first request. */
export class PageFiles {
  readonly #folder: string
  #files: ReadonlyMap<string, PageFile> | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Sends a file, with further `fields`. Names with a hash never change, so browsers keep them; every other name is an address of a page, which the page itself
   * reads. A text: nothing was sent, because there is no such file, or because the installation has no such pages.
   */
  send(
    name: string,
    request: FastifyRequest,
    reply: FastifyReply,
    fields: Readonly<Record<string, string>> = {},
  ): FastifyReply | "no-file" | "no-pages" {
    this.#files ??= readPageFiles(this.#folder)
    const isAsset = /\.(?:js|css|svg|json)$/.test(name) && !name.includes("/")
    const file = this.#files.get(isAsset ? name : "index.html")
    if (file === undefined) return isAsset ? "no-file" : "no-pages"
    const accepted = String(request.headers["accept-encoding"] ?? "")
    const [coding, content] = [...file.coded].find(([each]) => accepted.includes(each)) ?? []
    reply
      .headers(fields)
      .type(file.type)
      .header("vary", "accept-encoding")
      .header("cache-control", isAsset ? "public, max-age=31536000, immutable" : "no-store")
    if (coding !== undefined) reply.header("content-encoding", coding)
    return reply.send(content ?? file.content)
  }
}

/** The files that the build has written to a folder in dist; empty in an installation without them: some MB. */
function readPageFiles(name: string): ReadonlyMap<string, PageFile> {
  const folder = join(dirname(createRequire(import.meta.url).resolve("#package")), "dist", name)
  const files = new Map<string, PageFile>()
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return files
  }
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const coded = codings.flatMap(([coding, ending]) =>
      names.includes(name + ending) ? [[coding, readFileSync(join(folder, name + ending))] as const] : [],
    )
    files.set(name, { content: readFileSync(join(folder, name)), type, coded: new Map(coded) })
  }
  return files
}

import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, extname, join } from "node:path"

/** A file of the pages. `coded`: the same, compressed by the build, by content coding. */
export interface PageFile {
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

/** The files that the build has written to a folder in dist; empty in an installation without them. Read them once: some MB. */
export function readPageFiles(name: string): ReadonlyMap<string, PageFile> {
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

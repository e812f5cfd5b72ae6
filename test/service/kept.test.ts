import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { analyse, compileWithParts } from "../../compiler/compile.ts"
import type { Diagnostic } from "../../compiler/core/diagnostic.ts"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import { type Files, MemoryFiles } from "../../compiler/core/files.ts"
import type { Span } from "../../compiler/core/source.ts"
import { KeptParts } from "../../compiler/gateway/kept.ts"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { describedRoutes } from "./described-routes.ts"
import { manyRoutes } from "./many-routes.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folders = [
  "",
  ...["saas", "b2b", "sessions", "docs-app", "webhooks", "keys"].map((name) => `models/examples/${name}`),
]
const edits = scaled(100, 3)
const pieces = [
  ...["x", "{", "}", '"', "\n", "respond", "${jwt.sub}", " ", "auth none\n", "use guard\n", "backend b\n"],
  ...["v1", "edge", "", "", "é", "without limit\n", "#"],
]

/** Everything of a finding, so that also its places, remedies and related places are compared. */
function told({ code, severity, detail, help, span, related, fix = [] }: Diagnostic): string {
  const at = (each: Span | undefined) => each && [each.file.path, each.start, each.end]
  return JSON.stringify([
    ...[code, severity, detail, help, at(span)],
    related.map((each) => [each.message, at(each.span)]),
    fix.map((each) => [each.text, at(each.span)]),
  ])
}

/** Stored files with other texts of some. */
function overlaid(stored: Files, texts: ReadonlyMap<string, string>): Files {
  const of = (path: string) => (texts.has(path) ? new MemoryFiles(texts) : stored)
  return {
    read: (path, bytesMax) => of(path).read(path, bytesMax),
    readAnywhere: (path, bytesMax) => stored.readAnywhere(path, bytesMax),
    glob: (pattern) => stored.glob(pattern),
  }
}

interface Project {
  readonly name: string
  readonly files: Files
  readonly original: (path: string) => string
}

const projects: readonly Project[] = [
  ...Object.entries({ "many routes": manyRoutes, "described routes": describedRoutes }).map(
    ([name, texts]) => ({
      ...{ name, files: new MemoryFiles(texts) },
      original: (path: string) => texts.get(path) ?? "",
    }),
  ),
  ...folders.map((folder) => ({
    ...{ name: folder === "" ? "the project's own" : folder, files: new DiskFiles(join(root, folder)) },
    original: (path: string) => readFileSync(join(root, folder, path), "utf8"),
  })),
]

test.for(projects)(
  "what is kept over random edits gives the findings of a new compilation: $name",
  async ({ files, original }, context) => {
    const random = new Random(firstSeed)
    const texts = new Map<string, string>()
    const [kept, project] = [new KeptParts(), overlaid(files, texts)]
    const { sources } = await compileWithParts(files, "gateway.conf")
    const paths = sources.filter((path) => /\.(?:conf|fga|mod|yaml)$/.test(path))
    const asked = { edits: 0, findings: 0 }
    for (let round = 0; round < edits / projects.length; round++) {
      const path = random.chance(85) ? "gateway.conf" : random.pick(paths)
      const before = texts.get(path) ?? original(path)
      const start = random.below(before.length + 1)
      const removed = random.chance(60) ? 0 : random.below(random.chance(20) ? 120 : 6)
      const edited = before.slice(0, start) + random.pick(pieces) + before.slice(start + removed)
      texts.set(path, random.chance(15) ? original(path) : edited)
      const found = await analyse(project, "gateway.conf", kept)
      const fresh = await compileWithParts(project, "gateway.conf")
      expect(found.diagnostics.map(told)).toEqual(fresh.diagnostics.map(told))
      asked.edits += 1
      asked.findings += found.diagnostics.length
    }
    tellAsked(context, asked)
  },
)

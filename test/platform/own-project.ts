import { readFileSync } from "node:fs"
import { join } from "node:path"
import { compileWithParts } from "../../compiler/compile.ts"
import { DiskFiles } from "../../compiler/core/disk-files.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { projectRoot } from "../structure/tree.ts"
import type { AskedProject } from "./project-answers.ts"

/** The project at the top of the repository, with all its files: it uses most of the language. */
export async function ownProject(): Promise<AskedProject> {
  const { sources } = await compileWithParts(new DiskFiles(projectRoot), "gateway.conf")
  const text = (path: string) => readFileSync(join(projectRoot, path), "utf8")
  return {
    texts: sources.map((path) => [path, text(path)] as const),
    store: "acme",
    tuples: JSON.parse(text("models/acme.tuples.json")) as readonly TupleKey[],
    checks: [
      { user: "user:ann", relation: "editor", object: "order:1" },
      { user: "user:carol", relation: "viewer", object: "order:1" },
      { user: "user:carol", relation: "viewer", object: "order:2" },
    ],
  }
}

import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Tree } from "./rules.ts"

/** Top of the project, with a `/` at the end. */
export const projectRoot = fileURLToPath(new URL("../../", import.meta.url))

/** All source files of the project: TypeScript and the few plain JavaScript files, without test data. */
export function projectTree(): Tree {
  const tree = new Map<string, string>()
  for (const folder of ["compiler", "runtime", "test"])
    for (const entry of readdirSync(projectRoot + folder, { recursive: true, encoding: "utf8" })) {
      const path = `${folder}/${entry.replaceAll("\\", "/")}`
      if (/\.(ts|mts|cts|tsx|js|mjs|cjs)$/.test(path) && !path.startsWith("test/cases/"))
        tree.set(path, readFileSync(projectRoot + path, "utf8"))
    }
  return tree
}

/** Breaches as lines a person reads. */
export function show(breaches: readonly { place: string; rule: string; text: string }[]): string {
  return breaches.map(({ place, rule, text }) => `${place}  ${rule}: ${text}`).join("\n")
}

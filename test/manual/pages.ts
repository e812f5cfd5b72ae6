import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../structure/tree.ts"

/** A page of the manual as it lies in the repository. */
export interface SourcePage {
  /** From the top of the project, e.g. `compiler/docs/reference/limit.md`. */
  readonly path: string
  readonly text: string
}

/** A fenced block of a page. */
export interface Fence {
  readonly page: string
  readonly line: number
  /** The first word behind the backticks. */
  readonly language: string
  /** The words after it. */
  readonly info: readonly string[]
  readonly text: string
}

/** All pages of the manual, by path. */
export function sourcePages(): SourcePage[] {
  return ["compiler/docs", "runtime/docs"].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".md"))
      .sort()
      .map((path) => ({
        path: `${folder}/${path}`,
        text: readFileSync(join(projectRoot, folder, path), "utf8"),
      })),
  )
}

/** The fenced blocks of all pages and of README, or of those in one language. */
export function fences(language?: string): Fence[] {
  const front: SourcePage = { path: "README.md", text: readFileSync(join(projectRoot, "README.md"), "utf8") }
  return [front, ...sourcePages()].flatMap(({ path, text }) =>
    [...text.matchAll(/^```([a-z]+)([^\n]*)\n(.*?)^```$/gms)]
      .map((found) => ({
        page: path,
        line: text.slice(0, found.index).split("\n").length,
        language: found[1] ?? "",
        info: (found[2] ?? "").trim().split(/\s+/).filter(Boolean),
        text: found[3] ?? "",
      }))
      .filter((fence) => language === undefined || fence.language === language),
  )
}

/** How a place is named in a test. */
export function placeOf({ page, line }: Fence): string {
  return `${page}:${line}`
}

import { readFileSync } from "node:fs"
import { projectRoot } from "../structure/tree.ts"

/** A line after `$` in a README, and what is printed below it. */
export interface Step {
  readonly line: string
  readonly output: string
}

/** The project's README. */
export const readme = readFileSync(`${projectRoot}README.md`, "utf8")

/** The steps of the ```console blocks of a page, in order. */
export function tour(page = readme): Step[] {
  return [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block]) =>
    (block ?? "")
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const end = step.indexOf("\n")
        return { line: step.slice(0, end), output: step.slice(end + 1) }
      }),
  )
}

/** What an output must match: `…` stands for anything. Blanks in a row are one, because columns are as wide as what is in them. */
export function patternOf(output: string): RegExp {
  const parts = squeeze(output)
    .trim()
    .split("…")
    .map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return new RegExp(`^${parts.join("\\s*.*?\\s*")}$`, "s")
}

/** The form outputs are compared in. */
export function squeeze(output: string): string {
  return output.replaceAll("\r", "").replace(/ +/g, " ").replace(/ $/gm, "")
}

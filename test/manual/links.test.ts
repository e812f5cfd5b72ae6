import { existsSync } from "node:fs"
import { posix } from "node:path"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { fences, placeOf, sourcePages } from "./pages.ts"
import { slugOf } from "./regions.ts"

const pages = new Map(sourcePages().map((page) => [page.path, page]))

/** Headings outside of fences, as addresses; a repeated one gets a number, as on GitHub. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const headings = text.replace(/^```.*?^```$/gms, "").matchAll(/^#{1,6} (.+)$/gm)
  return new Set(
    [...headings].map(([, heading = ""]) => {
      const slug = slugOf(heading)
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return times === 0 ? slug : `${slug}-${times}`
    }),
  )
}

test.each([...pages.values()])("$path: every link leads to a page and a heading", ({ path, text }) => {
  const prose = text.replace(/^```.*?^```$/gms, "")
  const wrong = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return []
    const [file = "", anchor] = link.split("#")
    const target = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file))
    const page = pages.get(target)
    if (page === undefined) return existsSync(projectRoot + target) ? [] : [link]
    return anchor === undefined || anchorsOf(page.text).has(anchor) ? [] : [link]
  })
  expect(wrong).toEqual([])
})

test.each([...pages.values()])(
  "$path: begins with a title and what the reader can do after it",
  ({ text }) => {
    expect(text).toMatch(/^# \S.*\n\nAfter this page (?:you|your) /)
  },
)

/** Languages of fences, and what keeps their examples true. */
const languages: Readonly<Record<string, string>> = {
  ...{ gateway: "compiled", fga: "compiled", json: "parsed", yaml: "run where it is a test of a model" },
  ...{ sh: "held to the commands", console: "run", text: "generated, or output", nginx: "tested by nginx" },
  haproxy: "tested by HAProxy",
  ...{ js: "run", python: "run", go: "run" },
}

test("every fence has a language that a test looks after", () => {
  const all = fences()
  expect(all.filter(({ language }) => languages[language] === undefined).map(placeOf)).toEqual([])
  const run = all.filter(({ language }) => ["js", "python", "go"].includes(language))
  expect(run.filter(({ info }) => !info.some((word) => word.startsWith("save="))).map(placeOf)).toEqual([])
  // A fence without a language is no fence for `fences`.
  for (const { path, text } of pages.values())
    expect((text.match(/^```/gm) ?? []).length, path).toBe(2 * all.filter(({ page }) => page === path).length)
})

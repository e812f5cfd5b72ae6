import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

/** Phrases that have to be read twice, each with what to write instead. They stood here once, and may not come back. */
const phrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bwhen not said\b/i, "(default: …)"],
  [/(?<!there |There )\bis none\b/i, "say what is missing or invalid"],
  [/\b(?:is|are|was|were) told\b/i, "say who gets which message"],
  [/\bnobody to\b/i, "say what does not exist"],
  [/\bwhoever\b/i, "name the caller, client or user"],
  [/\bas (?:it|they) stands?\b/i, "unchanged"],
  [/\b(?:to be|cannot be|can't be) had\b/i, "available, unavailable"],
  [/\b(?:old|previous|last) (?:one|ones|plan|keys) serves? on\b/i, "stays in use"],
  [/\bwho lacks\b/i, "requests without …"],
  [/\bwho (?:compiles|gets past|wants|comes with)\b/i, "name the caller, client or user"],
  [/\b(?:is|are) shown a\b/i, "gets, receives"],
  [/\b(?:database|Redis|engine|issuer) is away\b/i, "is unavailable"],
  [/\b(?:go|goes|went) on (?:after|where|with|without|at)\b/i, "continue"],
  [/\bbegins? anew\b/i, "restart"],
  [/\bdone its part\b/i, "carried out the request"],
  [/\b(?:what|where it|they) stands? (?:in|at|there)\b/i, "is, is written"],
  [/\bfor all who\b/i, "for all requests, for all callers"],
  [/\banswer is the answer\b/i, "the response is passed on"],
  [/\bis (?:made|what was made) of itself\b/i, "refers to itself"],
]

/** Every source file and page of the product, with its path. */
const files = ["compiler", "runtime", "README.md", ".github", "models"].flatMap((top) =>
  top.endsWith(".md")
    ? [top]
    : readdirSync(join(projectRoot, top), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.(?:ts|md)$/.test(path))
        .map((path) => `${top}/${path}`),
)

test("texts and comments have no phrase that is understood at the second reading only", () => {
  expect(files.length).toBeGreaterThan(1_000)
  const found = files.flatMap((path) =>
    readFileSync(join(projectRoot, path), "utf8")
      .split("\n")
      .flatMap((line, at) =>
        phrases
          .filter(([phrase]) => phrase.test(line))
          .map(([phrase, instead]) => `${path}:${at + 1}: ${phrase.exec(line)?.[0]} → ${instead}`),
      ),
  )
  expect(found).toEqual([])
})

import { writeFileSync } from "node:fs"
import { expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { sourcePages } from "./pages.ts"
import { renewed } from "./regions.ts"

const pages = sourcePages()

// `npm run docs` is this test with UPDATE=1, as for the cases: the diff is the review.
test.each(pages)("$path: its generated regions are current (else run `npm run docs`)", (page) => {
  const wanted = renewed(page, pages)
  if (process.env["UPDATE"] === "1" && wanted !== page.text) writeFileSync(projectRoot + page.path, wanted)
  else expect(page.text, "run `npm run docs`, and look at what changed").toBe(wanted)
})

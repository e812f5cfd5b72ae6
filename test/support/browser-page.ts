import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { AxeResults, RunOptions } from "axe-core"
import type { BrowserContext, Page } from "playwright-core"
import { expect } from "vitest"
import { projectRoot } from "../structure/tree.ts"

const rules: RunOptions = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }
const axe = readFileSync(`${projectRoot}node_modules/axe-core/axe.min.js`, "utf8")

/** A page that reports what it must not do: errors, violations of its policy, and requests to other servers than those of `own`, an origin or a pattern of URLs. */
export async function watchedPage(
  context: BrowserContext,
  faults: string[],
  own: string | RegExp,
): Promise<Page> {
  const isOwn = (url: string) => (typeof own === "string" ? url.startsWith(own) : own.test(url))
  const page = await context.newPage()
  // For a busy machine: who gains and who loses by an edit took half a minute at a load of six.
  page.setDefaultTimeout(300_000)
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("console", (message) => {
    const text = message.text()
    // Chromium logs each status of 400 and more; those are what the tests ask for.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) faults.push(text)
  })
  page.on("request", (request) => {
    if (!isOwn(request.url()) && !/^(?:data|blob):/.test(request.url())) faults.push(request.url())
  })
  return page
}

/** Violations of WCAG 2.2 AA, as far as axe finds them. */
export async function violationsOf(page: Page): Promise<string[]> {
  // A colour on its way from one theme to the other has another contrast.
  await page.evaluate(
    "Promise.all(document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished))",
  )
  await page.evaluate(axe)
  const results = (await page.evaluate(`axe.run(${JSON.stringify(rules)})`)) as AxeResults
  expect(results.passes.length).toBeGreaterThan(5)
  return results.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html)}`)
}

/** Checks a page at its width and at that of a phone: no violation, and nothing wider than the screen. The width is 1280 afterwards. */
export async function usableByEverybody(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  // Plots follow the size a moment later.
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"), {
      message: "wider than a phone",
    })
    .toBe(0)
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 720 })
}

/** Writes pictures of a page, as wide as a desk's screen and as a phone, to the folder of SALLYPORT_TEST_PICTURES; without it, nothing. The width is 1280 afterwards. */
export async function keepScreenshots(page: Page, name: string): Promise<void> {
  const folder = process.env["SALLYPORT_TEST_PICTURES"]
  if (folder === undefined) return
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    // Graphs and plots follow the size in the next frames.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true })
  }
  await page.setViewportSize({ width: 1280, height: 720 })
}

import type { CDPSession, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { author, type Ports, planOfEngine, token } from "../process/project.ts"
import { keepScreenshots, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

const million = 1_000_000
const batch = 5_000
const rowsMax = 80
/** A million names are about 60 MB. */
const heapMax = 250_000_000

/** Collects how long each interaction took until the next picture (Event Timing); shorter ones than 16 ms are not reported. */
const observed = `new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) taken.push(duration)
}).observe({ type: "event", durationThreshold: 16, buffered: false })`

describeBrowser("lists of a million rows", () => {
  let opened: ConsoleBrowser
  let page: Page
  let browser: CDPSession

  beforeAll(async () => {
    opened = await openConsole()
    const begun = performance.now()
    const limits = "limits { timeout 60s; list-users in 60s; list-objects in 60s }; memory 1500MB"
    await opened.runtime.apply(planOfEngine(opened.ports, "", limits), author)
    const name = (at: number) => String(at).padStart(7, "0")
    await write(opened.ports, (at) => ({ user: `user:u${name(at)}`, relation: "viewer", object: "order:1" }))
    await write(opened.ports, (at) => ({
      user: "user:ann",
      relation: "viewer",
      object: `order:o${name(at)}`,
    }))
    console.log("two million tuples written", { ms: Math.round(performance.now() - begun) })
    page = await watchedPage(opened.context, opened.faults, opened.origin)
    browser = await opened.context.newCDPSession(page)
    await page.goto(`${opened.origin}/console/access`)
    await page.getByLabel("Token").fill(token)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Access" }).waitFor()
  })
  afterAll(() => opened?.close())

  const rows = () => page.locator(".window-table tbody tr").count()

  /** The median of the interactions that somebody has with the list, in milliseconds. */
  async function medianOf(interact: () => Promise<unknown>): Promise<number> {
    await page.evaluate(`window.taken = []; ${observed}`)
    await interact()
    const taken = (await page.evaluate("taken")) as number[]
    return taken.sort((one, other) => one - other)[Math.floor(taken.length / 2)] ?? 0
  }

  test.each([
    ["users", "access/who?relation=viewer&object=order:1", "Who has viewer on order:1", "user:u"],
    ["objects", "access/what?user=user:ann&relation=viewer&type=order", "What user:ann", "order:o"],
  ] as const)("of %s are read, scrolled and searched", async (noun, path, label, prefix) => {
    await page.goto(`${opened.origin}/console/${path}`)
    await page.getByText(`1,000 ${noun} loaded`).waitFor()
    const begun = performance.now()
    await page.getByRole("button", { name: "Load all" }).click()
    await page.getByText(`1,000,000 ${noun}`, { exact: true }).waitFor({ timeout: 0 })
    const readMs = performance.now() - begun
    expect(await rows()).toBeLessThan(rowsMax)
    const view = page.getByRole("region", { name: label }).last()
    await view.focus()
    await page.keyboard.press("End")
    await page.getByText(`${prefix}0999999`).waitFor()
    await page.keyboard.press("Home")
    await page.getByText(`${prefix}0000000`).waitFor()
    const scrolling = await medianOf(async () => {
      for (let turn = 0; turn < 40; turn++) await page.keyboard.press(turn % 4 === 3 ? "PageUp" : "PageDown")
    })
    const search = page.getByPlaceholder("Search in this list")
    const searching = await medianOf(async () => {
      await search.focus()
      for (const text of ["099999", "0500", "u77"]) {
        await search.fill("")
        await page.keyboard.type(text)
      }
    })
    await search.fill(`${prefix.at(-1)}099999`)
    await page.getByText(`10 of 1,000,000 ${noun}`).waitFor()
    expect(await rows()).toBe(10)
    await keepScreenshots(page, `million-${noun}`)
    for (let turn = 0; turn < 3; turn++) await browser.send("HeapProfiler.collectGarbage")
    const { usedSize } = await browser.send("Runtime.getHeapUsage")
    console.log(`a million ${noun}`, { readMs: Math.round(readMs), scrolling, searching, usedSize })
    expect(scrolling).toBeLessThanOrEqual(100)
    expect(searching).toBeLessThanOrEqual(100)
    expect(usedSize).toBeLessThan(heapMax)
  })

  test("had no error, and broke no policy", () => {
    expect(opened.faults).toEqual([])
  })
})

/** Writes a million tuples. */
async function write(ports: Ports, tupleOf: (at: number) => Readonly<Record<string, string>>): Promise<void> {
  for (let at = 0; at < million; at += batch) {
    const lines = Array.from({ length: batch }, (_, index) => JSON.stringify(tupleOf(at + index)))
    const response = await fetch(`http://127.0.0.1:${ports.control}/authz/stores/acme/bulk-write`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: lines.join("\n"),
    })
    expect(response.status, await response.text()).toBe(200)
  }
}

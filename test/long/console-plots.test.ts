import type { CDPSession, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { author, call, control, type Ports, planOf } from "../process/project.ts"
import { keepScreenshots, usableByEverybody, watchedPage } from "../support/browser-page.ts"
import { type ConsoleBrowser, consoleBrowserMissing, openConsole } from "../support/console-browser.ts"

const describeBrowser = describe.skipIf(consoleBrowserMissing !== undefined && !process.env["CI"])

/** Ten minutes of points, one a second. */
const tenMinutes = 600
/** What a page may have more after hours than after the first minutes, in bytes: compiled code and caches of the browser. */
const growthMax = 1_500_000

/** Gives the page's own stream events of a faster clock; the real ones of that kind are left out then. */
const fasterClock = `(() => {
  const Real = EventSource
  window.streams = []
  window.onlyFed = false
  window.EventSource = class extends Real {
    constructor(address) {
      super(address)
      streams.push(this)
    }
    addEventListener(name, listener) {
      super.addEventListener(name, (event) => {
        if (!(onlyFed && event.isTrusted && event instanceof MessageEvent)) listener(event)
      })
    }
  }
  window.feed = async (name, events) => {
    onlyFed = true
    const stream = streams.at(-1)
    for (const [at, data] of events.entries()) {
      stream.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }))
      if (at % 10 === 9) await new Promise((done) => requestAnimationFrame(done))
    }
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  }
})()`

describeBrowser("live plots", () => {
  let opened: ConsoleBrowser
  let page: Page
  let ports: Ports
  let browser: CDPSession

  beforeAll(async () => {
    opened = await openConsole()
    ports = opened.ports
    await opened.runtime.apply(planOf(ports, "hello"), author)
    page = await watchedPage(opened.context, opened.faults, opened.origin)
    await page.addInitScript(fasterClock)
    browser = await opened.context.newCDPSession(page)
    await page.goto(await opened.link())
    await page.getByRole("heading", { name: "Processes" }).waitFor()
  })
  afterAll(() => opened?.close())

  /** What the page holds after everything that it can free is freed. */
  async function held(): Promise<{
    readonly heap: number
    readonly nodes: number
    readonly listeners: number
  }> {
    for (let turn = 0; turn < 3; turn++) await browser.send("HeapProfiler.collectGarbage")
    const { usedSize } = await browser.send("Runtime.getHeapUsage")
    const { nodes, jsEventListeners } = await browser.send("Memory.getDOMCounters")
    return { heap: usedSize, nodes, listeners: jsEventListeners }
  }

  const feed = (name: string, events: readonly unknown[]) =>
    page.evaluate(`feed(${JSON.stringify(name)}, ${JSON.stringify(events)})`)

  async function growsNotBy(more: (turn: number) => Promise<unknown>): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await more(turn)
    const before = await held()
    for (let turn = 3; turn < 9; turn++) await more(turn)
    const after = await held()
    console.log("live plots hold", before, after)
    expect(after.heap - before.heap).toBeLessThan(growthMax)
    expect(after.nodes).toBeLessThanOrEqual(before.nodes + 50)
    expect(after.listeners).toBeLessThanOrEqual(before.listeners + 10)
  }

  test("of the overview hold ten minutes, however long they run", async () => {
    const begin = Date.now()
    const point = (second: number) => ({
      ...{ at: begin + second * 1000, ms: 1000, running: second % 7 },
      requests: [0, 0, 40 + (second % 30), 1, second % 5, second % 3],
      refusals: { [`forbidden: reason ${second % 4}`]: second % 5 },
      ...{ p50: 3, p95: 10 + (second % 20), p99: 40 },
      ...{ memoryBytes: 2e8 + (second % 100) * 1e5, loopMs: 1 },
    })
    await growsNotBy((turn) =>
      feed(
        "traffic",
        Array.from({ length: tenMinutes }, (_, at) => point(turn * tenMinutes + at)),
      ),
    )
    await keepScreenshots(page, "overview-hours")
  })

  test("of a canary show both plans with what is allowed, and hold a bounded number of points", async () => {
    const { body } = await control(ports, "GET", "/v1/plan")
    const { serial, stamp } = body["record"] as { readonly serial: number; readonly stamp: string }
    const plan = planOf(ports, "hi")
    const terms = {
      plan,
      base: serial,
      baseStamp: stamp,
      author,
      percent: 50,
      seconds: 3600,
      allow: ["breaking"],
    }
    const begun = await control(ports, "POST", "/v1/canary", terms)
    expect(begun.status).toBe(200)
    await page.goto(`${opened.origin}/console/plans`)
    const plots = page.getByRole("figure").getByRole("img")
    while ((await plots.count()) < 3) for (let at = 0; at < 20; at++) await call(ports, "/hello")
    await page.getByRole("img", { name: /Errors in percent: old plan .* allowed/ }).waitFor()
    const status = await control(ports, "GET", "/v1/status")
    const canary = status.body["canary"] as { readonly counts: Record<"old" | "new", { latency: number[] }> }
    const side = (turn: number, at: number, worse: number) => ({
      ...{ requests: 1_000 + turn * 6_000 + at * 10, failed: 10 * turn + worse * at, denied: 5 + worse * at },
      latency: canary.counts.old.latency.map((_, bucket) =>
        bucket > 10 && bucket < 25 + worse ? 10 + at : 0,
      ),
    })
    const counted = (turn: number, at: number) => ({
      ...status.body,
      canary: { ...canary, counts: { old: side(turn, at, 1), new: side(turn, at, 3) } },
    })
    await growsNotBy((turn) =>
      feed(
        "status",
        Array.from({ length: tenMinutes }, (_, at) => counted(turn, at)),
      ),
    )
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await keepScreenshots(page, `canary-${colorScheme}`)
    }
    await page.emulateMedia({ colorScheme: "light" })
    await page.reload()
    await page.getByRole("img", { name: /Errors in percent/ }).waitFor()
    await usableByEverybody(page)
    await page.getByRole("button", { name: "End it" }).click()
    await page.getByRole("heading", { name: "Canary" }).waitFor({ state: "detached" })
  })

  test("had no error, and broke no policy", () => {
    expect(opened.faults).toEqual([])
  })
})

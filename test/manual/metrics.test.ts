import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { startRuntime } from "../../runtime/main.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { freePorts, planOf } from "../process/project.ts"
import { copyEmbedded } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { sourcePages } from "./pages.ts"
import { markdownTable } from "./regions.ts"

const path = "runtime/docs/metrics.md"
const region = /^(<!-- generated: metrics -->\n).*?(^<!-- end of generated -->$)/ms

test("the page of metrics has every metric of a process (else run `npm run docs`)", async () => {
  const rows = new Map<string, readonly string[]>()
  const spied = ["counter", "gauge", "histogram", "observableCounter"] as const
  for (const kind of spied) {
    const own = Metrics.prototype[kind] as (...words: unknown[]) => unknown
    const spy = vi.spyOn(Metrics.prototype, kind as "gauge")
    onTestFinished(() => spy.mockRestore())
    spy.mockImplementation(function (this: Metrics, ...words: unknown[]) {
      const [name, help, labels = []] = words as [string, string, (readonly string[])?]
      const type = kind === "observableCounter" ? "counter" : kind
      rows.set(name, [`\`${name}\``, type, labels.join(", "), help])
      return own.apply(this, words) as undefined
    })
  }
  await startOnce()
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const made = markdownTable(["Metric", "Type", "Labels", "Meaning"], sorted)
  const page = sourcePages().find((each) => each.path === path)?.text ?? ""
  const wanted = page.replace(region, (_, start: string, end: string) => `${start}\n${made}\n\n${end}`)
  if (process.env["UPDATE"] === "1" && wanted !== page) writeFileSync(projectRoot + path, wanted)
  else expect(page, "run `npm run docs`, and look at what changed").toBe(wanted)
  expect(sorted.length).toBeGreaterThan(20)
})

/** A process with every role, once: what it can count it declares at its start. */
async function startOnce(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-metrics-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await copyEmbedded(folder)
  const ports = await freePorts()
  const runtime = await startRuntime({
    database: { folder },
    roles: ["gateway", "authz", "control", "portal"],
    control: { listen: { host: "127.0.0.1", port: ports.control }, token: "test-token-0123456789" },
    plan: planOf(ports),
    env: { ANN_KEY: "key-of-ann", BOB_KEY: "key-of-bob" },
    cwd: folder,
    version: "0.0.0",
    log: createLog({ stream: { write: () => undefined } }),
    accessLog: false,
    spoolFolder: join(folder, "spool"),
  })
  await runtime.close()
}

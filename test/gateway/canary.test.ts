import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { CanaryRequest } from "../../runtime/gateway/observer.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"
import { type PlanDraft, planOf, type StepDraft } from "./plan-builder.ts"

// A plan beside the one in use, in one process: what the generations share, and how a canary ends.

let upstream: Upstream
let running: Running
let folder: string
const compared: CanaryRequest[] = []

const mark = (...values: Extract<StepDraft, { kind: "set-header" }>["values"]): StepDraft => ({
  ...{ kind: "set-header", message: "response", action: "set", name: "x-plan", values },
})
const draft = (name: string): Omit<PlanDraft, "port"> => ({
  backends: { main: upstream.url },
  values: { kept: { from: { file: "value" } } },
  routes: [
    { path: "/a", outbound: [mark(name)] },
    { path: "/file", outbound: [mark({ text: [`${name} `, { value: "kept" }] })] },
  ],
})

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "canary-"))
  writeFileSync(join(folder, "value"), "one")
  upstream = await startUpstream()
  compared.length = 0
  const observer = { finished: () => undefined, compared: (request: CanaryRequest) => compared.push(request) }
  running = await startGateway(draft("old"), { folder, filesEveryMs: 10, observer })
})
afterEach(async () => {
  await running.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const plan = (name: string): Plan => planOf({ ...draft(name), port: running.port })
async function served(path = "/a"): Promise<string[]> {
  const found = []
  for (let at = 0; at < 30; at += 1) {
    const headers = { authorization: `Bearer caller-${at}` }
    const response = await fetch(`${running.url}${path}`, { headers })
    found.push(`${response.status} ${response.headers.get("x-plan")}`)
    await response.arrayBuffer()
  }
  return [...new Set(found)].sort()
}
const begin = async () =>
  (await running.gateway.prepareCanary(plan("new"), { id: "1", percent: 50 })).activate()

test("both plans serve, are counted apart, and share their connections", async () => {
  expect(running.gateway.canary()).toBeUndefined()
  await begin()
  expect(await served()).toEqual(["200 new", "200 old"])
  const { counts } = running.gateway.canary() ?? {}
  expect((counts?.new.requests ?? 0) + (counts?.old.requests ?? 0)).toBe(30)
  expect(running.gateway.state().generations).toBe(2)
  running.gateway.endCanary()
  expect(await served()).toEqual(["200 old"])
  expect(running.gateway.canary()).toBeUndefined()
  await expect.poll(() => running.gateway.state().generations).toBe(1)
  expect(compared.map(({ outcome }) => outcome)).toEqual(Array(30).fill("ok"))
})

test("its plan becomes that of all callers as it is, also when it ends as a canary meanwhile", async () => {
  await begin()
  const prepared = await running.gateway.prepare(plan("new"))
  running.gateway.endCanary()
  expect(await served()).toEqual(["200 old"])
  prepared.activate()
  expect(await served()).toEqual(["200 new"])
  // What it uses is still open: another plan takes it over.
  await running.gateway.apply(plan("third"))
  expect(await served()).toEqual(["200 third"])
  await expect.poll(() => running.gateway.state().generations).toBe(1)
})

test("a plan that is discarded leaves the canary as it is, and another plan ends it", async () => {
  await begin()
  await (await running.gateway.prepare(plan("new"))).discard()
  expect(await served()).toEqual(["200 new", "200 old"])
  const dropped = await running.gateway.prepare(plan("new"))
  running.gateway.endCanary()
  await dropped.discard()
  expect(await served()).toEqual(["200 old"])
  await begin()
  await running.gateway.apply(plan("third"))
  expect(await served()).toEqual(["200 third"])
  expect(running.gateway.canary()).toBeUndefined()
})

test("a changed file reaches both plans", async () => {
  await begin()
  expect(await served("/file")).toEqual(["200 new one", "200 old one"])
  writeFileSync(join(folder, "value"), "another")
  await expect.poll(() => served("/file")).toEqual(["200 new another", "200 old another"])
  expect(running.gateway.canary()?.id).toBe("1")
})

test("a plan that cannot be served is refused, and nothing changes", async () => {
  const broken = planOf({
    ...draft("new"),
    values: { kept: { from: { file: "missing" } } },
    port: running.port,
  })
  await expect(running.gateway.prepareCanary(broken, { id: "1", percent: 50 })).rejects.toThrow("missing")
  expect(await served()).toEqual(["200 old"])
  await running.gateway.apply(plan("third"))
  expect(await served()).toEqual(["200 third"])
})

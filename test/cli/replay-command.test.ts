import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  environment,
  model,
  projectText,
  type RecordedGateway,
  startRecorded,
  tokenOf,
} from "../record/recorded-gateway.ts"
import { folderWith, run } from "./run.ts"

let world: RecordedGateway

beforeEach(async () => {
  world = await startRecorded({ rules: 'claims "sub" "scope"' })
  const headers = { authorization: `Bearer ${tokenOf({ sub: "ann", scope: "read" })}` }
  await world.ask("/shop/orders/1", headers)
  await world.ask("/shop/orders/2", headers)
  await world.ask("/shop/open")
  await world.recorded()
})
afterEach(() => world.close())

/** A folder with the recorded project, the new one and the record. */
function folder(): string {
  const text = projectText(world.project)
  const cwd = folderWith({
    "old/gateway.conf": text,
    "old/shop.fga": model,
    "gateway.conf": text.replace("auth jwt own", 'auth jwt own { claim scope has "write" }'),
    "shop.fga": model,
  })
  cpSync(join(world.folder, "traffic"), join(cwd, "traffic"), { recursive: true })
  return cwd
}

test("replays a record against another folder, as text and as JSON", async () => {
  const there = { cwd: folder(), env: environment }
  const { code, out, err } = await run(there, "replay", "traffic", "--against", "old")
  expect([code, err]).toEqual([2, ""])
  expect(out).toContain("2 of 3 recorded requests (67 %), of 1 of 2 callers (50 %), are treated differently")
  expect(out).toContain("  closes    1 request (33 %) of 1 caller (50 %): GET /shop/orders/{id}")
  expect(out).toContain("200 from backend orders → 403 insufficient-scope")
  expect(out).toContain("GET /shop/orders/{id}: 67 % of requests, 50 % of callers")
  expect(await run(there, "replay", "traffic", "--against", "old")).toEqual({ code, out, err })
  const json = await run(there, "replay", "traffic", "--against", "old", "--json")
  expect(JSON.parse(json.out)).toMatchObject({
    recorded: { requests: 3, callers: 2 },
    concerned: {
      requests: 2,
      callers: 1,
      routes: [{ route: "GET /shop/orders/{id}", requests: 2, callers: 1 }],
    },
  })
  const same = await run(there, "replay", "traffic", "--config", "old/gateway.conf", "--against", "old")
  expect([same.code, same.err]).toEqual([0, ""])
})

test("plan and diff have it below the changes", async () => {
  const there = { cwd: folder(), env: environment }
  const diff = await run(there, "diff", "old", ".", "--traffic", "traffic")
  expect(diff.code).toBe(2)
  expect(diff.out).toMatch(
    /claim scope has "write"[\s\S]*concerned: 2 of 3 requests \(67 %\), of 1 of 2 callers \(50 %\)/,
  )
  const made = await run(
    there,
    "plan",
    "--config",
    "old/gateway.conf",
    "--against",
    "empty",
    "--out",
    "old.json",
  )
  expect(made.err).toBe("")
  const plan = await run(
    there,
    "plan",
    "--against",
    "old.json",
    "--traffic",
    "traffic",
    "--format",
    "markdown",
  )
  expect(plan.out).toContain("```text\n2 of 3 recorded requests")
})

test("says what is wrong, and what to do", async () => {
  const cwd = folder()
  const args = ["replay", "traffic", "--against", "old"]
  const said = async (env: Readonly<Record<string, string>>, ...more: string[]) => {
    const { code, err } = await run({ cwd, env }, ...(more.length > 0 ? more : args))
    expect(code).toBe(1)
    return err
  }
  expect(await said(environment, "replay", "nowhere", "--against", "old")).toMatch(
    /there is no folder nowhere/,
  )
  const { TRAFFIC_KEY: _, ...without } = environment
  expect(await said(without)).toMatch(/TRAFFIC_KEY/)
  expect(await said({ ...environment, TRAFFIC_KEY: "another secret for the record" })).toMatch(
    /encrypted with another secret[\s\S]*Set the secret/,
  )
  writeFileSync(
    join(cwd, "none.conf"),
    'gateway g { listen 127.0.0.1:1; trust none }\napi a { path "/a"; auth none; GET "/" { respond 200 } }',
  )
  expect(
    await said(environment, "replay", "traffic", "--config", "none.conf", "--against", "none.conf"),
  ).toMatch(/none of the plans has `record`/)
})

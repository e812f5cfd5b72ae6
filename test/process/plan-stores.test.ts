import { expect, it } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Engine } from "../../runtime/check/engine.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { EngineObserver } from "../../runtime/process/engine-observer.ts"
import { PlanStores } from "../../runtime/process/plan-stores.ts"
import { StoreNames } from "../../runtime/process/store-names.ts"
import type { DeclaredStore } from "../../runtime/store/declared-stores.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { MemorySource } from "../check/memory-source.ts"
import { tupleOf } from "../check/model.ts"
import { compile } from "../compile.ts"

function planWith(relations: string): Plan {
  const texts = {
    "gateway.conf":
      'gateway test { listen 127.0.0.1:8000 }\nauthz { listen 127.0.0.1:8080; store acme { model "acme.fga" } }\n',
    "acme.fga": `model\n  schema 1.1\ntype user\ntype order\n  relations\n    ${relations}\n`,
  }
  const { plan, diagnostics } = compile(new MemoryFiles(new Map(Object.entries(texts))), "gateway.conf")
  if (plan === undefined) throw new Error(diagnostics.map(({ title }) => title).join("; "))
  return plan
}

function storesOf(plan: Plan): ReadonlyMap<string, DeclaredStore> {
  const [modelDigest = ""] = Object.keys(plan.plan.models)
  return new Map([["acme", { storeId: "acme-id", modelId: "model", modelDigest }]])
}

const old = planWith("define viewer: [user]")
const next = planWith("define reader: [user]")

/** A process that serves the old plan from memory, and has not heard of the tuple that was written last. */
async function served(source: MemorySource): Promise<{ stores: PlanStores; engine: Engine }> {
  const engine = new Engine(source, { pollMs: 0 })
  const writes = { write: () => Promise.reject(new Error("nothing is written here")) }
  const observer = new EngineObserver(new Metrics(), new StoreNames())
  const stores = new PlanStores({ checks: engine, writes, observer })
  stores.load(old)
  stores.activate(storesOf(old))
  await engine.warm("acme-id")
  source.write(tupleOf("order:1 reader user:ann"))
  return { stores, engine }
}

it("the first question under another model sees the tuples that were written before", async () => {
  const source = new MemorySource()
  const { stores, engine } = await served(source)
  stores.load(next)
  await stores.catchUp(storesOf(next))
  stores.activate(storesOf(next))
  const question = { user: "user:ann", relation: "reader", object: "order:1" }
  expect(await stores.check("acme", question)).toMatchObject({ allowed: true })
  engine.close()
})

it("a plan with the same model does not wait for the database, and one without it is not held up by its failure", async () => {
  const source = new MemorySource()
  const { stores, engine } = await served(source)
  const before = source.asked.newest
  stores.load(old)
  await stores.catchUp(storesOf(old))
  expect(source.asked.newest).toBe(before)
  stores.activate(storesOf(old))
  source.failing = true
  stores.load(next)
  await stores.catchUp(storesOf(next))
  expect(source.asked.newest).toBe(before + 1)
  stores.activate(storesOf(next))
  engine.close()
})

import { expect, test } from "vitest"
import type { Plan } from "../../runtime/plan/plan.ts"
import { declaredStores } from "../../runtime/store/declared-stores.ts"
import { findModel, insertModel, listModels } from "../../runtime/store/models.ts"
import {
  currentPlan,
  declareStores,
  insertPlan,
  type PlanIdentity,
  planBySerial,
  planHistory,
  planNews,
} from "../../runtime/store/plans.ts"
import { listProcesses, removeProcess, reportProcess } from "../../runtime/store/processes.ts"
import { createStore, deleteStore, findStore } from "../../runtime/store/stores.ts"
import { describeDatabase } from "./databases.ts"

const model = (type: string) => ({ schema_version: "1.1", type_definitions: [{ type }] })

/** Only what the database reads of a plan. */
function planOf(digest: string, stores: Record<string, string>): Plan {
  const models = Object.fromEntries(
    Object.values(stores).map((type) => [`sha256:${type}`, { model: model(type) }]),
  )
  const declared = Object.fromEntries(
    Object.entries(stores).map(([name, type]) => [name, { model: `sha256:${type}` }]),
  )
  return { format: 1, digest, plan: { authz: { stores: declared }, models }, origins: {} } as unknown as Plan
}

const apply = (plan: Plan, base: number | null, stamp?: string) => ({
  plan,
  base: base === null ? null : { serial: base, stamp },
  appliedBy: "ann",
  gitCommit: "abc",
  message: "why",
})

describeDatabase("plans", (database) => {
  test("from nothing through concurrent applies to a rollback, stores keep their ids", async () => {
    expect(await currentPlan(database())).toBeUndefined()
    const first = await insertPlan(database(), apply(planOf("a", { acme: "t1", other: "t1" }), null))
    if (first.kind !== "inserted") throw new Error("stale")
    expect(first.serial).toBe(1)
    expect(await currentPlan(database())).toMatchObject({
      serial: 1,
      digest: "a",
      appliedBy: "ann",
      gitCommit: "abc",
      message: "why",
      plan: planOf("a", { acme: "t1", other: "t1" }),
    })

    const racers = await Promise.all(
      ["b", "c", "d", "e"].map((digest) => insertPlan(database(), apply(planOf(digest, { acme: "t2" }), 1))),
    )
    expect(racers.map(({ kind }) => kind).sort()).toEqual(["inserted", "stale", "stale", "stale"])
    expect(racers.find(({ kind }) => kind === "stale")).toMatchObject({ current: { serial: 2 } })
    const second = racers.find((racer) => racer.kind === "inserted")
    if (second?.kind !== "inserted") throw new Error("stale")
    expect(second.stores.get("acme")?.storeId).toBe(first.stores.get("acme")?.storeId)
    expect(second.stores.get("acme")?.modelId).not.toBe(first.stores.get("acme")?.modelId)

    // The dropped store is one of the API now, under its id only.
    const other = first.stores.get("other")?.storeId ?? ""
    expect(await findStore(database(), "other")).toBeUndefined()
    expect(await findStore(database(), other)).toMatchObject({ managed: false })

    const back = await insertPlan(database(), apply(planOf("a", { acme: "t1", other: "t1" }), 2))
    expect(back).toMatchObject({ kind: "inserted", serial: 3, stores: first.stores })
    expect(await declaredStores(database())).toEqual(first.stores)
    expect(await findStore(database(), "acme")).toMatchObject({
      managed: true,
      modelId: first.stores.get("acme")?.modelId,
    })
    expect((await planHistory(database(), 2)).map(({ serial }) => serial)).toEqual([3, 2])
    expect(await planBySerial(database(), 1)).toMatchObject({ digest: "a" })
    expect(await planBySerial(database(), 9)).toBeUndefined()
    expect(await insertPlan(database(), apply(planOf("z", {}), null))).toMatchObject({
      kind: "stale",
      current: { serial: 3 },
    })
  })

  test("what is newest is news to whoever serves another plan, and says when the history does not have that one", async () => {
    const newest = (await currentPlan(database())) as PlanIdentity
    const first = (await planBySerial(database(), 1)) as PlanIdentity
    expect(await planNews(database(), first)).toMatchObject({ plan: { serial: 3 }, lost: false })
    expect(await planNews(database(), newest)).toBeUndefined()
    // A plan of this serial, or of a later one, that the history does not have.
    expect(await planNews(database(), { ...newest, stamp: first.stamp })).toMatchObject({
      plan: { serial: 3 },
      lost: true,
    })
    expect(await planNews(database(), { serial: 2, stamp: "lost" })).toMatchObject({
      plan: { serial: 3 },
      lost: true,
    })
    expect(await planNews(database(), { serial: 4, stamp: "lost" })).toMatchObject({
      plan: { serial: 3 },
      lost: true,
    })
    expect(await insertPlan(database(), apply(planOf("z", {}), 3, "lost"))).toMatchObject({ kind: "stale" })
  })

  test("a declared store is the plan's: no model, no delete through the API", async () => {
    const stores = await declareStores(database(), planOf("f", { filed: "t3" }).plan)
    const { storeId, modelId } = stores.get("filed") ?? { storeId: "", modelId: "" }
    expect(await insertModel(database(), storeId, model("x"))).toBe("managed")
    expect(await deleteStore(database(), storeId)).toBe("managed")
    expect(await findModel(database(), storeId, modelId)).toEqual({
      id: modelId,
      digest: "sha256:t3",
      model: model("t3"),
    })
    const again = await Promise.all(
      Array.from({ length: 4 }, () => declareStores(database(), planOf("f", { filed: "t3" }).plan)),
    )
    expect(again).toEqual([stores, stores, stores, stores])
  })

  test("models of the API: always a new one, newest first", async () => {
    const { id } = await createStore(database(), "models")
    expect(await insertModel(database(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", model("x"))).toBe("absent")
    const ids: string[] = []
    for (const type of ["a", "a", "b"]) {
      const inserted = await insertModel(database(), id, model(type))
      ids.push(typeof inserted === "string" ? inserted : inserted.id)
    }
    expect(await findStore(database(), id)).toMatchObject({ modelId: ids[2] })
    const page = await listModels(database(), id, { before: "", limit: 2 })
    expect(page.map((each) => each.id)).toEqual([ids[2], ids[1]])
    expect(await listModels(database(), id, { before: ids[1] ?? "", limit: 2 })).toEqual([
      { id: ids[0], digest: null, model: model("a") },
    ])
  })

  test("processes report, are listed and say goodbye", async () => {
    await reportProcess(database(), {
      id: "p1",
      role: "gateway",
      version: "1.2.3",
      activeSerial: null,
      lastError: "",
      state: "active",
      reasons: [],
      subscriptions: null,
      refusedSerial: null,
      ...{ stateSince: null, memoryBytes: null, loopBusy: null },
    })
    await reportProcess(database(), {
      id: "p1",
      role: "gateway",
      version: "1.2.3",
      activeSerial: 4,
      lastError: "no",
      state: "degraded",
      reasons: ["the spool is full"],
      subscriptions: 7,
      refusedSerial: 5,
      ...{ stateSince: new Date(1e12), memoryBytes: 5e9, loopBusy: 0.25 },
    })
    expect(await listProcesses(database())).toMatchObject([
      {
        id: "p1",
        role: "gateway",
        version: "1.2.3",
        activeSerial: 4,
        lastError: "no",
        pid: process.pid,
        stateSince: new Date(1e12),
        memoryBytes: 5e9,
        loopBusy: 0.25,
      },
    ])
    await removeProcess(database(), "p1")
    expect(await listProcesses(database())).toEqual([])
  })
})

import { afterEach, expect, test } from "vitest"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { RefusedRequests } from "../../runtime/process/refused-requests.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { openTestDatabase } from "../store/databases.ts"
import { author, control, freePorts, keyOf, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describePostgres("a refused request", () => {
  test("is explained with its proof by a process that did not refuse it", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const gateway = await start(url, ports, {}, ["gateway", "control"])
    stops.push(() => gateway.close())
    expect((await gateway.apply(planOf(ports), author)).kind).toBe("done")
    const other = { ...ports, ...(await freePorts()), gateway: ports.gateway }
    const engine = await start(url, other, {}, ["control"])
    stops.push(() => engine.close())
    const refused = await fetch(`http://127.0.0.1:${ports.gateway}/order/7`, {
      headers: { "x-api-key": keyOf("ann") },
    })
    const { request_id: id } = (await refused.json()) as { request_id: string }
    const ask = (at: typeof ports) => control(at, "GET", `/v1/refusals/${id}`)
    expect((await ask(ports)).status).toBe(200)
    await expect.poll(async () => (await ask(other)).status).toBe(200)
    const { body } = await ask(other)
    expect(body).toMatchObject({
      refusal: { id, status: 403, problem: "forbidden", decision: { object: "order:7", allowed: false } },
    })
    expect(body["refusal"]).toEqual((await ask(ports)).body["refusal"])
    expect(await control(other, "GET", "/v1/refusals/nothing")).toMatchObject({ status: 404 })
  })

  test("is written when the process ends; of a flood the first 500 are, and this process remembers the last 1,000", async () => {
    const database = await openTestDatabase()
    stops.push(() => database.close())
    const make = () => new RefusedRequests(() => Promise.reject(new Error("no engine")), database)
    const [one, other] = [make(), make()]
    for (let at = 0; at < 1_500; at += 1) one.finished(refusal(`r${at}`))
    await one.close()
    const found = async (from: RefusedRequests, id: string) => (await from.find(id))?.refusal.id
    // Those that this process has given up meanwhile cannot be written any more.
    expect(await found(one, "r0")).toBeUndefined()
    expect(await found(one, "r1499")).toBe("r1499")
    expect(await found(other, "r1499")).toBeUndefined()
    const next = make()
    for (let at = 0; at < 600; at += 1) next.finished(refusal(`s${at}`))
    await next.flush()
    expect([await found(other, "s499"), await found(other, "s500")]).toEqual(["s499", undefined])
  })
})

const refusal = (id: string) =>
  ({ id, startedAtMs: 0, method: "GET", path: "/", status: 429, problem: "rate-limited" }) as Finished

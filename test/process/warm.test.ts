import { Client } from "pg"
import { expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, planOf, planOfEngine, start } from "./project.ts"

const tuple = { user: "user:ann", relation: "viewer", object: "order:1" }

describePostgres("`ready when warm`", () => {
  it("is ready only when the tuples are in memory, and shows how far the load is", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const first = await start(url, ports)
    await first.apply(planOfEngine(ports, "", "ready when warm"), author)
    await control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: [tuple] } })
    await expect.poll(async () => (await control(ports, "GET", "/readyz")).status).toBe(200)
    const { engine } = (await control(ports, "GET", "/v1/status")).body as {
      engine: { memoryBytes: number }
    }
    expect(engine).toMatchObject({ memoryBytesMax: 536_870_912, whole: 1, paged: 0, loading: [] })
    expect(engine.memoryBytes).toBeGreaterThan(0)
    await first.close()

    const blocker = new Client({ connectionString: url })
    await blocker.connect()
    await blocker.query("begin; lock table sallyport.tuples in access exclusive mode")
    const second = await start(url, ports)
    const reason = "store `acme` is not in memory yet"
    await expect.poll(() => second.notReady()).toEqual([reason])
    const waiting = await control(ports, "GET", "/readyz")
    expect(waiting.status).toBe(503)
    expect(JSON.stringify(waiting.body)).toContain(reason)
    expect((await control(ports, "GET", "/v1/status")).body).toMatchObject({
      engine: { whole: 0, loading: [{ store: "acme", part: null }] },
    })
    await blocker.query("rollback")
    await blocker.end()
    await expect.poll(() => second.notReady()).toEqual([])
    expect(await call(ports, "/order/1", "ann")).toBe("seen")
    await second.close()
    await drop()
  })

  it("is ready when a store does not fit in memory, and no longer waits under a plan without it", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const first = await start(url, ports)
    await first.apply(planOf(ports), author)
    await first.close()
    const blocker = new Client({ connectionString: url })
    await blocker.connect()
    await blocker.query(
      `insert into sallyport.tuples (store_id, object, relation, subject, revision)
       select id, 'order:' || repeat('x', 90) || at, 'viewer', 'user:ann', 1
       from sallyport.stores, generate_series(1, 20000) at where declared_name = 'acme'`,
    )
    const second = await start(url, ports)
    await blocker.query("begin; lock table sallyport.tuples in access exclusive mode")
    // A process that serves already stays ready.
    await second.apply(planOfEngine(ports, "", "memory 1MB; ready when warm"), author)
    expect(await second.notReady()).toEqual([])
    await second.close()
    const third = await start(url, ports)
    await expect.poll(() => third.notReady()).toHaveLength(1)
    await third.apply(planOf(ports), author)
    expect(await third.notReady()).toEqual([])
    await third.apply(planOfEngine(ports, "", "memory 1MB; ready when warm"), author)
    await third.close()
    const fourth = await start(url, ports)
    await expect.poll(() => fourth.notReady()).toHaveLength(1)
    await blocker.query("rollback")
    await blocker.end()
    await expect.poll(() => fourth.notReady()).toEqual([])
    await fourth.close()
    await drop()
  })
})

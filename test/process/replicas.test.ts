import { afterEach, expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, control, freePorts, type Ports, planOf, start } from "./project.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const slow = { timeout: 30_000, interval: 50 }

async function startServer(standbyOf?: ThrowAwayPostgres): Promise<ThrowAwayPostgres> {
  const server = await startThrowAwayPostgres(standbyOf === undefined ? { migrated: true } : { standbyOf })
  ends.push(() => server.stop())
  return server
}

const tuple = (at: number) => ({ user: "user:ann", relation: "viewer", object: `order:${at}` })

async function post(ports: Ports, path: string, body: object): Promise<unknown> {
  const url = `http://127.0.0.1:${ports.authz}/stores/acme/${path}`
  return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json()
}

interface Shown {
  readonly database: { readonly replicas: { server: string; state: string; reason: string | null }[] }
  readonly processes: { readonly state: string; readonly reasons: string[] }[]
}

describePostgres("a process with replicas", () => {
  test("reads tuples from them, shows them, and loses nothing when they die", async () => {
    const primary = await startServer()
    const url = primary.url("postgres")
    const replicas = [await startServer(primary), await startServer(primary)] as const
    const hosts = replicas.map(({ port }) => `127.0.0.1:${port}`)
    const database = { url, replicaUrl: `postgres://postgres@${hosts.join()}/postgres` }
    const ports = await freePorts()
    const first = await start(url, ports, { database })
    await first.apply(planOf(ports), author)
    const shown = async () => (await control(ports, "GET", "/v1/status")).body as unknown as Shown
    const metrics = async () => String((await control(ports, "GET", "/metrics")).body["text"])
    const check = (at: number) =>
      post(ports, "check", { tuple_key: tuple(at), consistency: "HIGHER_CONSISTENCY" })

    for (let at = 0; at < 10; at++) {
      await post(ports, "write", { writes: { tuple_keys: [tuple(at)] } })
      expect(await check(at)).toMatchObject({ allowed: true })
    }
    const states = async () => (await shown()).database.replicas.map(({ state }) => state)
    await expect.poll(states, slow).toEqual(["reading", "reading"])
    expect((await shown()).database.replicas.map(({ server }) => server)).toEqual(hosts)
    await first.close()
    const second = await start(url, ports, { database })
    ends.push(() => second.close())
    expect(await check(0)).toMatchObject({ allowed: true })
    const read = /sallyport_replica_reads_total\{server="127.0.0.1:\d+",outcome="read"\} [1-9]/
    await expect.poll(metrics, slow).toMatch(read)
    expect(await metrics()).toMatch(/sallyport_replica_up\{server="127.0.0.1:\d+"\} 1/)
    expect(await metrics()).toMatch(/sallyport_replica_revisions_behind\{server="127.0.0.1:\d+"\} 0/)

    for (const replica of replicas) await replica.stop()
    for (let at = 10; at < 15; at++) {
      await post(ports, "write", { writes: { tuple_keys: [tuple(at)] } })
      expect(await check(at)).toMatchObject({ allowed: true })
    }
    await expect.poll(states, slow).toEqual(["unavailable", "unavailable"])
    expect((await fetch(`http://127.0.0.1:${ports.control}/readyz`)).status).toBe(200)
    const reasons = async () => (await shown()).processes.flatMap((each) => each.reasons).join("\n")
    await expect
      .poll(reasons, slow)
      .toContain(`replica ${hosts[0]} is not read (the primary is read instead): `)
    expect(await metrics()).toMatch(/sallyport_replica_up\{server="127.0.0.1:\d+"\} 0/)
  })

  test("an invalid URL of replicas ends the start", async () => {
    const replicaUrl = "postgres://r1/db?target_session_attrs=primary"
    const url = "postgres://127.0.0.1:1/db"
    await expect(start(url, await freePorts(), { database: { url, replicaUrl } })).rejects.toThrow(
      "SALLYPORT_DATABASE_REPLICA_URL: the database URL has target_session_attrs=primary",
    )
  })
})

import { expect, it } from "vitest"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { GrpcClient } from "../support/grpc-client.ts"
import { author, call, freePorts, planOfEngine, start } from "./project.ts"

type Line = Readonly<Record<string, unknown>>

const requestId = "request-of-a-test"
const tupleKey = (user: string) => ({ user: `user:${user}`, relation: "viewer", object: "order:1" })

/** An engine that serves HTTP and gRPC, with these statements in its `log`. */
async function serving(log: string) {
  const [{ url, drop }, ports, grpcPort] = [
    await createMigratedDatabase(),
    await freePorts(),
    await freePort(),
  ]
  const lines: Line[] = []
  const accessLog = createLog({ stream: { write: (text) => void lines.push(JSON.parse(text)) } })
  const env = { ANN_KEY: "key-of-ann", BOB_KEY: "key-of-bob", HASH_KEY: "a-key-for-the-hashes-of-users" }
  const runtime = await start(url, ports, { accessLog, env })
  const statements = `listen 127.0.0.1:${grpcPort} { grpc }; log { ${log} }`
  await runtime.apply(planOfEngine(ports, "secret hash_key = env(HASH_KEY)", statements), author)
  const client = new GrpcClient(`127.0.0.1:${grpcPort}`)
  return {
    ports,
    client,
    http: async (end: string, body: object) => {
      const response = await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/${end}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", "x-request-id": requestId },
      })
      expect(response.status).toBe(200)
      // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
      return (await response.json()) as any
    },
    lines: (msg: string) => lines.filter((line) => line["msg"] === msg),
    slow: () =>
      runtime.lines.map((text) => JSON.parse(text) as Line).filter((line) => line["msg"] === "slow question"),
    close: async () => {
      client.close()
      await runtime.close()
      await drop()
    },
  }
}

describePostgres("the log of a running engine", () => {
  it("has requests, decisions with hashed users and slow questions, by HTTP, gRPC and from the gateway", async () => {
    const served = await serving("requests; decisions; users hashed by hash_key; slow 1h; slow-steps 1")
    const { http, client, ports } = served
    await http("write", { writes: { tuple_keys: [tupleKey("ann")] } })
    expect(await http("check", { tuple_key: tupleKey("ann") })).toMatchObject({ allowed: true })
    const checks = ["ann", "bob"].map((user) => ({ tuple_key: tupleKey(user), correlation_id: user }))
    await http("batch-check", { checks })
    await http("list-objects", { user: "user:ann", relation: "viewer", type: "order" })
    const id = String(await storeOf(ports.authz))
    const metadata = { "x-request-id": requestId }
    const ended = await client.call("Check", { store_id: id, tuple_key: tupleKey("bob") }, { metadata })
    expect(ended, ended.message).toMatchObject({ code: 0 })
    expect(await call(ports, "/order/1", "ann")).toBe("seen")

    const requests = served.lines("engine request").filter(({ method }) => method !== "ListStores")
    expect(requests.map(({ method, outcome }) => `${method} ${outcome}`)).toEqual([
      ...["Write ok", "Check allowed", "BatchCheck ok", "ListObjects ok", "Check denied", "Require allowed"],
    ])
    for (const line of requests.slice(0, 5))
      expect(line).toMatchObject({ store: "acme", request_id: requestId })
    for (const { ms } of requests) expect(ms).toBeGreaterThanOrEqual(0)

    const decisions = served.lines("engine decision")
    expect(decisions.map(({ method, decision }) => `${method} ${decision}`).sort()).toEqual([
      ...["BatchItem allowed", "BatchItem denied", "Check allowed", "Check denied", "Require allowed"],
    ])
    const [ann, ...others] = new Set(decisions.map(({ user }) => user))
    expect(ann).toMatch(/^user:[\w-]{22}$/)
    // The same user has the same hash, whichever way the question came.
    expect(others).toHaveLength(1)
    for (const line of decisions) expect(line).toMatchObject({ relation: "viewer", object: "order:1" })

    const slow = served.slow()
    expect(new Set(slow.map(({ method }) => method))).toEqual(new Set(["Check", "ListObjects", "Require"]))
    for (const line of slow) {
      expect(line["steps"]).toBeGreaterThanOrEqual(1)
      expect(line).toMatchObject({
        store: "acme",
        user_type: "user",
        relation: "viewer",
        object_type: "order",
      })
      expect(line).toHaveProperty("pages_used")
      expect(line).toHaveProperty("pages_read")
    }
    expect(JSON.stringify([requests, decisions, slow])).not.toMatch(/user:(ann|bob)"|a-key-for-the-hashes/)
    await served.close()
  })

  it("has a share of the decisions, and by default no request", async () => {
    const served = await serving("decisions 20%")
    const checks = Array.from({ length: 50 }, (_, at) => ({
      tuple_key: tupleKey(`u${at}`),
      correlation_id: `c${at}`,
    }))
    for (let round = 0; round < 10; round += 1) await served.http("batch-check", { checks })
    // 500 draws: outside of these bounds once in 10^14 runs.
    expect(served.lines("engine decision").length).toBeGreaterThan(30)
    expect(served.lines("engine decision").length).toBeLessThan(190)
    for (const line of served.lines("engine decision")) expect(line["user"]).toBe("user")
    expect(served.lines("engine request")).toEqual([])
    expect(served.slow()).toEqual([])
    await served.close()
  })
})

async function storeOf(port: number): Promise<unknown> {
  const { stores } = (await (await fetch(`http://127.0.0.1:${port}/stores?name=acme`)).json()) as {
    stores: readonly { readonly id: string }[]
  }
  return stores[0]?.id
}

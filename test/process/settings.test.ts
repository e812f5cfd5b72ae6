import { afterEach, expect, test } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, keyOf, type Ports, planOfEngine, start } from "./project.ts"

// What each process reads from its own environment when it loads the plan that all of them run.

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const keys = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob") }

/** The bound of the engine's memory, in bytes. */
async function memoryOf(ports: Ports): Promise<string | undefined> {
  const { text } = (await control(ports, "GET", "/metrics")).body as { text: string }
  return /^sallyport_engine_memory_limit_bytes (\d+)$/m.exec(text)?.[1]
}

describePostgres("a plan with settings of the environment", () => {
  test("runs with the value of each process, and is refused where that value does not fit", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const [first, second] = [await freePorts(), await freePorts()]
    const large = await start(url, first, { env: { ...keys, TUPLES: "64MB" } })
    stops.push(() => large.close())
    const plan = planOfEngine(first, "", 'memory env(TUPLES, "32MB")')
    expect(await large.apply(plan, author)).toMatchObject({ kind: "done" })
    expect(await memoryOf(first)).toBe("67108864")
    expect((await control(first, "GET", "/v1/plan")).body).toMatchObject({
      plan: { digest: plan.digest, plan: { authz: { memoryBytes: 32 * 2 ** 20 } } },
    })
    await large.close()

    const wrong = await start(url, second, { env: { ...keys, TUPLES: "64 MB" } })
    stops.push(() => wrong.close())
    expect(await wrong.apply(plan, author)).toMatchObject({
      kind: "refused",
      problems: [
        {
          message:
            "the environment variable TUPLES is `64 MB`: write a size between `1MB` and `1024GB` (authz.memoryBytes)",
          origin: "gateway.conf:3",
        },
      ],
    })
  })
})

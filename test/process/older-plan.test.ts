import { Client } from "pg"
import { expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, planOf, start } from "./project.ts"

describePostgres("a stored plan of a version that knew fewer keys", () => {
  it("is not served; what is wrong and what to do is told, and applying the text again mends it", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const before = await start(url, ports)
    await before.apply(planOf(ports), author)
    await before.close()
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(
      "update sallyport.plans set plan = (plan::jsonb #- '{plan,authz,limits}' #- '{plan,authz,cors}')::text",
    )
    await client.end()
    const after = await start(url, ports)
    const wanted =
      /another version of Sallyport.*apply gateway.conf again.*`sallyport apply`.*plan\.authz\.limits: is missing.*plan\.authz\.cors: is missing/
    await expect.poll(() => after.lines.join("")).toMatch(wanted)
    await expect
      .poll(async () => JSON.stringify((await control(ports, "GET", "/readyz")).body))
      .toMatch(wanted)
    await after.apply(planOf(ports), author)
    expect((await fetch(`http://127.0.0.1:${ports.authz}/stores`)).status).toBe(200)
    await after.close()
    await drop()
  })
})

import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Runtime } from "../../runtime/process/settings.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, type Ports, planOf, start } from "./project.ts"

const key = Buffer.from("a key of 24 bytes or more")

interface Received {
  readonly id: string
  readonly isSigned: boolean
  readonly body: { readonly id: string; readonly type: string; readonly data: unknown }
}

describePostgres("webhooks", () => {
  const received: Received[] = []
  let isBusy = true
  let runtime: Runtime
  let ports: Ports
  let drop: () => Promise<void>
  const receiver = createServer(async (request, response) => {
    const text = (await request.toArray()).join("")
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers
    const expected = createHmac("sha256", key).update(`${id}.${at}.${text}`).digest("base64")
    received.push({ id: String(id), isSigned: signature === `v1,${expected}`, body: JSON.parse(text) })
    response.writeHead(isBusy ? 503 : 204).end()
    isBusy = false
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
    const { port } = receiver.address() as AddressInfo
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    const webhooks = {
      urls: [`http://127.0.0.1:${port}/hook`],
      secret: `whsec_${key.toString("base64")}`,
    }
    runtime = await start(database.url, ports, { webhooks })
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
    receiver.close()
  })

  it("tell each applied plan once, signed, and repeat what was not accepted", async () => {
    const put = async (greeting: string, base: number | null) =>
      (await control(ports, "PUT", "/v1/plan", { plan: planOf(ports, greeting), base, author })).status
    expect(await put("one", null)).toBe(200)
    expect(await put("two", 1)).toBe(200)
    expect(await put("three", 1)).toBe(412)
    expect(await put("two", 2)).toBe(200)
    await expect.poll(() => received.length).toBe(3)
    expect(received.map(({ isSigned }) => isSigned)).toEqual([true, true, true])
    expect(received.map(({ body }) => body)).toMatchObject([
      { type: "plan.applied", data: { serial: 1, who: "test" } },
      { type: "plan.applied", data: { serial: 1, who: "test" } },
      { type: "plan.applied", data: { serial: 2, who: "test" } },
    ])
    const [first, again, second] = received.map(({ id }) => id)
    expect(first).toBe(again)
    expect(second).not.toBe(first)
    expect(received.every(({ id, body }) => id === body.id)).toBe(true)
  })
})

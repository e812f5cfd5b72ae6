import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { Supervisor } from "../../compiler/cli/supervised.ts"
import { notifySocketMissing, openNotifySocket } from "../support/notify-socket.ts"

const missing = notifySocketMissing()

async function socketHere() {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-notify-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const socket = await openNotifySocket(folder)
  onTestFinished(socket.close)
  return socket
}

describe("the messages to systemd", () => {
  test.skipIf(missing !== undefined)(
    "arrive in order, with signs of life at half of the period",
    async () => {
      const { path, messages } = await socketHere()
      const failures: string[] = []
      const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "100000", WATCHDOG_PID: "17" }
      const supervisor = new Supervisor(env, 17, (reason) => failures.push(reason))
      await supervisor.ready(async () => "serving\nREADY=0")
      await expect.poll(() => messages().filter((each) => each === "WATCHDOG=1").length).toBeGreaterThan(2)
      supervisor.stopping()
      await supervisor.close()
      await expect.poll(messages).toContain("STOPPING=1")
      const [first, second, third] = messages()
      // A line break in the reason must not become a message of its own.
      expect([first, second, third]).toEqual(["STATUS=serving READY=0", "READY=1", "WATCHDOG=1"])
      expect(messages().slice(-2)).toEqual(["STATUS=completing requests", "STOPPING=1"])
      expect(failures).toEqual([])
    },
  )

  test.skipIf(missing !== undefined)("have no signs of life for another process", async () => {
    const { path, messages } = await socketHere()
    const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "1000", WATCHDOG_PID: "18" }
    const supervisor = new Supervisor(env, 17, () => undefined)
    await supervisor.ready(async () => "serving")
    await supervisor.close()
    await expect.poll(messages).toEqual(["STATUS=serving", "READY=1"])
  })

  test.skipIf(missing !== undefined)("say once that the state is another one", async () => {
    const { path, messages } = await socketHere()
    const supervisor = new Supervisor({ NOTIFY_SOCKET: path }, 17, () => expect.unreachable())
    let asked = 0
    const states = ["not ready: no plan", "not ready: no plan", "serving"]
    await supervisor.ready(async () => states[Math.min(asked++, 2)] ?? "", 1)
    await expect.poll(() => asked).toBeGreaterThan(4)
    supervisor.stopping()
    await supervisor.close()
    await expect
      .poll(messages)
      .toEqual([
        "STATUS=not ready: no plan",
        "READY=1",
        "STATUS=serving",
        "STATUS=completing requests",
        "STOPPING=1",
      ])
  })

  test("that cannot be sent are reported once", async () => {
    const failures: string[] = []
    const supervisor = new Supervisor({ NOTIFY_SOCKET: "/nowhere/notify" }, 17, (reason) =>
      failures.push(reason),
    )
    await supervisor.ready(async () => "serving")
    supervisor.stopping()
    await supervisor.close()
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatch(/systemd-notify|notif/i)
  })

  test("without NOTIFY_SOCKET are not sent", async () => {
    const supervisor = new Supervisor({}, 17, () => expect.unreachable())
    await supervisor.ready(async () => "serving")
    supervisor.stopping()
    await supervisor.close()
  })
})

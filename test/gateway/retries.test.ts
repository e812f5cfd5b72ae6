import { afterEach, describe, expect, test } from "vitest"
import type { Backend } from "../../runtime/plan/resources.ts"
import { freePort } from "../support/free-port.ts"
import { sendRaw, startRawUpstream, startUpstream } from "./harness.ts"
import { closeAll, closers } from "./one-route.ts"
import { askFor, breaker, named, serve, start, statesOf, statusOf } from "./pool.ts"

afterEach(closeAll)

describe("retries", () => {
  const retry = (on: NonNullable<Backend["retry"]>["on"], methods: string[] = []): Partial<Backend> => ({
    retry: { times: 2, on, methods, budgetPercent: 100 },
  })
  const badFails = statusOf((name) => (name === "bad" ? 503 : 200))

  test("a status: another target is asked, a small body is sent again", async () => {
    const { ask, running } = await start(["bad", "good"], retry([503]), badFails)
    for (let at = 0; at < 4; at += 1) expect((await ask("PUT", "abc")).body).toBe("goodabc")
    expect(running.log.filter(({ retried }) => retried).length).toBeGreaterThan(0)
  })

  test("POST only when it is said", async () => {
    const careful = await start(["bad", "good"], retry([503]), badFails)
    const statuses = [await careful.ask("POST", "x"), await careful.ask("POST", "x")].map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([200, 503])
    const bold = await start(["bad", "good"], retry([503], ["POST"]), badFails)
    for (let at = 0; at < 4; at += 1) expect((await bold.ask("POST", "x")).body).toBe("goodx")
  })

  test("a connection that cannot be made: any method, as nothing was sent", async () => {
    const good = await startUpstream(named("good"))
    closers.push(() => good.close())
    const running = await serve(retry(["connect-error"]), [`http://127.0.0.1:${await freePort()}`, good.url])
    for (let at = 0; at < 4; at += 1) expect((await askFor(running, "POST", "hi")).body).toBe("goodhi")
    expect(good.requests).toHaveLength(4)
  })

  describe("an answer of a backend is not given up for a target that is known to have none", () => {
    const times = (count: number, on: NonNullable<Backend["retry"]>["on"]) => ({
      retry: { times: count, on, methods: [], budgetPercent: 100 },
    })
    async function withDead(backend: Partial<Backend>) {
      const bad = await startUpstream(badFails("bad"))
      closers.push(() => bad.close())
      const running = await serve(backend, [`http://127.0.0.1:${await freePort()}`, bad.url])
      return { bad, running, ask: () => askFor(running) }
    }

    test("one that could not be reached before", async () => {
      const { bad, ask } = await withDead(times(3, ["connect-error", 503]))
      // Both orders come: targets take turns. What was not sent is no repetition.
      for (let at = 0; at < 3; at += 1) expect(await ask()).toMatchObject({ status: 503, body: "bad" })
      expect(bad.requests).toHaveLength(12)
    })

    test("one whose breaker is open, however many those are", async () => {
      const open = { ...breaker, calls: 1, ejectedMaxPercent: 0 }
      const { ask, running } = await withDead({ ...times(1, ["connect-error", 503]), breaker: open })
      await ask()
      await ask()
      expect(statesOf(running).map((state) => state.breaker)).toEqual(["open", "open"])
      for (let at = 0; at < 4; at += 1) expect(await ask()).toMatchObject({ status: 503, body: "bad" })
    })

    test("its own, whose breaker it has opened", async () => {
      const { ask, upstreams } = await start(
        ["bad"],
        { ...times(2, [503]), breaker: { ...breaker, calls: 1 } },
        badFails,
      )
      expect(await ask()).toMatchObject({ status: 503, body: "bad" })
      expect(JSON.parse((await ask()).body)).toMatchObject({
        type: "urn:sallyport:problem:backend-unavailable",
      })
      expect(upstreams.get("bad")?.requests).toHaveLength(1)
    })

    test("one that was not asked yet is asked, well or not: nobody knows; where it is dead, who answered before is asked again", async () => {
      const { ask, bad } = await withDead(times(1, [503]))
      const answers = [await ask(), await ask()]
      for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: "bad" })
      expect(bad.requests).toHaveLength(4)
    })
  })

  test("without an answer every target is asked again, those first that were not", async () => {
    const silent = [
      await startRawUpstream((socket) => socket.destroy()),
      await startRawUpstream((socket) => socket.destroy()),
    ]
    closers.push(...silent.map((each) => () => each.close()))
    const running = await serve(
      { retry: { times: 3, on: ["reset"], methods: [], budgetPercent: 100 } },
      silent.map(({ url }) => url),
    )
    expect((await askFor(running)).status).toBe(502)
    expect(silent.map((each) => each.connections())).toEqual([2, 2])
  })

  test("never more than the budget", async () => {
    const budget = { retry: { times: 1, on: [503], methods: [], budgetPercent: 10 } }
    const { ask, upstreams } = await start(["bad"], budget, badFails)
    for (let at = 0; at < 60; at += 1) await ask()
    const extra = (upstreams.get("bad")?.requests.length ?? 0) - 60
    expect(extra).toBeGreaterThanOrEqual(10)
    // The reserve of ten, and a tenth of the requests.
    expect(extra).toBeLessThanOrEqual(16)
  })

  test("an answer that has begun is never repeated", async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", () => socket.destroy())
      })
    })
    closers.push(() => upstream.close())
    const running = await serve(retry(["reset", "timeout", 502]), [upstream.url])
    await sendRaw(running.port, "GET /x HTTP/1.1\r\nHost: gw\r\n\r\n")
    expect(upstream.connections()).toBe(1)
  })
})

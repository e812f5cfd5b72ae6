import { connect } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { Breaker } from "../../runtime/gateway/backends/breaker.ts"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { DecisionPoint } from "../../runtime/pdp/decision-point.ts"
import type { PdpDecided, PdpRequested } from "../../runtime/pdp/standing.ts"
import { until } from "../support/until.ts"
import { ann, asking, deciding, even, failing, question, saying } from "./asked-point.ts"
import { type Answering, startRawUpstream, startUpstream } from "./harness.ts"
import { closeAll, closers, jwt } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

/** A gateway that asks, with what it told of its asking. */
async function noting(
  answer: Answering,
  pdp: Parameters<typeof asking>[2] = {},
  route?: Parameters<typeof asking>[1],
) {
  const requests: PdpRequested[] = []
  const decisions: PdpDecided[] = []
  const observer = {
    finished: () => undefined,
    pdpRequested: (request: PdpRequested) => void requests.push(request),
    pdpDecided: (decision: PdpDecided) => void decisions.push(decision),
  }
  const world = await asking(answer, route, pdp, {}, { observer })
  return {
    ...world,
    outcomes: () => requests.map(({ outcome }) => outcome),
    verdicts: () => decisions.map(({ decision, from }) => `${decision} ${from}`),
    requests,
    state: () => world.running.gateway.state().decisionPoints["corp"],
  }
}

const breaker = {
  ...{ calls: 2, windowMs: 3_600_000, openMs: 3_600_000, ejectedMaxPercent: 100 },
  statuses: [500, 503],
}

describe("what is told of a decision point", () => {
  test("nothing is known before somebody asks; then that it is up, and what it decided", async () => {
    const { ask, outcomes, verdicts, requests, state, point } = await noting(even, { breaker })
    expect(state()).toEqual({
      ...{ origin: point.url, health: "unknown", breaker: "closed", outstanding: 0, lastError: undefined },
    })
    expect([await ask("8"), await ask("7")]).toEqual([200, 403])
    expect(outcomes()).toEqual(["answered", "answered"])
    expect(verdicts()).toEqual(["allowed asked", "denied asked"])
    expect(requests.every(({ pdp, ms }) => pdp === "corp" && ms > 0 && ms < 5_000)).toBe(true)
    expect(state()).toMatchObject({ health: "up", breaker: "closed", outstanding: 0 })
  })

  test("each of several questions has its decision, and one request is one", async () => {
    const any: StepDraft = { kind: "require-any", steps: [question(), question({ relation: "write" })] }
    const { ask, outcomes, verdicts } = await noting(even, {}, { inbound: [jwt, any] })
    expect(await ask("7")).toBe(403)
    expect(outcomes()).toEqual(["answered"])
    expect(verdicts()).toEqual(["denied asked", "denied asked"])
  })

  test("what is kept is told as such, and is not a request", async () => {
    const { ask, outcomes, verdicts } = await noting(even, { cacheMs: 3_600_000 })
    expect([await ask("8"), await ask("8")]).toEqual([200, 200])
    expect(outcomes()).toEqual(["answered"])
    expect(verdicts()).toEqual(["allowed asked", "allowed kept"])
  })

  test("it could not decide: it is up, and that is not a denial", async () => {
    const { ask, verdicts, state } = await noting(
      deciding(() => ({ decision: false, context: { error: { status: 500 } } })),
    )
    expect(await ask()).toBe(403)
    expect(verdicts()).toEqual(["undecided asked"])
    expect(state()).toMatchObject({ health: "up" })
  })

  test.each<[string, Answering, string, string]>([
    ["fails", saying("{}", 500), "failed", "it responds with 500"],
    ["does not know us", saying("{}", 401), "failed", "it responds with 401"],
    ["sends us elsewhere", saying("", 302), "failed", "it responds with 302"],
    ["says nothing that is a decision", saying("{}"), "failed", "its response contains no decision"],
    ["is too slow", () => undefined, "timeout", "no response in time"],
  ])("one that %s is down, and why", async (_, answer, outcome, lastError) => {
    const { ask, outcomes, verdicts, state } = await noting(answer, { timeoutMs: 100 })
    expect(await ask()).toBe(503)
    expect([outcomes(), verdicts()]).toEqual([[outcome], ["none asked"]])
    expect(state()).toMatchObject({ health: "down", breaker: "none", outstanding: 0, lastError })
  })

  test("one that breaks off is down", async () => {
    const point = await startRawUpstream((socket) => socket.destroy())
    closers.push(() => point.close())
    const { ask, outcomes, state } = await noting(even, { url: point.url })
    expect(await ask()).toBe(503)
    expect([outcomes(), state()?.health, point.connections()]).toEqual([["failed"], "down", 2])
  })

  test("a question it does not take says nothing of how it is", async () => {
    let status = 200
    const { ask, outcomes, verdicts, state } = await noting(
      (request, response, seen) => (status === 200 ? even : saying("{}", status))(request, response, seen),
      { breaker },
    )
    status = 400
    expect([await ask(), state()?.health]).toEqual([503, "unknown"])
    status = 200
    expect([await ask(), state()?.health]).toEqual([200, "up"])
    status = 400
    expect([await ask(), state()?.health]).toEqual([503, "up"])
    expect(outcomes()).toEqual(["refused", "answered", "refused"])
    expect(verdicts()).toEqual(["none asked", "allowed asked", "none asked"])
  })

  test("an open breaker is seen; what it keeps away is not a request, and no new sign of illness", async () => {
    const { ask, outcomes, verdicts, state } = await noting(saying("{}", 503), { breaker })
    expect([await ask(), await ask(), await ask()]).toEqual([503, 503, 503])
    expect(state()).toMatchObject({ health: "down", breaker: "open", lastError: "it responds with 503" })
    expect([outcomes(), verdicts()]).toEqual([["failed", "failed"], Array(3).fill("none asked")])
  })

  test("requests under way are counted; a caller who left says nothing of it", async () => {
    const { running, outcomes, verdicts, state } = await noting((request) => void request.resume())
    const client = connect(running.port, "127.0.0.1")
    client.write(`GET /a/8 HTTP/1.1\r\nHost: gw\r\n${ann}\r\n`)
    await until(() => state()?.outstanding === 1)
    client.destroy()
    await until(() => state()?.outstanding === 0)
    expect([outcomes(), verdicts(), state()?.health]).toEqual([["cancelled"], [], "unknown"])
  })

  describe("over time", () => {
    async function point(answer: Answering) {
      const upstream = await startUpstream(answer)
      const http = new HttpClient()
      closers.push(
        () => upstream.close(),
        () => http.close(),
      )
      const clock = { now: 1_000_000 }
      const settings = {
        ...{ name: "corp", url: upstream.url, discover: false, timeoutMs: 5_000, cacheMs: 0, batchMax: 50 },
        ...{ trust: undefined, certificate: undefined, authorization: undefined },
      }
      const asked = new DecisionPoint(settings, http, new Breaker(breaker), undefined, () => clock.now)
      const subject = { type: "user", id: "ann" }
      const evaluation = { subject, action: { name: "read" }, resource: { type: "order", id: "8" } }
      return { asked, clock, ask: () => asked.ask([evaluation], { requestId: "1" }) }
    }

    test("its breaker is half open when its time is over, and closed when there is a decision", async () => {
      const { answer, mend } = failing()
      const { asked, clock, ask } = await point(answer)
      for (let at = 0; at < 2; at += 1) await expect(ask()).rejects.toThrow("it responds with 500")
      await expect(ask()).rejects.toThrow("its breaker is open")
      clock.now += breaker.openMs
      expect(asked.state()).toMatchObject({ breaker: "half-open" })
      mend()
      await ask()
      expect(asked.state()).toMatchObject({ health: "up", breaker: "closed", lastError: undefined })
    })

    test("after a quarter of an hour without a question nobody knows how it is", async () => {
      const { asked, clock, ask } = await point(saying("{}", 500))
      await expect(ask()).rejects.toThrow("it responds with 500")
      clock.now += 15 * 60_000
      expect(asked.state()).toMatchObject({ health: "down", lastError: "it responds with 500" })
      clock.now += 1
      expect(asked.state()).toMatchObject({ health: "unknown", lastError: undefined })
    })
  })
})

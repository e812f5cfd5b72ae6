import { afterEach, describe, expect, test } from "vitest"
import type { StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"
import { type PlanDraft, planOf } from "./plan-builder.ts"

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

type Weighted = Extract<StepOf<"set-backend">["target"], { weighted: unknown }>

const user: Text = {
  text: [{ expression: { lang: "cel", text: 'request.header("x-user")', type: "string" } }],
}

/** A backend whose responses are its name. */
async function named(name: string): Promise<Upstream> {
  const upstream = await startUpstream((_, response) => void response.end(name))
  closers.push(() => upstream.close())
  return upstream
}

/** A gateway that distributes requests by these weights, and the weights that it gets later. */
async function splitting(
  weights: Readonly<Record<string, number>>,
  more: Omit<Weighted, "weighted"> = {},
  backends: PlanDraft["backends"] = {},
): Promise<Running & { change(weights: Readonly<Record<string, number>>): Promise<void> }> {
  const all: Record<string, string> = {}
  for (const name of Object.keys(weights)) all[name] = (await named(name)).url
  const draft = (given: Readonly<Record<string, number>>) => ({
    backends: { ...all, ...backends, main: "http://127.0.0.1:1" },
    routes: [{ path: "/", inbound: [{ kind: "set-backend" as const, target: targetOf(given, more) }] }],
  })
  const running = await startGateway(draft(weights))
  closers.push(() => running.close())
  const change = async (given: Readonly<Record<string, number>>): Promise<void> => {
    await running.gateway.apply(planOf({ ...draft(given), port: running.port }))
  }
  return { ...running, change }
}

function targetOf(weights: Readonly<Record<string, number>>, more: Omit<Weighted, "weighted">): Weighted {
  return { weighted: Object.entries(weights).map(([backend, weight]) => ({ backend, weight })), ...more }
}

const callers = Array.from({ length: 200 }, (_, at) => `user-${at}`)

/** The side of each caller. */
async function sides({ url }: Running): Promise<string[]> {
  const found: string[] = []
  for (const caller of callers) found.push(await (await fetch(url, { headers: { "x-user": caller } })).text())
  return found
}

const count = (found: readonly string[], side: string) => found.filter((each) => each === side).length

describe("with a key", () => {
  test("callers keep their side, and a change of weights moves only those that it has to", async () => {
    const gateway = await splitting({ stable: 90, canary: 10 }, { key: user })
    const before = await sides(gateway)
    expect(await sides(gateway)).toEqual(before)
    // The callers are always the same, so the numbers are, too.
    expect(count(before, "canary")).toBeGreaterThan(10)
    expect(count(before, "canary")).toBeLessThan(32)
    await gateway.change({ canary: 30, stable: 70 })
    const after = await sides(gateway)
    expect(count(after, "canary")).toBeGreaterThan(44)
    expect(count(after, "canary")).toBeLessThan(76)
    // Nobody went from the side that grew to the one that shrank.
    expect(before.filter((side, at) => side === "canary" && after[at] !== "canary")).toEqual([])
    await gateway.change({ stable: 100, canary: 0 })
    expect(count(await sides(gateway), "stable")).toBe(callers.length)
  })

  test("callers without one are distributed by chance", async () => {
    const gateway = await splitting({ stable: 1, canary: 1 }, { key: user })
    const found = new Set<string>()
    for (let at = 0; at < 64; at += 1) found.add(await (await fetch(gateway.url)).text())
    expect(found).toEqual(new Set(["stable", "canary"]))
  })
})

test("by a cookie, a caller keeps its side", async () => {
  const gateway = await splitting({ stable: 1, canary: 1 }, { cookie: { name: "side", seconds: 60 } })
  const found = new Set<string>()
  for (let at = 0; at < 20; at += 1) {
    const first = await fetch(gateway.url, { headers: { cookie: "other=1" } })
    const side = await first.text()
    found.add(side)
    const [line = ""] = first.headers.getSetCookie()
    expect(line).toMatch(/^side=[0-9a-f-]{36}; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/)
    const cookie = line.slice(0, line.indexOf(";"))
    const second = await fetch(gateway.url, { headers: { cookie: `other=1; ${cookie}` } })
    expect(await second.text()).toBe(side)
    expect(second.headers.getSetCookie()).toEqual([])
  }
  expect(found).toEqual(new Set(["stable", "canary"]))
})

describe("a backend without a healthy target", () => {
  const away = {
    targets: [{ url: "http://127.0.0.1:1", weight: 1 }],
    ...{ connectMs: 1000, totalMs: null, tls: { insecure: false } },
    breaker: { calls: 1, windowMs: 60_000, openMs: 60_000, statuses: [], ejectedMaxPercent: 100 },
  } as unknown as NonNullable<PlanDraft["backends"]>[string]

  test("is passed over, and only its callers move", async () => {
    const gateway = await splitting({ stable: 1, canary: 1 }, { key: user })
    const before = await sides(gateway)
    const broken = await splitting({ stable: 1, canary: 1 }, { key: user }, { canary: away })
    await sides(broken)
    // The breaker has opened with the first of them.
    expect(count(await sides(broken), "stable")).toBe(callers.length)
    expect(count(before, "canary")).toBeGreaterThan(0)
  })

  test("gets the request if all are away, which is 503; weight 0 does not help out", async () => {
    const broken = await splitting({ stable: 0, canary: 1 }, { key: user }, { canary: away })
    await fetch(broken.url)
    expect((await fetch(broken.url)).status).toBe(503)
  })
})

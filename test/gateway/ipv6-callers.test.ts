import { afterEach, expect, test } from "vitest"
import type { QuotaCounters } from "../../runtime/policies/ports.ts"
import { until } from "../support/until.ts"
import { startUpstream } from "./harness.ts"
import { cel, closeAll, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

// One customer of an IPv6 provider has a /64 at least, 2^64 addresses: a limit that counts single addresses is none.

afterEach(closeAll)

/** The gateway believes this peer: callers have the addresses that X-Forwarded-For says. */
const trust = ["127.0.0.1"]
const by = (address: string) => `X-Forwarded-For: ${address}\r\n`

const rate = (more: Partial<Extract<StepDraft, { kind: "rate-limit" }>>): StepDraft => ({
  ...{ kind: "rate-limit", counter: "c", callsMax: 1, periodSeconds: 60, keys: [{ by: "ip" }] },
  ...more,
})

/** The address of the second caller, the first being 2001:db8:1:2::1, and whether both count as one. */
const others: [string, boolean][] = [
  ["2001:db8:1:2::1", true],
  ["2001:db8:1:2::2", true],
  ["2001:db8:1:2:ffff:ffff:ffff:ffff", true],
  ["[2001:DB8:1:2:0:0:0:9]:443", true],
  ["2001:db8:1:3::1", false],
  ["2001:db8:0:2::1", false],
  ["2001:db8:1::2", false],
]

test.each(others)("after 2001:db8:1:2::1, %s counts with it: %s", async (second, same) => {
  const { get } = await start({ inbound: [rate({})] }, { trust })
  expect((await get("/a/7", by("2001:db8:1:2::1"))).status).toBe(200)
  expect((await get("/a/7", by(second))).status).toBe(same ? 429 : 200)
})

test.each([
  ["198.51.100.1", "198.51.100.2"],
  ["::ffff:198.51.100.1", "::ffff:198.51.100.2"],
  ["64:ff9b::198.51.100.1", "64:ff9b::198.51.100.2"],
])("IPv4 callers count by their address: %s, %s", async (one, two) => {
  const { get } = await start({ inbound: [rate({})] }, { trust })
  const statuses = []
  for (const address of [one, two, one]) statuses.push((await get("/a/7", by(address))).status)
  expect(statuses).toEqual([200, 200, 429])
})

test("IPv4 in IPv6 is the same caller as in IPv4", async () => {
  const { get } = await start({ inbound: [rate({})] }, { trust })
  const statuses = []
  for (const address of ["198.51.100.1", "::ffff:198.51.100.1", "64:ff9b::c633:6401"])
    statuses.push((await get("/a/7", by(address))).status)
  expect(statuses).toEqual([200, 429, 429])
})

test.each([
  [48, "2001:db8:1:ffff::1", 429],
  [48, "2001:db8:2::1", 200],
  [56, "2001:db8:1:2f::1", 429],
  [56, "2001:db8:1:100::1", 200],
  [61, "2001:db8:1:7::1", 429],
  [61, "2001:db8:1:8::1", 200],
  [128, "2001:db8:1:2::2", 200],
])("by /%i, %s after 2001:db8:1:2::1 gets %i", async (ipv6Prefix, second, status) => {
  const { get } = await start({ inbound: [rate({})] }, { trust, limits: { ipv6Prefix } })
  expect((await get("/a/7", by("2001:db8:1:2::1"))).status).toBe(200)
  expect((await get("/a/7", by(second))).status).toBe(status)
})

test("an address in a text counts by its network, also beside other words", async () => {
  const text = [
    "caller ",
    ...(cel("request.ip") as { text: [] }).text,
    " ",
    ...(cel("request.header('X-K')") as { text: [] }).text,
  ]
  const { get } = await start({ inbound: [rate({ keys: [{ by: "text", text: { text } }] })] }, { trust })
  const ask = async (address: string, key: string) =>
    (await get("/a/7", `${by(address)}X-K: ${key}\r\n`)).status
  expect(await ask("2001:db8:1:2::1", "a")).toBe(200)
  expect(await ask("2001:db8:1:2::2", "a")).toBe(429)
  expect(await ask("2001:db8:1:2::2", "b")).toBe(200)
  expect(await ask("2001:db8:1:3::2", "a")).toBe(200)
})

test("quotas and places count by it too", async () => {
  const counted: string[] = []
  const quotas: QuotaCounters = {
    take(_, key) {
      counted.push(key)
      return { allowed: true }
    },
    add: () => undefined,
  }
  const held: (() => void)[] = []
  const steps: StepDraft[] = [
    { kind: "quota", counter: "q", periodSeconds: 60, callsMax: 9, keys: [{ by: "ip" }] } as StepDraft,
    { kind: "limit-concurrency", counter: "p", key: cel("request.ip"), max: 1, steps: [] },
  ]
  const upstream = await startUpstream((request, response) => {
    request.resume()
    held.push(() => response.end())
  })
  const { get } = await start({ inbound: steps }, { trust, backends: { main: upstream.url } }, { quotas })
  const first = get("/a/7", by("2001:db8:1:2::1"))
  await until(() => held.length === 1)
  expect((await get("/a/7", by("2001:db8:1:2::2"))).status).toBe(429)
  const other = get("/a/7", by("2001:db8:1:3::1"))
  await until(() => held.length === 2)
  for (const end of held) end()
  expect([(await first).status, (await other).status]).toEqual([200, 200])
  expect(counted).toEqual(["ip:2001:db8:1:2::/64", "ip:2001:db8:1:2::/64", "ip:2001:db8:1:3::/64"])
  await upstream.close()
})

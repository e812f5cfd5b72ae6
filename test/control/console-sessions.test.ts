import { expect, it } from "vitest"
import { ConsoleLinks } from "../../runtime/control/console/links.ts"
import { ConsoleSessions } from "../../runtime/control/console/sessions.ts"
import { ConsoleStream } from "../../runtime/control/event-stream.ts"
import { differenceOf } from "../../runtime/control/traffic-history.ts"
import { durationBounds } from "../../runtime/telemetry/metrics.ts"

const token = "test-token-0123456789"
const minute = 60_000
const cookieOf = (line: string | undefined) => (line ?? "").split(";")[0] ?? ""

it("a session ends after 30 minutes without use, and after 12 hours in all", () => {
  let now = 1_000_000
  const sessions = new ConsoleSessions(token, () => now)
  let cookie = cookieOf(sessions.begin("Bearer x"))
  now += 29 * minute
  const used = sessions.find(cookie)
  expect(used).toMatchObject({
    authorization: "Bearer x",
    renewal: [expect.stringContaining("Max-Age=1800")],
  })
  now += 29 * minute
  expect(sessions.find(cookie), "the old cookie").toBeUndefined()
  now -= 25 * minute
  cookie = cookieOf(used?.renewal[0])
  for (let passed = 33; passed < 12 * 60 - 20; passed += 20) {
    now += 20 * minute
    cookie = cookieOf(sessions.find(cookie)?.renewal[0])
    expect(sessions.find(cookie)).toMatchObject({ authorization: "Bearer x", renewal: [] })
  }
  now += 25 * minute
  expect(sessions.find(cookie)).toBeUndefined()
})

it("every process with the token opens a session, and no other; an end holds in its process", () => {
  const sessions = new ConsoleSessions(token)
  const line = sessions.begin("Bearer x") ?? ""
  expect(line).toMatch(/^__Host-sallyport=[\w-]+; Path=\/; Max-Age=1800; Secure; HttpOnly; SameSite=Strict$/)
  const cookie = cookieOf(line)
  const other = new ConsoleSessions(token)
  expect(other.find(`a=b; ${cookie}`)?.authorization).toBe("Bearer x")
  expect(new ConsoleSessions("other-token-0123456789").find(cookie)).toBeUndefined()
  const last = cookie.at(-5) === "A" ? "B" : "A"
  expect(other.find(cookie.slice(0, -5) + last + cookie.slice(-4))).toBeUndefined()
  expect(other.end(cookie)).toContain("Max-Age=0")
  expect([other.find(cookie), other.continues(cookie)]).toEqual([undefined, false])
  expect(sessions.find(cookie)).toBeDefined()
  expect(sessions.begin(`Bearer ${"x".repeat(4_000)}`)).toBeUndefined()
})

it("a link is used once, and within ten minutes", () => {
  let now = 1
  const links = new ConsoleLinks(() => now)
  const { code } = links.make("Bearer x")
  expect([links.take("other"), links.take(code), links.take(code)]).toEqual([
    undefined,
    "Bearer x",
    undefined,
  ])
  const late = links.make("Bearer x").code
  now += 10 * minute + 1
  expect(links.take(late)).toBeUndefined()
})

it("a slow reader gets the newest state of each topic, some lines, and the number of the others", () => {
  const stream = new ConsoleStream({ highWaterMark: 1 })
  const line = (id: number) =>
    ({
      ...{ id: String(id), at: "", method: "GET", path: "/", status: 200, ms: 1, ip: "" },
      bytesIn: 0,
      bytesOut: 0,
    }) as const
  for (let at = 0; at < 1_000; at++) {
    stream.state("status", { at })
    stream.line({ ...line(at), aborted: false, retried: false })
  }
  stream.tick()
  let text = ""
  for (let part = stream.read(); part !== null; part = stream.read()) text += String(part)
  expect(text.match(/event: status/g)).toHaveLength(1)
  expect(text).toContain('data: {"at":999}')
  expect(text.match(/event: log/g)).toHaveLength(50)
  stream.tick()
  expect(String(stream.read())).toBe('event: dropped\ndata: {"lines":950}\n\n')
})

it("percentiles come from the difference of two readings", () => {
  const none = durationBounds.map(() => 0).concat(0)
  const before = { requests: [0, 0, 9, 0, 0, 0], durations: none, refusals: { forbidden: 3 }, running: 0 }
  const durations = none.with(3, 90).with(4, 10)
  const after = { ...before, requests: [0, 0, 109, 0, 0, 0], durations, refusals: { forbidden: 3, x: 2 } }
  expect(differenceOf(before, after)).toEqual({
    ...{ requests: [0, 0, 100, 0, 0, 0], refusals: { x: 2 } },
    ...{ p50: 7.78, p95: 17.5, p99: 23.5 },
  })
  // A worker ended, and its counts with it.
  expect(differenceOf(after, before)).toEqual({
    ...{ requests: [0, 0, 0, 0, 0, 0], refusals: {} },
    ...{ p50: null, p95: null, p99: null },
  })
})

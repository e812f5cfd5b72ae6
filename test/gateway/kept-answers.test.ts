import { afterEach, describe, expect, test } from "vitest"
import { createMemoryCache } from "../../runtime/cache/memory.ts"
import { inFrontOf, set, tell, value } from "./content.ts"
import type { Answering } from "./harness.ts"
import { cel, closeAll, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const lookup = (more: object = {}): StepDraft => ({
  kind: "cache-lookup",
  varyHeaders: [],
  varyQuery: null,
  authorized: false,
  downstream: "none",
  mustRevalidate: true,
  ...more,
})
const store: StepDraft = { kind: "cache-store", seconds: 60 }

/** A route with a cache before a backend that counts what it is asked. */
async function cached(
  headers: Record<string, string | string[]>,
  more: object = {},
  outbound: StepDraft[] = [store],
) {
  const clock = { ms: 1_000_000 }
  const counted = { asked: 0 }
  const answer: Answering = (_, response) => {
    counted.asked += 1
    const body = `answer ${counted.asked}`
    response.writeHead(200, { "content-length": body.length, ...headers }).end(body)
  }
  const now = () => clock.ms
  const route = { inbound: [lookup(more)], outbound }
  const gateway = await inFrontOf(answer, route, {}, { now, cache: createMemoryCache({ now }) })
  return { ...gateway, clock, counted }
}

describe("answers that are kept", () => {
  test("one is given again, with its age, until its time is up; outbound goes on behind the store", async () => {
    const outbound = [tell("x-before", "'1'"), store, tell("x-after", "request.header('x-who')")]
    const { get, clock, counted } = await cached(
      { etag: '"e"', "x-own": "1" },
      { downstream: "private" },
      outbound,
    )
    const first = await get("X-Who: ann\r\n")
    expect([first.body, first.headers.get("x-after"), first.headers.get("cache-control")]).toEqual([
      "answer 1",
      "ann",
      "private, max-age=60, must-revalidate",
    ])
    clock.ms += 10_000
    const second = await get("X-Who: bob\r\n")
    expect([second.body, second.headers.get("age"), second.headers.get("x-own")]).toEqual([
      "answer 1",
      "10",
      "1",
    ])
    expect([second.headers.get("x-before"), second.headers.get("x-after")]).toEqual(["1", "bob"])
    expect(second.headers.get("cache-control")).toBe("private, max-age=50, must-revalidate")
    const head = await get("", "HEAD")
    expect([head.status, head.body]).toEqual([200, ""])
    expect((await get('If-None-Match: W/"e"\r\n')).status).toBe(304)
    expect(counted.asked).toBe(1)
    clock.ms += 50_000
    expect((await get()).body).toBe("answer 2")
  })

  describe("whether the backend lets it be kept", () => {
    const date = "Tue, 10 Mar 2026 10:00:00 GMT"
    test.each<[string, Record<string, string | string[]>, boolean]>([
      ["max-age=0: stale as it comes", { "cache-control": "public, max-age=0" }, false],
      ["max-age=0, must-revalidate", { "cache-control": "max-age=0,must-revalidate" }, false],
      ["a lifetime that is none", { "cache-control": "max-age=soon" }, false],
      ["in the second line", { "cache-control": ["public", "Max-Age=0"] }, false],
      [
        "s-maxage=0 is for shared caches, which this is",
        { "cache-control": "max-age=60, s-maxage=0" },
        false,
      ],
      ["s-maxage goes before max-age", { "cache-control": "max-age=0, s-maxage=60" }, true],
      ["no-cache", { "cache-control": "no-cache" }, false],
      ["no-store in the second line", { "cache-control": ["public", "no-store"] }, false],
      ["private", { "cache-control": "private, max-age=60" }, false],
      ["Expires that is not a date", { expires: "0" }, false],
      ["Expires at once", { date, expires: date }, false],
      ["Expires later", { date, expires: "Tue, 10 Mar 2026 10:00:01 GMT" }, true],
      ["max-age goes before Expires", { "cache-control": "max-age=60", expires: "0" }, true],
      ["a longer time than ours", { "cache-control": "max-age=3600" }, true],
      ["other words with a nought", { "cache-control": "stale-if-error=0, max-age=10" }, true],
      ["nothing said", {}, true],
    ])("%s", async (_, headers, isKept) => {
      const { get } = await cached(headers)
      await get()
      expect((await get()).body).toBe(isKept ? "answer 1" : "answer 2")
    })

    test("for how long is ours to say: a shorter time does not count", async () => {
      const { get, clock } = await cached({ "cache-control": "max-age=5" })
      await get()
      clock.ms += 59_000
      expect((await get()).body).toBe("answer 1")
      clock.ms += 1_000
      expect((await get()).body).toBe("answer 2")
    })

    test("a field that is removed before the store says nothing", async () => {
      const remove: StepDraft = {
        ...{ kind: "set-header", message: "response", action: "remove", name: "cache-control", values: [] },
      }
      const { get } = await cached({ "cache-control": "max-age=0" }, {}, [remove, store])
      await get()
      expect((await get()).body).toBe("answer 1")
    })
  })

  test("what differs has an answer of its own", async () => {
    const { get, counted } = await cached({}, { varyHeaders: ["x-a"], varyQuery: [] })
    await get("X-A: 1\r\n")
    await get("X-A: 1\r\n")
    await get("X-A: 2\r\n")
    expect(counted.asked).toBe(2)
    const byVary = await cached({ vary: "X-B, Accept-Encoding" })
    await byVary.get("X-B: 1\r\n")
    await byVary.get("X-B: 1\r\nAccept-Encoding: br\r\n")
    expect((await byVary.get("X-B: 2\r\n")).body).toBe("answer 2")
    expect(byVary.counted.asked).toBe(2)
  })

  test.each<[string, Record<string, string | string[]>, string, string]>([
    ["a cookie is set", { "set-cookie": ["a=1"] }, "", "GET"],
    ["the backend says no-store", { "cache-control": "no-store" }, "", "GET"],
    ["it is for one caller", { "cache-control": "private" }, "", "GET"],
    ["it varies by everything", { vary: "*" }, "", "GET"],
    ["the request has a token", {}, "Authorization: Bearer x\r\n", "GET"],
    ["the method is another", {}, "", "DELETE"],
  ])("not where %s", async (_, headers, sent, method) => {
    const { get, counted } = await cached(headers)
    await get(sent, method)
    await get(sent, method)
    expect(counted.asked).toBe(2)
  })

  test("not an answer that is none, unless it is said", async () => {
    const answer: Answering = (_, response) => response.writeHead(404, { "content-length": 0 }).end()
    const never = await inFrontOf(answer, { inbound: [lookup()], outbound: [store] })
    await never.get()
    await never.get()
    expect(never.upstream.requests).toHaveLength(2)
    const said: StepDraft = { ...store, storeIf: value("response.status == 404", "bool") } as StepDraft
    const kept = await inFrontOf(answer, { inbound: [lookup()], outbound: [said] })
    await kept.get()
    expect((await kept.get()).status).toBe(404)
    expect(kept.upstream.requests).toHaveLength(1)
  })

  test("of many at the same time one asks", async () => {
    let asked = 0
    const answer: Answering = (_, response) => {
      asked += 1
      setTimeout(() => response.writeHead(200, { "content-length": 1 }).end("x"), 50)
    }
    const { get } = await inFrontOf(answer, { inbound: [lookup({ coalesce: true })], outbound: [store] })
    const answers = await Promise.all(Array.from({ length: 10 }, () => get()))
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => "x"))
    expect(asked).toBe(1)
  })

  test("who waits for an answer that is not kept asks on their own", async () => {
    const { get, counted } = await cached({ "set-cookie": "a=1" }, { coalesce: true })
    await Promise.all([get(), get(), get()])
    expect(counted.asked).toBe(3)
  })
})

describe("values that are kept", () => {
  test("set, get, default, remove", async () => {
    const cache = createMemoryCache()
    const shown = (name: string): StepDraft => ({
      kind: "set-header",
      message: "request",
      action: "set",
      name: "x-seen",
      values: [cel(`string(var.${name}.n) + var.${name}.list[0]`)],
    })
    const keep: StepDraft = {
      kind: "cache-set",
      key: cel("path.id"),
      value: value("{'n': 1, 'list': ['a']}"),
      seconds: 60,
    }
    const get: StepDraft = {
      kind: "cache-get",
      key: cel("path.id"),
      variable: "v",
      default: value("{'n': 0, 'list': ['none']}"),
    }
    const first = await start({ inbound: [keep, get, shown("v")] }, {}, { cache })
    await first.get()
    expect(first.upstream.requests[0]?.headers["x-seen"]).toBe("1a")
    const second = await start(
      { inbound: [get, { kind: "cache-remove", key: "7" }, shown("v")] },
      {},
      { cache },
    )
    await second.get()
    await second.get()
    expect(second.upstream.requests.map(({ headers }) => headers["x-seen"])).toEqual(["1a", "0none"])
  })

  test("one makes a value, the others wait for it", async () => {
    let made = 0
    const { get, upstream } = await inFrontOf(
      (_, response) => {
        made += 1
        setTimeout(() => response.end("token"), 30)
      },
      {
        backend: null,
        inbound: [
          {
            kind: "cache-value",
            key: "k",
            variable: "token",
            seconds: 60,
            steps: [
              {
                kind: "send-request",
                mode: "new",
                url: cel("request.header('x-at')"),
                headers: [],
                media: null,
                timeoutSeconds: 5,
                ignoreError: false,
                wait: true,
                variable: "reply",
              },
              set("token", "var.reply.text"),
            ],
          },
          { kind: "respond", status: 200, headers: [], media: null, body: { text: cel("var.token") } },
        ],
      },
    )
    const answers = await Promise.all(Array.from({ length: 5 }, () => get(`X-At: ${upstream.url}\r\n`)))
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 5 }, () => "token"))
    expect(made).toBe(1)
  })
})

describe("what is judged and said", () => {
  const codes = (action: "ignore" | "detect" | "prevent", unspecified: "ignore" | "prevent"): StepDraft => ({
    kind: "validate-status",
    codes: [{ code: "2xx", action }],
    unspecified,
    errors: "wrong",
  })

  test("statuses and headers", async () => {
    const { get } = await start({ outbound: [codes("ignore", "prevent")] })
    expect((await get()).status).toBe(200)
    const refused = await start({ outbound: [codes("prevent", "ignore")] })
    expect((await refused.get()).status).toBe(502)
    const noted = await start({
      outbound: [codes("detect", "ignore"), tell("x-wrong", "var.wrong[0].message")],
    })
    expect((await noted.get()).headers.get("x-wrong")).toContain("200")
    const headers = (name: string, unspecified: "ignore" | "prevent"): StepDraft => ({
      kind: "validate-headers",
      headers: [{ name, required: true, action: "prevent" }],
      unspecified,
    })
    const status = async (step: StepDraft) => (await (await start({ outbound: [step] })).get()).status
    expect(await status(headers("content-type", "ignore"))).toBe(200)
    expect(await status(headers("x-missing", "ignore"))).toBe(502)
    const extra = await inFrontOf((_, response) => response.setHeader("x-extra", "1").end("x"), {
      outbound: [headers("content-length", "prevent")],
    })
    expect((await extra.get()).status).toBe(502)
  })

  test("lines for the log and counts for the metrics", async () => {
    const lines: unknown[] = []
    const counts: unknown[] = []
    const observer = {
      finished: () => undefined,
      traced: (line: unknown) => lines.push(line),
      counted: (...count: unknown[]) => counts.push(count),
    }
    const { get } = await start(
      {
        inbound: [
          {
            kind: "trace",
            source: "orders",
            severity: "error",
            message: cel("'id ' + path.id"),
            metadata: [{ name: "m", value: cel("request.method") }],
          },
          {
            kind: "metric",
            name: "orders",
            value: value("2", "int"),
            labels: [{ name: "id", value: cel("path.id") }],
          },
        ],
      },
      {},
      { observer },
    )
    expect((await get()).status).toBe(200)
    expect(lines).toMatchObject([
      { source: "orders", severity: "error", message: "id 7", metadata: { m: "GET" } },
    ])
    expect(counts).toEqual([["orders", { id: "7" }, 2]])
    const wrong = await start(
      { inbound: [{ kind: "metric", name: "orders", value: value("-1", "int"), labels: [] }] },
      {},
      { observer },
    )
    expect((await wrong.get()).status).toBe(200)
    expect([counts.length, lines.at(-1)]).toMatchObject([
      1,
      { source: "metric", message: expect.stringContaining("-1") },
    ])
  })
})

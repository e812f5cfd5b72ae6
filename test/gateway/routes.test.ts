import { describe, expect, test } from "vitest"
import type { Matchable } from "../../runtime/gateway/routes/route-tree.ts"
import { Routes } from "../../runtime/gateway/routes/routes.ts"
import {
  compareSegments,
  pathTemplates,
  type SegmentTemplate,
  shapeOfSegment,
} from "../../runtime/plan/segment-template.ts"
import { Random } from "../naive/random.ts"
import { promptlyMs } from "../support/busy.ts"

function routesOf(...lines: string[]): Routes<Matchable> {
  const routes = new Routes<Matchable>()
  for (const line of lines) {
    const [method = "", path = "", protection = ""] = line.split(" ")
    routes.add({ method, path, protection })
  }
  return routes
}

/** What `METHOD path` leads to: the route's path with its parameters, `405 Allow` or `404`. */
function find(routes: Routes<Matchable>, request: string): string {
  const [method = "", path = ""] = request.split(" ")
  const match = routes.find(method, path)
  if (match.kind === "none") return "404"
  if (match.kind === "method") return `405 ${match.allow}`
  if (match.kind === "unclear") return `400 ${match.route.path}`
  const parameters = Object.entries(match.parameters).map(([name, value]) => ` ${name}=${value}`)
  return `${match.route.method} ${match.route.path}${parameters.join("")}`
}

describe("the most specific route wins, whatever the order", () => {
  const lines = [
    "GET /",
    "GET /orders",
    "GET /orders/{id}",
    "GET /orders/mine",
    "GET /orders/{id}/items",
    "GET /orders/mine/{item}",
    "GET /orders/{rest*}",
    "POST /orders",
    "DELETE /orders/{id}",
    "* /any/{rest*}",
    "GET /any/x",
    "HEAD /orders/head",
    "GET /files/{a}/{b}/{rest*}",
    "GET /caf%c3%a9",
  ]
  const rows: [string, string][] = [
    ["GET /", "GET /"],
    ["GET /orders", "GET /orders"],
    ["GET /orders/", "GET /orders"],
    ["GET /orders/7", "GET /orders/{id} id=7"],
    ["GET /orders/7/", "GET /orders/{id} id=7"],
    ["GET /orders/a%20b", "GET /orders/{id} id=a b"],
    ["GET /orders/mine", "GET /orders/mine"],
    ["GET /orders/7/items", "GET /orders/{id}/items id=7"],
    ["GET /orders/mine/items", "GET /orders/mine/{item} item=items"],
    ["GET /orders/7/8", "GET /orders/{rest*} rest=7/8"],
    ["GET /orders/7/8/", "GET /orders/{rest*} rest=7/8/"],
    ["POST /orders", "POST /orders"],
    ["PUT /orders", "405 GET, HEAD, POST"],
    ["DELETE /orders/7", "DELETE /orders/{id} id=7"],
    ["DELETE /orders/mine", "DELETE /orders/{id} id=mine"],
    ["HEAD /orders/7", "GET /orders/{id} id=7"],
    ["HEAD /orders/head", "HEAD /orders/head"],
    ["GET /any/x", "GET /any/x"],
    ["POST /any/x", "* /any/{rest*} rest=x"],
    ["GET /any", "* /any/{rest*} rest="],
    ["GET /files/1/2", "GET /files/{a}/{b}/{rest*} a=1 b=2 rest="],
    ["GET /files/1/2/3/4", "GET /files/{a}/{b}/{rest*} a=1 b=2 rest=3/4"],
    ["GET /files/1", "404"],
    ["GET /caf%C3%A9", "GET /caf%c3%a9"],
    ["GET /nothing", "404"],
    ["GET /Orders", "404"],
    ["GET /__proto__", "404"],
    ["GET /constructor", "404"],
    ["constructor /orders", "405 GET, HEAD, POST"],
  ]
  test.each(rows)("%s → %s", (request, expected) => {
    expect(find(routesOf(...lines), request)).toBe(expected)
    expect(find(routesOf(...lines.toReversed()), request)).toBe(expected)
  })
})

describe("falling through is no way around protection", () => {
  const routes = routesOf(
    "* /{rest*} open",
    "GET /secure/{rest*} jwt",
    "GET /users/{id} jwt",
    "GET /users/me jwt",
    "GET /shop/{id} open",
    "GET /shop/new open",
    "GET /{tenant}/admin jwt",
  )
  const rows: [string, string][] = [
    ["GET /secure/x", "GET /secure/{rest*} rest=x"],
    ["HEAD /secure/x", "GET /secure/{rest*} rest=x"],
    ["POST /secure/x", "405 GET, HEAD"],
    ["GET /SECURE/x", "404"],
    ["GET /Secure/x/y", "404"],
    ["GET /%EF%BD%93ecure/x", "404"],
    ["GET /%C5%BFecure/x", "404"],
    ["GET /users/ME", "GET /users/{id} id=ME"],
    ["GET /USERS/me", "404"],
    ["GET /shop/NEW", "GET /shop/{id} id=NEW"],
    ["GET /acme/ADMIN", "404"],
    ["GET /acme/other", "* /{rest*} rest=acme/other"],
    ["GET /x", "* /{rest*} rest=x"],
  ]
  test.each(rows)("%s → %s", (request, expected) => {
    expect(find(routes, request)).toBe(expected)
  })
})

describe("literals and parameters in one segment", () => {
  const lines = [
    "GET /things/{id}",
    "POST /things/{id}:cancel",
    "POST /things/{id}:force-cancel",
    "GET /things/{id}:cancel/log",
    "GET /files/{name}.{ext}",
    "GET /files/{name}.json",
    "GET /files/index.json",
    "GET /files/{rest*}",
    "GET /report(id={id})",
    "GET /range(from='{from}',to='{to}')/{rest*}",
    "GET /{a}/v{major}-{minor}/{b}",
    "GET /wide/{x}--{y}",
    "GET /.well-known/{name}.txt",
    "GET /caf%c3%a9-{x}",
    "GET /cut/{a}2{b}",
  ]
  const rows: [string, string][] = [
    ["POST /things/7:cancel", "POST /things/{id}:cancel id=7"],
    ["POST /things/7:cancel/", "POST /things/{id}:cancel id=7"],
    ["POST /things/a:b:cancel", "POST /things/{id}:cancel id=a:b"],
    ["POST /things/7:force-cancel", "POST /things/{id}:force-cancel id=7"],
    ["POST /things/caf%C3%A9:cancel", "POST /things/{id}:cancel id=caf\u00e9"],
    ["GET /things/7:cancel", "GET /things/{id} id=7:cancel"],
    ["GET /things/7:cancel/log", "GET /things/{id}:cancel/log id=7"],
    ["POST /things/:cancel", "405 GET, HEAD"],
    ["POST /things/7:cance", "405 GET, HEAD"],
    ["PUT /things/7:cancel", "405 GET, HEAD, POST"],
    ["GET /files/a.png", "GET /files/{name}.{ext} name=a ext=png"],
    ["GET /files/a.json", "GET /files/{name}.json name=a"],
    ["GET /files/a.b.json", "GET /files/{name}.json name=a.b"],
    ["GET /files/index.json", "GET /files/index.json"],
    ["GET /files/.json", "GET /files/{rest*} rest=.json"],
    ["GET /files/a.tar.gz", "400 /files/{name}.{ext}"],
    ["GET /files/a..b", "400 /files/{name}.{ext}"],
    ["GET /files/a.%EF%BC%8Eb", "400 /files/{name}.{ext}"],
    ["GET /files/a.b/c", "GET /files/{rest*} rest=a.b/c"],
    ["GET /files/plain", "GET /files/{rest*} rest=plain"],
    ["GET /report(id=7)", "GET /report(id={id}) id=7"],
    ["GET /report(id=)", "404"],
    ["GET /range(from='1',to='9')/x/y", "GET /range(from='{from}',to='{to}')/{rest*} rest=x/y from=1 to=9"],
    ["GET /range(from='1',to='2',to='9')/x", "400 /range(from='{from}',to='{to}')/{rest*}"],
    ["GET /range(from='1',to='2',TO='9')/x", "400 /range(from='{from}',to='{to}')/{rest*}"],
    ["GET /p/v1-2/q", "GET /{a}/v{major}-{minor}/{b} a=p b=q major=1 minor=2"],
    ["GET /p/v1-/q", "404"],
    ["GET /p/1-2/q", "404"],
    ["GET /wide/a--b", "GET /wide/{x}--{y} x=a y=b"],
    ["GET /wide/a---b", "400 /wide/{x}--{y}"],
    ["GET /wide/---", "404"],
    ["GET /.well-known/a.txt", "GET /.well-known/{name}.txt name=a"],
    ["GET /caf%C3%A9-1", "GET /caf%c3%a9-{x} x=1"],
    ["GET /cut/%20x2y", "GET /cut/{a}2{b} a= x b=y"],
    ["GET /cut/%20xy", "404"],
  ]
  test.each(rows)("%s → %s", (request, expected) => {
    expect(find(routesOf(...lines), request)).toBe(expected)
    expect(find(routesOf(...lines.toReversed()), request)).toBe(expected)
  })

  test("what looks like a protected one goes to no other", () => {
    const routes = routesOf(
      "* /{rest*} open",
      "POST /things/{id}:cancel jwt",
      "GET /admin-{area}/x jwt",
      "GET /plain/{id}:show open",
      "GET /{a}/secure jwt",
      "GET /{a}/{b} open",
    )
    for (const path of [
      "/things/7:CANCEL",
      "/things/7%EF%BC%9Acancel",
      "/things/:cancel",
      "/things/7:%EF%BD%83ancel",
      "/Admin-7/x",
      "/admin-/x",
      "/x/SECURE",
    ])
      expect([path, find(routes, `GET ${path}`)]).toEqual([path, "404"])
    expect(find(routes, "GET /things/7:cancel")).toBe("405 POST")
    expect(find(routes, "GET /plain/7:SHOW")).toBe("GET /{a}/{b} a=plain b=7:SHOW")
    expect(find(routes, "GET /admin/x")).toBe("GET /{a}/{b} a=admin b=x")
  })

  test("where many stand beside each other each is found, and a search looks at a character a few times only", () => {
    const verbs = Array.from({ length: 10_000 }, (_, at) => `POST /things/{id}:verb${at}`)
    const routes = routesOf(...verbs, "GET /long/{a}-{b}-{c}-{d}_x")
    for (const at of [0, 7, 9_999])
      expect(find(routes, `POST /things/1:verb${at}`)).toBe(`POST /things/{id}:verb${at} id=1`)
    for (let round = 0; round < 200; round += 1)
      expect(find(routes, `GET /long/${"-".repeat(16_000)}`)).toBe("404")
  })
})

/** All ways to read a segment, by trying every end of every value. */
function readings(literals: readonly string[], text: string): string[][] {
  const [first = "", ...rest] = literals
  if (!text.startsWith(first)) return []
  const after = text.slice(first.length)
  if (rest.length === 0) return after === "" ? [[]] : []
  return Array.from(after, (_, at) => at + 1).flatMap((end) =>
    readings(rest, after.slice(end)).map((values) => [after.slice(0, end), ...values]),
  )
}

test("the route and the values are those that trying everything finds", () => {
  const random = new Random(11)
  const pieces = ["a", "b", "-", "ab", "--", "-a"]
  const segment = (place: number) => {
    if (random.chance(20)) return random.pick(["a", "b", "a-b"])
    if (random.chance(15)) return `{p${place}}`
    const values = 1 + random.below(3)
    const between = Array.from({ length: values - 1 }, (_, at) => `${random.pick(pieces)}{p${place}${at}}`)
    const [start, end] = [random.pick(["", "", "a", "-"]), random.pick(["", "", "b", "-b"])]
    return `${start}{p${place}}${between.join("")}${end}`
  }
  const kinds = { found: 0, unclear: 0, none: 0, tie: 0 }
  for (let round = 0; round < 4_000; round += 1) {
    const paths = new Map<string, string>()
    for (let count = random.below(8); count >= 0; count -= 1) {
      const path = `/${Array.from({ length: random.chance(80) ? 1 : 2 }, (_, at) => segment(at)).join("/")}`
      paths.set(path.replace(/\{\w+\}/g, "{}"), path)
    }
    const asked = Array.from({ length: random.chance(80) ? 1 : 2 }, () =>
      Array.from({ length: 1 + random.below(8) }, () => random.pick(["a", "b", "-"])).join(""),
    )
    const fitting = [...paths.values()]
      .map((path) => ({ path, templates: pathTemplates(path) ?? [] }))
      .filter(({ templates }) => templates.length === asked.length)
      .map((each) => ({
        ...each,
        all: each.templates.map(({ literals }, at) => readings(literals, asked[at] as string)),
      }))
      .filter(({ all }) => all.every(({ length }) => length > 0))
    const order = (a: (typeof fitting)[number], b: (typeof fitting)[number]) => {
      const at = a.templates.findIndex(
        (each, place) => shapeOfSegment(each) !== shapeOfSegment(b.templates[place] as SegmentTemplate),
      )
      return compareSegments(a.templates[at] as SegmentTemplate, b.templates[at] as SegmentTemplate)
    }
    const [best, ...others] = fitting.toSorted(order)
    if (best !== undefined && others.some((other) => order(best, other) === 0)) {
      kinds.tie += 1
      continue
    }
    const match = routesOf(...[...paths.values()].map((path) => `GET ${path}`)).find(
      "GET",
      `/${asked.join("/")}`,
    )
    const kind = best === undefined ? "none" : best.all.some(({ length }) => length > 1) ? "unclear" : "found"
    kinds[kind] += 1
    expect([...paths.values(), asked, match.kind]).toEqual([...paths.values(), asked, kind])
    if (best === undefined || match.kind === "none" || match.kind === "method") continue
    expect([...paths.values(), asked, match.route.path]).toEqual([...paths.values(), asked, best.path])
    if (match.kind !== "found") continue
    const names = best.templates.flatMap((each) => each.names)
    const values = best.all.flatMap(([only = []]) => only)
    expect({ ...match.parameters }).toEqual(Object.fromEntries(names.map((name, at) => [name, values[at]])))
  }
  for (const count of Object.values(kinds)) expect(count, JSON.stringify(kinds)).toBeGreaterThan(20)
})

test("two equal routes and paths without a canonical form are refused", () => {
  expect(() => routesOf("GET /a", "GET /a/")).toThrow("two routes answer GET /a/")
  expect(() => routesOf("GET /a/../b")).toThrow("no canonical form")
  expect(() => routesOf("GET /{x}/a", "GET /{y}/a")).toThrow("two routes")
  expect(() => routesOf("GET /{x}:a", "GET /{y}:a")).toThrow("two routes")
  for (const path of ["/{x}.", "/{x}{y}", "/{x", "/a{x*}", "/{x}-{y*}", "/{}", "/{x}%2f{y}"])
    expect(() => routesOf(`GET ${path}`)).toThrow("no canonical form")
})

test("a path made to be searched everywhere is searched quickly", () => {
  const lines: string[] = []
  for (let bits = 0; bits < 1024; bits += 1) {
    const path = [...bits.toString(2).padStart(10, "0")]
      .map((bit, at) => (bit === "1" ? "a" : `{p${at}}`))
      .join("/")
    lines.push(`GET /${path}/end`)
  }
  const routes = routesOf(...lines)
  const began = performance.now()
  for (let round = 0; round < 20; round += 1) expect(find(routes, `GET /${"a/".repeat(10)}none`)).toBe("404")
  expect(performance.now() - began).toBeLessThan(promptlyMs(5_000))
})

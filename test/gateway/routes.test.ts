import { describe, expect, test } from "vitest"
import { type Matchable, Routes } from "../../runtime/gateway/routes.ts"

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

test("two equal routes and paths without a canonical form are refused", () => {
  expect(() => routesOf("GET /a", "GET /a/")).toThrow("two routes answer GET /a/")
  expect(() => routesOf("GET /a/../b")).toThrow("no canonical form")
  expect(() => routesOf("GET /{x}/a", "GET /{y}/a")).toThrow("two routes")
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
  expect(performance.now() - began).toBeLessThan(5_000)
})

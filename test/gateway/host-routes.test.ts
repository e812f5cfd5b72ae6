import { describe, expect, test } from "vitest"
import { HostRoutes } from "../../runtime/gateway/routes/host-routes.ts"

const route = (name: string, path: string, hosts?: string[], method = "GET", protection = "") => ({
  name,
  path,
  hosts,
  method,
  protection,
})

const routes = new HostRoutes<ReturnType<typeof route>>()
for (const each of [
  route("exact", "/a", ["api.example.com"], "GET", "token"),
  route("exact only", "/only/{x}", ["api.example.com"]),
  route("two", "/two", ["one.test", "two.test"]),
  route("sub", "/a", ["*.example.com"]),
  route("deep", "/a", ["*.deep.example.com"]),
  route("every", "/a"),
  route("every tail", "/{rest*}", undefined, "*"),
])
  routes.add(each)

describe("routes by host", () => {
  test.each<[string, string, string, string]>([
    ["api.example.com", "GET", "/a", "exact"],
    ["API.Example.COM", "GET", "/a", "exact"],
    ["api.example.com:8443", "GET", "/a", "exact"],
    ["api.example.com.", "GET", "/a", "exact"],
    ["www.example.com", "GET", "/a", "sub"],
    ["x.y.example.com", "GET", "/a", "sub"],
    ["x.deep.example.com", "GET", "/a", "deep"],
    ["example.com", "GET", "/a", "every"],
    ["badexample.com", "GET", "/a", "every"],
    ["api.example.com.evil.test", "GET", "/a", "every"],
    ["[::1]:8000", "GET", "/a", "every"],
    ["", "GET", "/a", "every"],
    ["two.test", "GET", "/two", "two"],
    ["three.test", "GET", "/two", "every tail"],
    // Nothing of the host's own: what every host has.
    ["api.example.com", "GET", "/other", "every tail"],
    // The host has the path for other methods: no less specific host answers.
    ["api.example.com", "DELETE", "/a", "405 GET, HEAD"],
    // It only looks like a protected path of the host.
    ["api.example.com", "GET", "/only/x", "exact only"],
  ])("%s %s %s → %s", (host, method, path, expected) => {
    const match = routes.find(method, path, host)
    expect(
      match.kind === "found" ? match.route.name : match.kind === "method" ? `405 ${match.allow}` : "none",
    ).toBe(expected)
  })

  test("a look-alike of a protected path goes to no other host", () => {
    const guarded = new HostRoutes<ReturnType<typeof route>>()
    guarded.add(route("a", "/admin", ["h.test"], "GET", "token"))
    guarded.add(route("b", "/{any}", ["h.test"]))
    guarded.add(route("c", "/{any}"))
    expect(guarded.find("GET", "/ADMIN", "h.test")).toEqual({ kind: "none", alike: true })
    expect(guarded.find("GET", "/other", "h.test")).toMatchObject({ kind: "found", route: { name: "b" } })
  })

  test("the same path on one host twice is refused", () => {
    expect(() => routes.add(route("again", "/a", ["other.test", "api.example.com"]))).toThrow(/two routes/)
  })

  test("no host but the declared ones", () => {
    const only = new HostRoutes<ReturnType<typeof route>>()
    only.add(route("a", "/a", ["h.test"]))
    expect(only.find("GET", "/a", "elsewhere.test")).toEqual({ kind: "none", alike: false })
  })
})

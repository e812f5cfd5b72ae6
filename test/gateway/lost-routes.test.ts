import fc from "fast-check"
import { expect, test } from "vitest"
import { lostRoutes, whyMatched } from "../../runtime/gateway/generation/lost-routes.ts"
import { protectionOf } from "../../runtime/gateway/generation/provision.ts"
import { HostRoutes } from "../../runtime/gateway/routes/host-routes.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { key } from "./one-route.ts"
import { planOf, type RouteDraft, type StepDraft } from "./plan-builder.ts"

const respond: StepDraft = { kind: "respond", status: 204, headers: [], media: null }
const open = (path: string, more: Partial<RouteDraft> = {}): RouteDraft => ({
  ...{ path, backend: null, inbound: [respond] },
  ...more,
})
const guarded = (path: string, more: Partial<RouteDraft> = {}): RouteDraft =>
  open(path, { inbound: [key, respond], ...more })

function explained(plan: Plan, method: string, path: string, authority = "localhost") {
  const routes = new HostRoutes<{
    key: string
    method: string
    path: string
    hosts: readonly string[] | undefined
    protection: string
  }>()
  for (const [each, { method: own, path: pattern, hosts, sections }] of Object.entries(plan.plan.routes))
    routes.add({
      key: each,
      method: own,
      path: pattern,
      hosts,
      protection: protectionOf(plan, sections.inbound),
    })
  const match = routes.find(method, path, authority)
  const chosen = "route" in match ? match.route.key : undefined
  const lost = lostRoutes(plan, { method, path, authority }, chosen)
  return { match, chosen, lost, why: whyMatched(match, lost) }
}

const plan = planOf({
  port: 1,
  routes: [
    open("/a/fixed"),
    open("/a/{id}"),
    open("/{rest*}"),
    open("/a/{id}", { method: "PUT" }),
    open("/a/{id}", { hosts: ["other.example"] }),
    guarded("/admin", { method: "PUT" }),
    open("/any", { method: "*" }),
    open("/any", { method: "GET" }),
    guarded("/f/{name}.json"),
    guarded("/f/{name}.{ext}"),
  ],
})

const rows: [string, string, string | undefined, string, string[]][] = [
  [
    "GET",
    "/a/fixed",
    "GET /a/fixed",
    "most specific",
    [
      "host GET other.example/a/{id}",
      "less-specific GET /a/{id}",
      "less-specific GET /{rest*}",
      "method PUT /a/{id}",
    ],
  ],
  [
    "GET",
    "/a/1",
    "GET /a/{id}",
    "most specific",
    ["host GET other.example/a/{id}", "less-specific GET /{rest*}", "method PUT /a/{id}"],
  ],
  [
    "GET",
    "/A/FIXED",
    "GET /{rest*}",
    "only route",
    [
      "look-alike GET /a/fixed",
      "look-alike GET /a/{id}",
      "look-alike GET other.example/a/{id}",
      "look-alike PUT /a/{id}",
    ],
  ],
  [
    "GET",
    "/admin",
    undefined,
    "exists only for other methods (PUT)",
    ["protection GET /{rest*}", "method PUT /admin"],
  ],
  ["GET", "/Admin", undefined, "differs only by case", ["protection GET /{rest*}", "look-alike PUT /admin"]],
  ["GET", "/any", "GET /any", "most specific", ["less-specific * /any", "less-specific GET /{rest*}"]],
  [
    "GET",
    "/f/x.json",
    "GET /f/{name}.json",
    "most specific",
    ["less-specific GET /f/{name}.{ext}", "less-specific GET /{rest*}"],
  ],
  ["GET", "/f/x.y.z", "GET /f/{name}.{ext}", "are ambiguous", ["less-specific GET /{rest*}"]],
  [
    "GET",
    "/f/x.JSON",
    "GET /f/{name}.{ext}",
    "most specific",
    ["less-specific GET /{rest*}", "look-alike GET /f/{name}.json"],
  ],
  ["DELETE", "/nothing", undefined, "exists only for other methods", ["method GET /{rest*}"]],
]
test.each(rows)("%s %s: %s", (method, path, chosen, why, lost) => {
  const found = explained(plan, method, path)
  expect(found.chosen).toBe(chosen)
  expect(found.why).toContain(why)
  expect(found.lost.map(({ loss, route }) => `${loss} ${route}`).sort()).toEqual([...lost].sort())
  for (const { why: reason } of found.lost) expect(reason).not.toBe("")
})

test("what the matcher chooses never loses, and where it chooses, who else fits is less specific", () => {
  const segment = fc.constantFrom("a", "A", "b", "{x}", "{x}-a", "b{x}-{y}")
  const path = fc
    .array(segment, { minLength: 1, maxLength: 3 })
    .map((parts) => `/${parts.map((part, at) => part.replaceAll(/[xy]/g, `$&${at}`)).join("/")}`)
  const route = fc.record({ path, method: fc.constantFrom("GET", "PUT", "*"), guarded: fc.boolean() })
  const asked = fc.record({
    method: fc.constantFrom("GET", "HEAD", "PUT"),
    path: fc
      .array(fc.constantFrom("a", "A", "b", "c", "c-a", "bc-a", "bc-a-A"), { minLength: 1, maxLength: 3 })
      .map((parts) => `/${parts.join("/")}`),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(route, {
        selector: (each) => `${each.method} ${each.path}`,
        minLength: 1,
        maxLength: 6,
      }),
      asked,
      (drafts, { method, path: wanted }) => {
        const own = planOf({
          port: 1,
          routes: drafts.map((each) => (each.guarded ? guarded : open)(each.path, { method: each.method })),
        })
        const { match, chosen, lost } = explained(own, method, wanted)
        expect(lost.map((each) => each.route)).not.toContain(chosen)
        const fits = lost.filter(({ loss }) => loss === "less-specific" || loss === "protection")
        if ("route" in match) expect(fits.every(({ loss }) => loss === "less-specific")).toBe(true)
        else expect(fits.every(({ loss }) => loss === "protection")).toBe(true)
        if (match.kind === "none" && !match.alike)
          expect(lost.filter(({ loss }) => loss !== "look-alike")).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
})

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Hosted, HostRoutes } from "../../runtime/gateway/routes/host-routes.ts"
import type { PathForms } from "../../runtime/plan/resources.ts"
import { canonicalPath } from "../../runtime/policies/messages/canonical-path.ts"
import { type Running, sendRaw, startGateway, startUpstream, type Upstream } from "./harness.ts"

// Paths that servers read in different ways: `%2F` in a segment, `;`, `//`.

const all: PathForms = { encodedSlash: true, pathParameters: true, emptySegments: true }

interface Draft {
  readonly path: string
  readonly passes?: PathForms
  readonly protection?: string
  readonly decides?: boolean
  readonly method?: string
  readonly hosts?: readonly string[]
}

/** The pattern that answers with its parameters, or why none does. */
function found(drafts: readonly Draft[], sent: string, method = "GET", host = "gw"): string {
  const routes = new HostRoutes<Hosted>()
  for (const draft of drafts) routes.add({ method: "GET", hosts: undefined, protection: "", ...draft })
  const path = canonicalPath(sent, routes.forms)
  if (path === undefined) return "no form"
  const match = routes.find(method, path, host)
  if (match.kind !== "found") return match.kind
  return `${match.route.path} ${JSON.stringify(match.parameters)}`
}

describe("a route that passes them", () => {
  const projects: Draft[] = [
    { path: "/projects/{id}", passes: all, protection: "key" },
    { path: "/projects/{id}/issues", passes: all, protection: "key" },
    { path: "/projects/{id}/admin", passes: all, protection: "admin" },
    { path: "/files/{rest*}", passes: all },
    { path: "/strict/{id}" },
  ]
  test.each([
    ["/projects/group%2fproject", '/projects/{id} {"id":"group/project"}'],
    ["/projects/a%2Fb%2Fc", '/projects/{id} {"id":"a/b/c"}'],
    ["/projects/a%2Fb/issues", '/projects/{id}/issues {"id":"a/b"}'],
    ["/projects/7;v=1", '/projects/{id} {"id":"7;v=1"}'],
    ["/projects/a%3Bb", '/projects/{id} {"id":"a;b"}'],
    ["/files/a//b", '/files/{rest*} {"rest":"a//b"}'],
    ["/files/a%2Fb;c//d/", '/files/{rest*} {"rest":"a/b;c//d/"}'],
    // A backend that decodes the slash would serve another route.
    ["/projects/a%2Fissues", "unread"],
    ["/projects/a%2FAdmin", "unread"],
    ["/projects/a%2Fadmin", "unread"],
    ["/projects/a;%2Fadmin", "unread"],
    ["/projects%2Fa/issues", "unread"],
    ["/files%2Fa/b", "unread"],
    // Dot segments, nothing, and what is one only for those that decode or cut.
    ["/projects/..%2Fadmin", "unread"],
    ["/projects/a%2F..%2Fb", "unread"],
    ["/projects/a%2F%2e%2e%2fb", "unread"],
    ["/files/..;/admin", "unread"],
    ["/files/a/..;x=1/b", "unread"],
    ["/files/a;/../b", "no form"],
    ["/files/.%3bx/b", "unread"],
    ["/files/;/b", "unread"],
    ["/files/a%2F", "unread"],
    ["/files/a%2F/b", "unread"],
    ["/projects/;x", "unread"],
    ["/projects/a%252Fb", "no form"],
    ["/projects/a%5Cb", "no form"],
    ["/projects/a\\b", "no form"],
    ["/projects/%2Fa", "unread"],
    ["/projects//", "unread"],
    ["//files/a", "no form"],
    ["/files//evil.example/x", "unread"],
    ["/files//", "unread"],
    ["/files/a//", '/files/{rest*} {"rest":"a//"}'],
    ["/projects//issues", "unread"],
    ["/strict/a%2Fb", "unread"],
    ["/strict/a;b", "unread"],
    ["/nowhere/a%2Fb", "unread"],
  ])("%s: %s", (path, answer) => {
    expect(found(projects, path)).toBe(answer)
  })

  test.each<[string, string, Draft[]]>([
    ["no route passes them", "no form", [{ path: "/a/{id}" }]],
    ["it passes another form", "no form", [{ path: "/a/{id}", passes: { pathParameters: true } }]],
    [
      "another route passes it",
      "unread",
      [{ path: "/a/{id}" }, { path: "/b", passes: { encodedSlash: true } }],
    ],
    [
      "a catch-all would get the decoded path",
      "unread",
      [
        { path: "/a/{id}", passes: all },
        { path: "/{rest*}", protection: "key" },
      ],
    ],
    [
      "the decoded path is of a place that is protected otherwise",
      "unread",
      [
        { path: "/{x}", passes: all },
        { path: "/{x}/{y}", passes: all },
        { path: "/a/x/secret/{id}", protection: "key" },
      ],
    ],
    [
      "only another method has the decoded path, and guards it otherwise",
      "unread",
      [
        { path: "/a/{id}", passes: all },
        { path: "/a/{id}/{sub}", method: "POST", protection: "key" },
      ],
    ],
    [
      "only another method has the decoded path, with the same guards",
      '/a/{id} {"id":"x/y"}',
      [
        { path: "/a/{id}", passes: all },
        { path: "/a/{id}/{sub}", method: "POST" },
      ],
    ],
    [
      "the host has the decoded path",
      "unread",
      [
        { path: "/a/{id}", passes: all },
        { path: "/a/x/{y}", hosts: ["gw"], protection: "key" },
      ],
    ],
    [
      "a relation decides by a value that would be another one",
      "unread",
      [{ path: "/{area}/{rest*}", passes: all, decides: true }],
    ],
  ])("/a/x%%2Fy where %s: %s", (_, answer, drafts) => {
    expect(found(drafts, _.includes("value") ? "/a%2Fx/y" : "/a/x%2Fy")).toBe(answer)
  })

  test("a relation is not asked about an id that a backend would cut", () => {
    const orders = [{ path: "/orders/{id}", passes: all, decides: true }]
    expect(found(orders, "/orders/7;v=1")).toBe("unread")
    expect(found(orders, "/orders/7%3Bv")).toBe("unread")
    expect(found(orders, "/orders/7")).toBe('/orders/{id} {"id":"7"}')
  })
})

describe("behind a gateway", () => {
  let upstream: Upstream
  let running: Running

  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => response.end("reached"))
    running = await startGateway({
      backends: { main: upstream.url },
      routes: [{ path: "/v1/p/{id}", stripPrefix: "/v1", passes: all }, { path: "/v1/strict/{id}" }],
    })
  })
  afterAll(() => Promise.all([running.close(), upstream.close()]))

  test.each([
    ["/v1/p/a%2fb", 200, "/p/a%2Fb"],
    ["/v1/p/a;b=1?q=%2f;", 200, "/p/a;b=1?q=%2f;"],
    ["/v1/p/a%3bb", 200, "/p/a%3Bb"],
    ["/v1/p/..%2fb", 400, undefined],
    ["/v1/strict/a%2fb", 400, undefined],
    ["/v1/none/a%2fb", 400, undefined],
  ])("%s: %d, forwarded as it was sent", async (path, status, forwarded) => {
    upstream.requests.length = 0
    const answer = await sendRaw(running.port, `GET ${path} HTTP/1.1\r\nHost: gw\r\n\r\n`)
    expect([answer.status, upstream.requests[0]?.url]).toEqual([status, forwarded])
  })
})

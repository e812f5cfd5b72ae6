import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Hosted, HostRoutes } from "../../runtime/gateway/routes/host-routes.ts"
import { canonicalPath } from "../../runtime/policies/messages/canonical-path.ts"
import { type Random, randomOf } from "../diff/edits.ts"
import { firstSeed, reduced, scaled, tellAsked } from "../support/random-run.ts"
import { type Running, startGateway, startUpstream, type Upstream } from "./harness.ts"
import type { RouteDraft } from "./plan-builder.ts"

const key = {
  kind: "validate-key",
  api: "main",
  header: "x-key",
  query: null,
  status: 401,
  forward: false,
} as const

/** Ways to lay open routes beside the protected tree `/v1/secure`. */
const layouts: Record<string, RouteDraft[]> = {
  prefix: [
    { method: "*", path: "/v1/open/{rest*}" },
    { method: "*", path: "/v1/secure/{rest*}", inbound: [key] },
  ],
  "catch-all": [
    { method: "*", path: "/{rest*}" },
    { method: "*", path: "/v1/secure/{rest*}", inbound: [key] },
  ],
  overlap: [
    { method: "*", path: "/v1/{rest*}" },
    { method: "*", path: "/v1/{area}/{rest*}" },
    { method: "GET", path: "/v1/secure/{rest*}", inbound: [key] },
    { method: "GET", path: "/v1/secure", inbound: [key] },
  ],
  parameters: [
    { method: "*", path: "/{a}/{b}/{c}" },
    { method: "*", path: "/{a}/{b}" },
    { method: "GET", path: "/v1/secure/{id}", inbound: [key] },
    { method: "GET", path: "/v1/secure", inbound: [key] },
    { method: "POST", path: "/v1/Secure2/{id}", inbound: [key] },
  ],
  "parts of segments": [
    { method: "*", path: "/v1/{a}" },
    { method: "*", path: "/{x}-{y}/{rest*}" },
    { method: "*", path: "/v1/{a}/{b}" },
    { method: "*", path: "/v1/s{kind}" },
    { method: "GET", path: "/v1/secure{more}", inbound: [key] },
    { method: "GET", path: "/v1/secure{more}/{id}", inbound: [key] },
    { method: "GET", path: "/v1/secure/{id}", inbound: [key] },
    { method: "GET", path: "/v1/secure", inbound: [key] },
  ],
}

const seams = [
  "",
  ".",
  "..",
  "...",
  ";",
  ";x=1",
  "%3b",
  "%2f",
  "%5c",
  "\\",
  "/",
  "//",
  "/./",
  "/../v1/",
  "~",
  "%20",
  "%09",
  "%00",
  "%0a",
  "%ff",
  "%c0%ae",
  "%252e",
  "%252f",
  "%253b",
  "%2e",
  "%2e%2e",
  ".;",
  "..;",
  "%23",
  "%3f",
  "?",
  "#",
  "*",
  "&",
  "%26",
  ",",
  "%u002e",
]

const odds = [
  "/V1/SECURE/x",
  "/v1/\u017fecure/x",
  "/v1/%c5%bfecure/x",
  "/v1/%EF%BD%93ecure/x",
  "/v1/secure.",
  "/v1/secure/",
  "/v1/secure/.",
  "/v1/./secure",
  "http://gw/v1/secure/x",
  "http://gw/v1/./secure/x",
  "/v1/secure2/x",
  "/v1/SECURE2/x",
]

/** Every byte in several encodings, at every seam of the protected path, and the classics. */
function forms(): string[] {
  const pieces = [...seams]
  for (let code = 0x21; code < 0x100; code += 7) {
    const hex = code.toString(16).padStart(2, "0")
    pieces.push(`%${hex}`, `%25${hex}`, String.fromCharCode(code))
  }
  const found = new Set<string>()
  for (const piece of pieces) {
    for (const path of [
      `/v1/secure${piece}/x`,
      `/v1/${piece}secure/x`,
      `/v1${piece}/secure/x`,
      `/${piece}v1/secure/x`,
      `/${piece}/v1/secure/x`,
      `/v1/${piece}/secure/x`,
      `/v1/secure/${piece}`,
      `/v1/open/${piece}/secure/x`,
      `/v1/open/../${piece}secure/x`,
      `/v1${piece}secure/x`,
    ])
      found.add(path)
  }
  for (let at = 1; at < "/v1/secure".length; at += 1) {
    const character = "/v1/secure"[at] as string
    const hex = character.charCodeAt(0).toString(16)
    for (const form of [
      `%${hex}`,
      `%25${hex}`,
      character.toUpperCase(),
      `%${character.toUpperCase().charCodeAt(0).toString(16)}`,
    ])
      found.add(`${`/v1/secure`.slice(0, at) + form + `/v1/secure`.slice(at + 1)}/x`)
  }
  for (const odd of odds) found.add(odd)
  return [...found].filter((path) => !/[ \r\n\0]/.test(path))
}

/** Whether a careless backend could take a forwarded path for something in the protected tree. */
function liesInSecure(path: string, isSecure: (segment: string | undefined) => boolean): boolean {
  let local = (path.split(/[?#]/)[0] ?? "").replace(/^http:\/\/gw/, "")
  for (let round = 0; round < 3; round += 1) {
    const segments: string[] = []
    for (const raw of local.replaceAll("\\", "/").toLowerCase().split("/")) {
      const segment = raw.split(";")[0]?.trim() ?? ""
      if (segment === "..") segments.pop()
      else if (segment !== "" && segment !== ".") segments.push(segment)
    }
    if (segments[0] === "v1" && isSecure(segments[1])) return true
    local = local.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
  }
  return false
}

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => response.end("reached"))
})

afterAll(() => upstream.close())

const allForms = { encodedSlash: true, pathParameters: true, emptySegments: true } as const
const isSecureIn =
  (layout: string) =>
  (segment: string | undefined): boolean =>
    layout === "parts of segments" ? segment?.startsWith("secure") === true : segment === "secure"

describe.each(
  Object.entries(layouts).flatMap(([name, routes]) => [
    [name, "no forms", routes] as const,
    [name, "all forms", routes.map((route) => ({ ...route, passes: allForms }))] as const,
  ]),
)("beside the layout %s, with %s passed", (name, passed, routes) => {
  const isSecure = isSecureIn(name)
  let running: Running

  beforeAll(async () => {
    running = await startGateway({ backends: { main: upstream.url }, routes })
  })

  afterAll(() => running.close())

  test("no form of the path reaches the protected tree without a key", async () => {
    upstream.requests.length = 0
    // `npm test` asks for a quarter of them, another one beside each layout.
    const every = reduced(4, 1)
    const all = forms().filter((_, at) => (at + name.length + passed.length) % every === 0)
    expect(all.length).toBeGreaterThan(900 / every)
    for (let at = 0; at < all.length; at += 25) {
      await Promise.all(
        all
          .slice(at, at + 25)
          .flatMap((path) => [
            ask(running.port, "GET", path),
            at % 100 === 0 ? ask(running.port, "POST", path) : undefined,
          ]),
      )
    }
    const reached = upstream.requests.map(({ url }) => url).filter((path) => liesInSecure(path, isSecure))
    expect(reached).toEqual([])
    // The path in the log is the one that was forwarded.
    const forwarded = running.log.filter(({ target }) => target !== undefined).map(({ path }) => path)
    expect(forwarded.toSorted()).toEqual(upstream.requests.map(({ url }) => url.split("?")[0]).toSorted())
  })
})

const pieces = ["v1", "secure", "open", "x", "Secure2", "secure-x", "a", "..", ".", "", "%2e%2e", "%73ecure"]
const seamsBetween = [
  "/",
  "/",
  "/",
  "/",
  "%2F",
  "%2f",
  "//",
  ";/",
  ";x=1/",
  "%3b/",
  "/;",
  ";",
  "%252f",
  "%5c",
]

/** Paths of pieces and seams: most of them nearly lie in the protected tree. */
function randomPath(random: Random): string {
  const pick = (from: readonly string[]) => from[random(from.length)] as string
  let path = `/${random(10) < 8 ? "v1" : pick(pieces)}`
  for (let count = 1 + random(4); count > 0; count -= 1)
    path += pick(seamsBetween) + (random(10) < 3 ? "secure" : pick(pieces))
  return random(10) < 2 ? path + pick(seamsBetween) : path
}

test("none of many random paths is found by a route without a key and could be read as one in the protected tree", (context) => {
  const random = randomOf(firstSeed)
  const asked = { paths: 0, passed: 0 }
  for (const [name, drafts] of Object.entries(layouts)) {
    const routes = new HostRoutes<Hosted>()
    for (const { method = "GET", path, inbound } of drafts)
      routes.add({
        method,
        path,
        hosts: undefined,
        protection: inbound === undefined ? "" : "key",
        passes: allForms,
      })
    for (let count = scaled(200); count > 0; count -= 1) {
      const sent = randomPath(random)
      const path = canonicalPath(sent, routes.forms)
      const match = path === undefined ? undefined : routes.find("GET", path, "gw")
      asked.paths += 1
      if (path === undefined || match?.kind !== "found" || match.route.protection !== "") continue
      if (/%2F|;|\/\//.test(path)) asked.passed += 1
      if (liesInSecure(path, isSecureIn(name)))
        throw new Error(`${name}: ${sent} is found by ${match.route.path}`)
    }
  }
  tellAsked(context, asked)
  // That nothing is confused would be easy to say of nothing.
  expect(asked.passed / asked.paths).toBeGreaterThan(0.005)
})

function ask(port: number, method: string, path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("error", () => resolve())
    socket.on("close", () => resolve())
    socket.resume()
    socket.end(Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`, "latin1"))
  })
}

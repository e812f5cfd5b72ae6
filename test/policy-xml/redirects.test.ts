import { afterEach, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../gateway/harness.ts"
import { type Served, serveDocuments } from "./serving.ts"

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** Answers with the redirects of a table, `STATUS LOCATION` by path; what is not in it is the end. */
function leading(table: Readonly<Record<string, string>>): Answering {
  return (request, response) => {
    request.resume()
    request.on("end", () => {
      const [status = "200", location] = table[request.url ?? ""]?.split(" ") ?? []
      response.writeHead(Number(status), location === undefined ? {} : { location })
      response.end(`${request.method} ${request.url}`)
    })
  }
}

async function serve(table: Readonly<Record<string, string>>, base = ""): Promise<[Upstream, Served]> {
  const upstream = await startUpstream(leading(table))
  open.push(upstream)
  const served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000 }
backend b { url "${upstream.url}${base}" }
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; ANY "/{rest*}" {} }`,
    ],
    [
      "doc.xml",
      `<policies><inbound><base /></inbound><backend><forward-request follow-redirects="true" /></backend></policies>`,
    ],
  ])
  open.push(served)
  return [upstream, served]
}

const asked = ({ requests }: Upstream) => requests.map(({ method, url, body }) => `${method} ${url} ${body}`)

function ask({ url }: Served, method: string, path: string, body?: string): Promise<Response> {
  const headers = { authorization: "Bearer caller", "content-type": "text/plain" }
  return fetch(`${url}/a${path}`, {
    method,
    redirect: "manual",
    headers,
    ...(body === undefined ? {} : { body }),
  })
}

test("a redirect is followed, and the next one; the last answer is the answer", async () => {
  const [upstream, served] = await serve({ "/one?x=1": "302 /two?y=2", "/two?y=2": "301 three" })
  const response = await ask(served, "GET", "/one?x=1")
  expect([response.status, await response.text()]).toEqual([200, "GET /three"])
  expect(asked(upstream)).toEqual(["GET /one?x=1 ", "GET /two?y=2 ", "GET /three "])
  expect(upstream.requests.every(({ headers }) => headers.authorization === "Bearer caller")).toBe(true)
})

test.each([
  [301, "POST", "GET", ""],
  [302, "POST", "GET", ""],
  [303, "PUT", "GET", ""],
  [307, "POST", "POST", "text"],
  [308, "PUT", "PUT", "text"],
])("%i of a %s asks with %s", async (status, method, next, body) => {
  const [upstream, served] = await serve({ "/one": `${status} /two` })
  await ask(served, method, "/one", "text")
  expect(asked(upstream)).toEqual([`${method} /one text`, `${next} /two ${body}`])
})

test("another origin is not told who the caller is, nor what is outside of the backend's URL is taken for it", async () => {
  const other = await startUpstream(leading({}))
  open.push(other)
  const [upstream, served] = await serve(
    { "/base/one": `302 ${other.url}/there?z=1`, "/base/two": "302 /out" },
    "/base",
  )
  expect(await (await ask(served, "GET", "/one")).text()).toBe("GET /there?z=1")
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
  expect(await (await ask(served, "GET", "/two")).text()).toBe("GET /out")
  expect(asked(upstream)).toEqual(["GET /base/one ", "GET /base/two ", "GET /out "])
})

test("what leads round in circles is an error of the backend", async () => {
  const [upstream, served] = await serve({ "/one": "302 /one" })
  expect((await ask(served, "GET", "/one")).status).toBe(502)
  expect(upstream.requests.length).toBe(6)
})

test.each(["ftp://example.test/", "http://user:secret@example.test/", "http://["])(
  "%s is left to the caller",
  async (location) => {
    const [upstream, served] = await serve({ "/one": `302 ${location}` })
    const response = await ask(served, "GET", "/one")
    expect([response.status, response.headers.get("location")]).toEqual([302, location])
    expect(upstream.requests.length).toBe(1)
  },
)

import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { afterEach, expect, test } from "vitest"
import { type Answering, startUpstream, type Upstream } from "../../gateway/harness.ts"
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
  return [upstream, await before(`url "${upstream.url}${base}"`)]
}

async function before(backend: string, inbound = ""): Promise<Served> {
  const served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000 }
backend b { ${backend} }
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; ANY "/{rest*}" {} }`,
    ],
    [
      "doc.xml",
      `<policies><inbound><base />${inbound}</inbound><backend><forward-request follow-redirects="true" /></backend></policies>`,
    ],
  ])
  open.push(served)
  return served
}

/** The same by TLS, with a certificate of our own authority: its address, and what it was asked. */
async function startSecure(table: () => Readonly<Record<string, string>>) {
  const file = (name: string) => readFileSync(new URL(`../../gateway/certificates/${name}`, import.meta.url))
  const asked: string[] = []
  const server = createServer({ key: file("server.key"), cert: file("good.pem") }, (request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`)
    leading(table())(request, response, undefined as never)
  })
  server.on("tlsClientError", () => undefined)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  open.push({
    close: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
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

test("from https a redirect to http is left to the caller: nothing goes out unencrypted; one that stays with https is followed", async () => {
  const plain = await startUpstream(leading({}))
  open.push(plain)
  const secure = await startSecure(() => ({
    "/down": `302 ${plain.url}/there`,
    "/near": "307 /down",
    "/stay": `308 ${secure.url}/end`,
    "/scheme": `302 ${plain.url.replace("http:", "")}/there`,
  }))
  const served = await before(`url "${secure.url}"; tls { insecure }`)
  for (const path of ["/down", "/near"]) {
    const response = await ask(served, "GET", path)
    expect([response.status, response.headers.get("location")]).toEqual([302, `${plain.url}/there`])
  }
  expect(await (await ask(served, "GET", "/stay")).text()).toBe("GET /end")
  // A reference without a scheme keeps https: that port speaks no TLS.
  expect((await ask(served, "GET", "/scheme")).status).toBe(502)
  expect(plain.requests).toEqual([])
  expect(secure.asked).toEqual(
    ["/down", "/near", "/down", "/stay", "/end", "/scheme"].map((path) => `${path} Bearer caller`),
  )
})

test("from http one to https is followed, to a server whose certificate is believed", async () => {
  const secure = await startSecure(() => ({}))
  const [upstream, served] = await serve({ "/up": `302 ${secure.url}/there` })
  expect((await ask(served, "GET", "/up")).status).toBe(502)
  expect([asked(upstream), secure.asked]).toEqual([["GET /up "], []])
})

test("a Host that a document sets is told to the backend alone: not where it redirects to, nor to a service that gets a copy", async () => {
  const service = await startUpstream(leading({}))
  const upstream = await startUpstream(leading({ "/x": `302 ${service.url}/y` }))
  open.push(service, upstream)
  const served = await before(
    `url "${upstream.url}"`,
    `<set-header name="Host"><value>inner.example</value></set-header>
<send-request mode="copy" response-variable-name="r" ignore-error="false"><set-url>${service.url}/copy</set-url></send-request>`,
  )
  expect(await (await ask(served, "GET", "/x")).text()).toBe("GET /y")
  const hosts = ({ requests }: Upstream) => requests.map(({ url, headers }) => `${url} ${headers.host}`)
  const { host } = new URL(service.url)
  expect([hosts(upstream), hosts(service)]).toEqual([["/x inner.example"], [`/copy ${host}`, `/y ${host}`]])
})

import type { Socket } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { type RawAnswer, type Running, sendRaw, startGateway, startRawUpstream } from "./harness.ts"

interface Row {
  name: string
  /** What the backend writes after the head of a request has arrived. */
  answer: string | ((socket: Socket) => void)
  /** What the client gets; 0: a broken connection. */
  status: number[]
  method?: string
  request?: string
  absent?: string[]
  present?: Record<string, string>
  body?: string
  /** The answer breaks off: the client must be able to tell. */
  cut?: boolean
}

const ok = "HTTP/1.1 200 OK\r\n"
const long = "x".repeat(1024 * 1024)

const rows: Row[] = [
  { name: "a plain answer", answer: `${ok}Content-Length: 2\r\n\r\nhi`, status: [200], body: "hi" },
  {
    name: "Trailer beside Content-Length",
    answer: `${ok}Trailer: X-T\r\nContent-Length: 2\r\n\r\nhi`,
    status: [200],
    body: "hi",
    absent: ["trailer"],
  },
  {
    name: "trailers after chunks",
    answer: `${ok}Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nhi\r\n0\r\nX-T: 1\r\n\r\n`,
    status: [200],
    absent: ["trailer", "x-t"],
  },
  {
    name: "a trailer that would say where the answer ends",
    answer: `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Length: 999\r\n\r\n`,
    status: [200],
    absent: ["content-length: 999"],
  },
  {
    name: "hop-by-hop fields and nominated ones",
    answer: `${ok}Connection: keep-alive, X-Internal\r\nX-Internal: 1\r\nKeep-Alive: timeout=9\r\nProxy-Authenticate: x\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nTE: x\r\nContent-Length: 2\r\n\r\nhi`,
    status: [200],
    absent: ["x-internal", "proxy-authenticate", "proxy-connection", "upgrade", "te"],
  },
  {
    name: "Content-Length and chunked",
    answer: `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    status: [502],
  },
  {
    name: "two Content-Length",
    answer: `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`,
    status: [502],
  },
  {
    name: "two equal Content-Length",
    answer: `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`,
    status: [502],
  },
  { name: "a negative Content-Length", answer: `${ok}Content-Length: -2\r\n\r\nhi`, status: [502] },
  { name: "lines that end in LF", answer: `HTTP/1.1 200 OK\nContent-Length: 2\n\nhi`, status: [502] },
  { name: "a folded line", answer: `${ok}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\nhi`, status: [502] },
  { name: "a NUL in a value", answer: `${ok}X-A: b\0c\r\nContent-Length: 2\r\n\r\nhi`, status: [502] },
  { name: "a blank before the colon", answer: `${ok}X-A : b\r\nContent-Length: 2\r\n\r\nhi`, status: [502] },
  { name: "status 099", answer: "HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n", status: [502] },
  { name: "status 600", answer: "HTTP/1.1 600 What\r\nContent-Length: 0\r\n\r\n", status: [502] },
  { name: "status 999", answer: "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", status: [502] },
  { name: "status of two digits", answer: "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", status: [502] },
  {
    name: "an unasked 100",
    answer: `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
    status: [200, 502],
  },
  {
    name: "an unasked 101",
    answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbytes",
    status: [502],
  },
  {
    name: "a 103 before the answer",
    answer: `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
    status: [200],
    body: "hi",
    absent: ["link"],
  },
  {
    name: "304 with Content-Length",
    answer: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n',
    status: [304],
    body: "",
    present: { etag: '"a"' },
  },
  {
    name: "204 with Content-Length",
    answer: "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    status: [204],
    absent: ["content-length"],
  },
  {
    name: "204 with a body",
    answer: "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi",
    status: [204],
    body: "",
  },
  {
    name: "a body after HEAD",
    method: "HEAD",
    answer: `${ok}Content-Length: 2\r\n\r\nhi`,
    status: [200],
    body: "",
    present: { "content-length": "2" },
  },
  {
    name: "a body that is too short",
    answer: (socket) => socket.end(`${ok}Content-Length: 9\r\n\r\nhi`),
    status: [200],
    cut: true,
  },
  {
    name: "chunks without an end",
    answer: (socket) => socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n`),
    status: [200],
    cut: true,
  },
  {
    name: "a chunk size that is none",
    answer: `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n`,
    status: [200, 502],
    cut: true,
  },
  {
    name: "an extra answer",
    answer: `${ok}Content-Length: 2\r\n\r\nhi${ok}Content-Length: 4\r\n\r\nevil`,
    status: [200],
    body: "hi",
  },
  {
    name: "a header of a mebibyte",
    answer: `${ok}X-A: ${long}\r\nContent-Length: 2\r\n\r\nhi`,
    status: [502],
  },
  { name: "nothing, and closes", answer: (socket) => socket.end(), status: [502] },
  { name: "nothing, and resets", answer: (socket) => socket.resetAndDestroy(), status: [502] },
  {
    name: "half a head, and closes",
    answer: (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-"),
    status: [502],
  },
  {
    name: "a reset in the body",
    answer: (socket) => resetAfter(socket, `${ok}Content-Length: 9\r\n\r\nhi`),
    status: [200],
    cut: true,
  },
  { name: "rubbish", answer: "\x16\x03\x01\x00\x05hello", status: [502] },
  { name: "a body until the connection ends", answer: (socket) => socket.end(`${ok}\r\nhi`), status: [200] },
  { name: "HTTP/1.0", answer: (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nhi"), status: [200] },
  {
    name: "two Set-Cookie",
    answer: `${ok}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n`,
    status: [200],
    present: { "set-cookie": "a=1, b=2" },
  },
  {
    name: "413 while the client still sends",
    method: "POST",
    request: `Content-Length: 300000\r\n\r\n${"x".repeat(1000)}`,
    answer: "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno",
    status: [413],
    body: "no",
    present: { connection: "close" },
  },
  {
    name: "503 with Retry-After is not asked again",
    answer: "HTTP/1.1 503 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
    status: [503],
    present: { "retry-after": "1" },
  },
  {
    name: "a redirect is passed on",
    answer: "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n",
    status: [302],
    present: { location: "http://elsewhere/" },
  },
  {
    name: "bytes beyond ASCII in a value",
    answer: `${ok}X-A: \xe9\xff\r\nContent-Length: 0\r\n\r\n`,
    status: [200],
    present: { "x-a": "\xe9\xff" },
  },
]

function resetAfter(socket: Socket, text: string): void {
  socket.write(text)
  setTimeout(() => socket.resetAndDestroy(), 20)
}

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** The first request gets the row's answer, all later ones a good one. */
async function start(row: Row): Promise<{ running: Running; heads: string[] }> {
  const heads: string[] = []
  const upstream = await startRawUpstream((socket) => {
    let waiting = ""
    socket.on("data", (chunk) => {
      waiting += chunk.toString("latin1")
      const end = waiting.indexOf("\r\n\r\n")
      if (end === -1) return
      heads.push(waiting.slice(0, end))
      waiting = ""
      if (heads.length > 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
      else if (typeof row.answer === "string") socket.write(Buffer.from(row.answer, "latin1"))
      else row.answer(socket)
    })
  })
  const running = await startGateway({
    backends: { main: upstream.url },
    routes: [{ method: "*", path: "/{rest*}", timeoutMs: 3_000 }],
  })
  closers.push(
    () => running.close(),
    () => upstream.close(),
  )
  return { running, heads }
}

describe("a backend that answers with", () => {
  test.each(rows)("$name", async (row) => {
    const { running, heads } = await start(row)
    const head = `${row.method ?? "GET"} /first HTTP/1.1\r\nHost: gw\r\n`
    const answer = await sendRaw(running.port, `${head}${row.request ?? "\r\n"}`, 120)
    expect(row.status, answer.text.slice(0, 500)).toContain(answer.status)
    checkAnswer(answer, row)
    expect(heads.length).toBe(1)
    const next = await sendRaw(running.port, "GET /next HTTP/1.1\r\nHost: gw\r\n\r\n", 60)
    expect(next.status, next.text.slice(0, 500)).toBe(200)
    expect(next.body).toBe("next")
  })
})

function checkAnswer(answer: RawAnswer, row: Row): void {
  for (const name of row.absent ?? []) expect([...answer.headers.keys()]).not.toContain(name)
  for (const [name, value] of Object.entries(row.present ?? {})) expect(answer.headers.get(name)).toBe(value)
  if (row.body !== undefined) expect(answer.body).toBe(row.body)
  if (row.cut === true && answer.status === 200) {
    expect(answer.closed).toBe(true)
    expect(answer.body).not.toMatch(/0\r\n\r\n$/)
  }
  if (answer.status === 502) {
    const problem = JSON.parse(answer.body) as Record<string, unknown>
    expect(problem["type"]).toBe("urn:sallyport:problem:bad-gateway")
    expect(answer.body).not.toMatch(/UND_ERR|assert|socket|HPE|127\.0\.0\.1/)
  }
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { endWhole } from "../../runtime/http/server/end-whole.ts"
import { Authority } from "../support/certificates.ts"
import { until } from "../support/until.ts"

type Kind = "plain" | "TLS"

const folder = mkdtempSync(join(tmpdir(), "sallyport-end-whole-"))
let pair: { readonly cert: Buffer; readonly key: Buffer }
let ca: string
const closers: (() => unknown)[] = []

beforeAll(() => {
  const authority = new Authority(folder)
  const { cert, key } = authority.sign("server", ["localhost"])
  pair = { cert: readFileSync(cert), key: readFileSync(key) }
  ca = authority.pem
})

afterAll(() => rmSync(folder, { recursive: true }))

afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const bytes = Uint8Array.from({ length: 256 }, (_, code) => code)
const contents: readonly (readonly [name: string, content: Uint8Array | string])[] = [
  ["text", "grüße"],
  ["every byte", bytes],
  ["a part of a buffer", new Uint8Array(bytes.buffer, 65, 26)],
  ["nothing", ""],
  ["no bytes", new Uint8Array(0)],
  ["a hundred kilobytes of text", "ü".repeat(50_000)],
  ["a hundred kilobytes", new Uint8Array(100_000).fill(255)],
]

type Answer = (response: ServerResponse, url: string) => void

/** A server on a port of its own, and how its clients connect. */
async function serving(kind: Kind, answer: Answer): Promise<() => Socket> {
  const take = (request: IncomingMessage, response: ServerResponse) => answer(response, request.url ?? "")
  const server = kind === "TLS" ? createTlsServer(pair, take) : createServer(take)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const { port } = server.address() as AddressInfo
  return () =>
    kind === "TLS"
      ? connectTls({ port, host: "127.0.0.1", servername: "localhost", ca })
      : connect(port, "127.0.0.1")
}

/** What `answer` sends to as many clients as there are, each with its own requests; all of what each receives. */
async function received(kind: Kind, requests: readonly string[], answer: Answer): Promise<Buffer[]> {
  const open = await serving(kind, answer)
  return Promise.all(requests.map((sent) => readAll(open(), sent)))
}

async function readAll(socket: Socket, sent: string): Promise<Buffer> {
  socket.write(sent)
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

const lengthOf = (content: Uint8Array | string) => Buffer.byteLength(content)
const get = (path: number | string, last = true) =>
  `GET /${path} HTTP/1.1\r\nHost: a\r\n${last ? "Connection: close\r\n" : ""}\r\n`

function send(response: ServerResponse, url: string): void {
  const [, content = ""] = contents[Number(url.slice(1)) % contents.length] ?? []
  response.writeHead(200, ["content-length", String(lengthOf(content)), "date", "-"])
  endWhole(response, content)
}

const expected = (at: number, connection: string) => {
  const [, content = ""] = contents[at % contents.length] ?? []
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${lengthOf(content)}\r\ndate: -\r\nConnection: ${connection}\r\n`
  return Buffer.concat([
    Buffer.from(`${head}${connection === "close" ? "" : "Keep-Alive: timeout=5\r\n"}\r\n`),
    Buffer.from(content),
  ])
}

describe.each(["plain", "TLS"] as const)("%s", (kind) => {
  test.each(contents.map(([name], at) => [name, at] as const))("%s", async (_name, at) => {
    expect(await received(kind, [get(at)], send)).toEqual([expected(at, "close")])
  })

  test("a hundred clients in one turn get their own answers", async () => {
    const held: [ServerResponse, string][] = []
    const clients = Array.from({ length: 100 }, (_, at) => at % 5)
    const answers = await received(
      kind,
      clients.map((at) => get(at)),
      (response, url) => {
        held.push([response, url])
        if (held.length === clients.length) for (const each of held) send(...each)
      },
    )
    expect(answers).toEqual(clients.map((at) => expected(at, "close")))
  })

  test("requests sent at once on one connection are answered in their order, whichever is ready first", async () => {
    const held: [ServerResponse, string][] = []
    const [answers] = await received(
      kind,
      [get(0, false) + get(1, false) + get(5, false) + get(2)],
      (response, url) => {
        held.push([response, url])
        if (held.length === 4) for (const each of held.reverse()) send(...each)
      },
    )
    const inOrder = [
      expected(0, "keep-alive"),
      expected(1, "keep-alive"),
      expected(5, "keep-alive"),
      expected(2, "close"),
    ]
    expect(answers).toEqual(Buffer.concat(inOrder))
  })

  test("a client that has gone before its answer leaves takes none of the others' with it", async () => {
    const [gone, there] = await received(kind, [get(0), get(1)], (response, url) => {
      send(response, url)
      if (url === "/0") response.socket?.destroy()
    })
    expect([gone?.length, there]).toEqual([0, expected(1, "close")])
  })

  test("a response is one write", async () => {
    const writes: number[] = []
    const [answer] = await received(kind, [get(0)], (response, url) => {
      if (response.socket !== null) noteWrites(response.socket, writes)
      send(response, url)
    })
    expect([answer, writes]).toEqual([expected(0, "close"), [expected(0, "close").length]])
  })
})

test("a connection over TLS that closes while its response is written leaves it unfinished", async () => {
  const events: string[] = []
  await received("TLS", [get(0)], (response, url) => {
    response.on("finish", () => events.push("finish"))
    response.on("close", () => events.push(`close, finished: ${response.writableFinished}`))
    send(response, url)
    // After the write, and before the turn of the event loop in which TLS reports that it is done.
    setImmediate(() => response.socket?.destroy())
  })
  await until(() => events.length > 0)
  expect(events).toEqual(["close, finished: false"])
})

/** Notes the bytes of what is written to a connection, also that nothing was written. */
function noteWrites(socket: Socket, writes: number[]): void {
  const handle = (socket as unknown as { readonly _handle: Record<string, (...all: never[]) => unknown> })
    ._handle
  for (const name of ["writeLatin1String", "writeUtf8String", "writeBuffer"]) {
    const write = handle[name] as (this: unknown, request: object, content: string | Buffer) => number
    handle[name] = function (request: object, content: string | Buffer) {
      writes.push(Buffer.byteLength(content, name === "writeLatin1String" ? "latin1" : "utf8"))
      return write.call(this, request, content)
    }
  }
}

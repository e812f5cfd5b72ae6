import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, expect, test } from "vitest"
import { endWhole } from "../../runtime/http/server/end-whole.ts"

const closers: (() => unknown)[] = []

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

/** What `answer` sends to as many clients as there are, each with its own requests; all of what each receives. */
async function received(
  requests: readonly string[],
  answer: (response: ServerResponse, url: string) => void,
): Promise<Buffer[]> {
  const server = createServer((request, response) => answer(response, request.url ?? ""))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const { port } = server.address() as AddressInfo
  return Promise.all(requests.map((sent) => readAll(connect(port, "127.0.0.1"), sent)))
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

test.each(contents.map(([name], at) => [name, at] as const))("%s", async (_name, at) => {
  expect(await received([get(at)], send)).toEqual([expected(at, "close")])
})

test("a hundred clients in one turn get their own answers", async () => {
  const held: [ServerResponse, string][] = []
  const clients = Array.from({ length: 100 }, (_, at) => at % 5)
  const answers = await received(
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
  const [gone, there] = await received([get(0), get(1)], (response, url) => {
    send(response, url)
    if (url === "/0") response.socket?.destroy()
  })
  expect([gone?.length, there]).toEqual([0, expected(1, "close")])
})

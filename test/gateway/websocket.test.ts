import { createHash } from "node:crypto"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, describe, expect, test } from "vitest"
import { promptlyMs } from "../support/busy.ts"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"
import { type Running, sendRaw, startGateway, startRawUpstream, startUpstream } from "./harness.ts"
import { header, issuers, jwt, tokenOf, verifier } from "./one-route.ts"
import { planOf, type RouteDraft, type StepDraft } from "./plan-builder.ts"

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const key = "dGhlIHNhbXBsZSBub25jZQ=="
const acceptOf = (sent: string) =>
  createHash("sha1").update(`${sent}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")
const upgradeHead = (path = "/ws", more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: gw\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${more}\r\n`

/** A backend that takes upgrades and echoes what comes through them. */
async function startEcho(): Promise<{
  url: string
  heads: string[][]
  sockets: Set<Socket>
  server: Server
}> {
  const heads: string[][] = []
  const sockets = new Set<Socket>()
  const server = createServer((_request, response) => response.writeHead(403).end("no upgrade"))
  server.on("upgrade", (request, socket: Socket, head) => {
    heads.push(request.rawHeaders)
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-From: backend\r\nSec-WebSocket-Accept: ${acceptOf(String(request.headers["sec-websocket-key"]))}\r\n\r\nhello `,
    )
    if (head.length > 0) socket.write(head)
    socket.on("data", (chunk) => socket.write(chunk))
    socket.on("end", () => socket.end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads, sockets, server }
}

async function serve(url: string, route: Partial<RouteDraft> = {}): Promise<Running> {
  const draft = { backends: { main: url }, issuers, routes: [{ method: "*", path: "/ws", ...route }] }
  const running = await startGateway(draft, verifier)
  closers.push(() => running.close())
  return running
}

/** Opens a connection, and collects what comes. */
function open(port: number, bytes: string) {
  const socket = connect(port, "127.0.0.1")
  const client = { socket, text: "", closed: false }
  socket.on("data", (chunk) => {
    client.text += chunk.toString("latin1")
  })
  socket.on("error", () => undefined)
  socket.on("close", () => {
    client.closed = true
  })
  socket.write(bytes)
  closers.push(() => socket.destroy())
  return client
}

test("the tunnel opens when the backend has said 101; bytes pass both ways, and it is logged when it ends", async () => {
  const echo = await startEcho()
  const running = await serve(echo.url, {
    inbound: [header("x-added", "inbound")],
    outbound: [
      { kind: "set-header", message: "response", action: "set", name: "x-out", values: ["outbound"] },
    ],
  })
  const client = open(running.port, `${upgradeHead()}early`)
  await until(() => client.text.endsWith("hello early"))
  expect(client.text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  expect(client.text.toLowerCase()).toContain(`sec-websocket-accept: ${acceptOf(key).toLowerCase()}`)
  for (const line of ["x-from: backend", "x-out: outbound", "x-request-id: ", "upgrade: websocket"])
    expect(client.text.toLowerCase()).toContain(line)
  expect(echo.heads[0]).toContain("x-added")
  client.socket.write("more")
  await until(() => client.text.endsWith("hello earlymore"))
  expect(running.gateway.state().tunnels).toBe(1)
  expect(running.log).toEqual([])
  client.socket.end()
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ status: 101, aborted: false, bytesReceived: 9 })
  await until(() => client.closed)
  expect(running.gateway.state().tunnels).toBe(0)
})

describe("no tunnel", () => {
  test("without a valid token: 401, and the backend hears nothing", async () => {
    const echo = await startEcho()
    const running = await serve(echo.url, { inbound: [jwt] })
    const answer = await sendRaw(running.port, upgradeHead())
    expect([answer.status, answer.closed]).toEqual([401, true])
    expect(echo.heads).toEqual([])
  })

  test("any other answer of the backend is an answer", async () => {
    const refusing = await startUpstream((request, response) => {
      request.resume()
      response.writeHead(403, { "x-why": "no sockets" }).end("not here")
    })
    closers.push(() => refusing.close())
    const running = await serve(refusing.url)
    const answer = await sendRaw(running.port, upgradeHead())
    expect(answer.status).toBe(403)
    expect(answer.headers.get("x-why")).toBe("no sockets")
    expect(answer.text).toContain("not here")
  })

  test("a 101 that has not understood the upgrade: 502, and the connection is of no use", async () => {
    let smuggled = ""
    const liar = await startRawUpstream((socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
      )
      socket.on("data", (chunk) => {
        smuggled += chunk.toString()
      })
    })
    closers.push(() => liar.close())
    const running = await serve(liar.url)
    const answer = await sendRaw(running.port, `${upgradeHead()}GET /admin HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect([answer.status, answer.closed]).toEqual([502, true])
    expect(smuggled).not.toContain("/admin")
  })

  test.each([
    ["another version", upgradeHead().replace("Version: 13", "Version: 8"), 400],
    ["a key that is none", upgradeHead().replace(key, "short"), 400],
    ["a body", `${upgradeHead("/ws", "Content-Length: 2\r\n")}hi`, 400],
  ])("%s", async (_name, bytes, status) => {
    const echo = await startEcho()
    const running = await serve(echo.url)
    const answer = await sendRaw(running.port, bytes)
    expect([answer.status, answer.closed]).toEqual([status, true])
    expect(echo.heads).toEqual([])
  })

  test("`websocket off`", async () => {
    const echo = await startEcho()
    const running = await serve(echo.url, { websocket: null })
    expect((await sendRaw(running.port, upgradeHead())).status).toBe(501)
  })

  test("a step that needs the whole answer", async () => {
    const echo = await startEcho()
    const running = await serve(echo.url, {
      outbound: [{ kind: "find-replace", message: "response", from: "a", to: "b" }],
    })
    expect((await sendRaw(running.port, upgradeHead())).status).toBe(501)
    await until(() => [...echo.sockets].every((socket) => socket.destroyed))
  })

  test("no backend", async () => {
    const running = await serve(`http://127.0.0.1:${await freePort()}`)
    expect((await sendRaw(running.port, upgradeHead())).status).toBe(502)
  })
})

test("a Host that a step has set is the one the backend is told", async () => {
  const echo = await startEcho()
  const set: StepDraft = {
    ...{ kind: "set-header", message: "request", action: "set" },
    ...{ name: "host", values: ["inner.example"] },
  }
  const running = await serve(echo.url, { inbound: [set] })
  const client = open(running.port, upgradeHead())
  await until(() => client.text.includes("hello"))
  const [head = []] = echo.heads
  expect(head.filter((_, at) => head[at - 1]?.toLowerCase() === "host")).toEqual(["inner.example"])
})

test("a client that goes before the backend has answered is noticed, and the backend is let go", async () => {
  let asked: Socket | undefined
  let isLetGo = false
  const upstream = await startRawUpstream((socket) => {
    asked = socket
    socket.resume()
    socket.on("close", () => {
      isLetGo = true
    })
  })
  closers.push(() => upstream.close())
  const running = await serve(upstream.url)
  const client = open(running.port, upgradeHead())
  await until(() => asked !== undefined)
  client.socket.destroy()
  await until(() => isLetGo)
  await until(() => running.log.length === 1)
  expect(running.log[0]).toMatchObject({ aborted: true })
})

test("what a client says before the tunnel opens comes through it, in its order", async () => {
  let answer: (() => void) | undefined
  let text = ""
  const upstream = await startRawUpstream((socket) => {
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1")
    })
    answer = () =>
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
      )
  })
  closers.push(() => upstream.close())
  const running = await serve(upstream.url)
  const client = open(running.port, `${upgradeHead()}early `)
  await until(() => text.includes("\r\n\r\n"))
  client.socket.write("and later")
  await new Promise((resolve) => setImmediate(resolve))
  answer?.()
  await until(() => text.endsWith("early and later"))
})

describe("other upgrades are served as if nobody had asked", () => {
  test.each([
    [
      "h2c",
      "GET /ws HTTP/1.1\r\nHost: gw\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
      "",
    ],
    [
      "h2c with a body",
      "POST /ws HTTP/1.1\r\nHost: gw\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nbody",
      "body",
    ],
    [
      "websocket with POST",
      "POST /ws HTTP/1.1\r\nHost: gw\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 4\r\n\r\nbody",
      "body",
    ],
  ])("%s", async (_name, bytes, body) => {
    const upstream = await startUpstream()
    closers.push(() => upstream.close())
    const running = await serve(upstream.url)
    const twice = `${bytes}GET /ws HTTP/1.1\r\nHost: gw\r\n\r\n`
    const answer = await sendRaw(running.port, twice)
    expect(answer.status).toBe(200)
    await until(() => upstream.requests.length === 2)
    // Both are asked at once, each on a connection of its own.
    await until(() => upstream.requests.every(({ complete }) => complete))
    expect(upstream.requests.map((seen) => seen.body).sort()).toEqual(["", body])
    for (const seen of upstream.requests)
      expect(seen.rawHeaders.map((name) => name.toLowerCase())).not.toContain("upgrade")
  })
})

describe("what ends a tunnel", () => {
  test("the token's end, where it is said", async () => {
    const echo = await startEcho()
    const websocket = { idleMs: null, expireWithToken: true, closeWhenRemoved: false }
    const running = await serve(echo.url, { inbound: [{ ...jwt, claims: [] } as StepDraft], websocket })
    const exp = Math.floor((Date.now() + promptlyMs(2_000)) / 1000)
    const client = open(running.port, upgradeHead("/ws", tokenOf({ sub: "ann", exp })))
    await until(() => client.text.endsWith("hello "))
    await until(() => client.closed)
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(exp)
    expect(running.log[0]?.cause).toContain("token")
  })

  test("idleness, where it is said: when nothing has moved for that time, in neither direction", async () => {
    const echo = await startEcho()
    const idleMs = 2_000
    const running = await serve(echo.url, {
      websocket: { idleMs, expireWithToken: false, closeWhenRemoved: false },
    })
    const started = () => open(running.port, upgradeHead())
    const [silent, asking] = [started(), started()]
    let heardAtMs = 0
    let closedAfterMs = 0
    silent.socket.on("data", () => {
      heardAtMs = performance.now()
    })
    silent.socket.once("close", () => {
      closedAfterMs = performance.now() - heardAtMs
    })
    await until(() => [silent, asking].every(({ text }) => text.endsWith("hello ")))
    const before = new Set(echo.sockets)
    const told = started()
    await until(() => told.text.endsWith("hello "))
    const [teller] = [...echo.sockets].filter((socket) => !before.has(socket))
    const from = performance.now()
    while (performance.now() - from < 2.5 * idleMs) {
      asking.socket.write("?")
      teller?.write("!")
      await new Promise((resolve) => setTimeout(resolve, idleMs / 10))
    }
    expect([silent.closed, asking.closed, told.closed]).toEqual([true, false, false])
    expect(closedAfterMs).toBeGreaterThan(0.9 * idleMs)
    // Not when the time was looked at the second time, which is twice of it.
    expect(closedAfterMs).toBeLessThan(1.8 * idleMs)
    const ends = performance.now()
    await until(() => asking.closed && told.closed)
    expect(performance.now() - ends).toBeGreaterThan(0.8 * idleMs)
    expect(running.log.map(({ cause }) => cause)).toEqual(Array(3).fill("the tunnel was idle"))
  })

  test("an applied plan leaves it alone; without its route it ends only where it is said", async () => {
    const echo = await startEcho()
    const kept = { method: "*", path: "/kept" }
    const closing = {
      method: "*",
      path: "/closing",
      websocket: { idleMs: null, expireWithToken: false, closeWhenRemoved: true },
    }
    const draft = { backends: { main: echo.url }, issuers }
    const running = await startGateway({ ...draft, routes: [kept, closing, { path: "/x" }] })
    closers.push(() => running.close())
    const [one, other] = ["/kept", "/closing"].map((path) => open(running.port, upgradeHead(path))) as [
      ReturnType<typeof open>,
      ReturnType<typeof open>,
    ]
    await until(() => [one, other].every(({ text }) => text.endsWith("hello ")))
    await running.gateway.apply(
      planOf({ ...draft, port: running.port, routes: [kept, closing, { path: "/y" }] }),
    )
    for (const client of [one, other]) client.socket.write("still")
    await until(() => [one, other].every(({ text }) => text.endsWith("still")))
    expect(running.gateway.state().generations).toBe(1)
    await running.gateway.apply(planOf({ ...draft, port: running.port, routes: [{ path: "/y" }] }))
    await until(() => other.closed)
    one.socket.write("!")
    await until(() => one.text.endsWith("still!"))
  })

  test("the end of the process, after its grace", async () => {
    const echo = await startEcho()
    const running = await serve(echo.url)
    const client = open(running.port, upgradeHead())
    await until(() => client.text.endsWith("hello "))
    await running.gateway.close(50)
    await until(() => client.closed)
  })
})

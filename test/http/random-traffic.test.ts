import { createServer, type Socket } from "node:net"
import { expect, test } from "vitest"
import type { AnswerReceiver } from "../../runtime/http/client/connections.ts"
import { Http1Pool } from "../../runtime/http/client/http1/pool.ts"
import { Random } from "../naive/random.ts"
import { reduced } from "../support/random-run.ts"

const requests = reduced(1_000, 3_000)
const connectionsMax = 8
const atOnce = 40

/** What a backend does with a request. `broken`: its answer does not come whole. */
interface Play {
  readonly bytes: string
  readonly ends: boolean
  readonly broken: boolean
}

/** A random answer to the request of this path: its body names the path, so that an answer to somebody else is seen. */
function playOf(random: Random, path: string, isHead: boolean): Play {
  const body = path.repeat(random.below(400))
  const close = random.chance(5)
  const fields = `${close ? "Connection: close\r\n" : ""}X-Path: ${path}\r\n`
  const hint = random.chance(10) ? "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" : ""
  const whole = (bytes: string): Play => ({ bytes: hint + bytes, ends: close, broken: false })
  if (isHead || random.chance(5)) {
    const status = isHead ? "200 OK" : random.pick(["204 No Content", "304 Not Modified"])
    return whole(`HTTP/1.1 ${status}\r\n${fields}\r\n`)
  }
  const kind = random.below(20)
  if (kind === 0) return { bytes: "", ends: true, broken: true }
  if (kind === 1)
    return {
      bytes: `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${body.length + 9}\r\n\r\n${body}`,
      ends: true,
      broken: true,
    }
  if (kind === 2) return { bytes: `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`, ends: true, broken: false }
  if (kind < 11) {
    let chunks = ""
    for (let from = 0; from < body.length; ) {
      const piece = body.slice(from, from + 1 + random.below(700))
      chunks += `${piece.length.toString(16)}\r\n${piece}\r\n`
      from += piece.length
    }
    return whole(`HTTP/1.1 200 OK\r\n${fields}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
  }
  return whole(`HTTP/1.1 200 OK\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`)
}

/** Writes an answer in random pieces, with turns of the event loop between them. */
async function perform(random: Random, socket: Socket, { bytes, ends }: Play): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const piece = bytes.slice(from, from + 1 + random.below(bytes.length))
    socket.write(piece, "latin1")
    from += piece.length
    if (random.chance(50)) await new Promise((resolve) => setImmediate(resolve))
  }
  if (!ends) return
  if (random.chance(50)) socket.end()
  else socket.destroySoon()
}

class Asked implements AnswerReceiver {
  readonly isWanted = true
  readonly over: Promise<void>
  path = ""
  body = ""
  error: Error | undefined
  #tell: () => void = () => undefined

  constructor() {
    this.over = new Promise((resolve) => {
      this.#tell = resolve
    })
  }

  onConnect(): void {}

  onBegun(): void {}

  onHead(_status: number, fields: readonly string[]): void {
    this.path = fields[fields.indexOf("X-Path") + 1] ?? ""
  }

  onData(bytes: Buffer): boolean {
    this.body += bytes.toString("latin1")
    return true
  }

  onComplete(): void {
    this.#tell()
  }

  onError(error: Error): void {
    this.error = error
    this.#tell()
  }
}

/** A backend that answers at random, with what it played and how many connections it had at once. */
async function startBackend(random: Random) {
  const plays = new Map<string, Play>()
  const counts = { open: 0, most: 0 }
  const server = createServer((socket) => {
    counts.open += 1
    counts.most = Math.max(counts.most, counts.open)
    socket.on("close", () => {
      counts.open -= 1
    })
    socket.on("error", () => undefined)
    let text = ""
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1")
      if (!text.endsWith("\r\n\r\n")) return
      const [method = "", path = ""] = text.split(" ")
      text = ""
      const play = playOf(random, path, method === "HEAD")
      plays.set(path, play)
      void perform(random, socket, play)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  return { server, port, plays, counts }
}

/** Whether it came whole; then it must be its own request's. A request on a connection that ends at the same time may fail though the backend would have answered it. */
function judge(path: string, play: Play, asked: Asked): boolean {
  const shown = JSON.stringify({ path, play, asked })
  if (asked.error !== undefined) {
    expect(asked.path === "" || asked.path === path, shown).toBe(true)
    return false
  }
  expect(play.broken, shown).toBe(false)
  expect(asked.path, shown).toBe(path)
  expect(asked.body.replaceAll(path, ""), shown).toBe("")
  return true
}

test(`${requests} random answers: each to its own request, whole where they were sent whole`, async () => {
  const random = new Random(77_000_001)
  const { server, port, plays, counts } = await startBackend(random)
  const pool = new Http1Pool({
    endpoint: { hostname: "127.0.0.1", port, tls: undefined, connectMs: 60_000 },
    authority: "a",
    connectionsMax,
    idleMs: 60_000,
    ageMs: 60_000,
  })
  let next = 0
  let whole = 0
  const askOn = async () => {
    while (next < requests) {
      const path = `/${next}/`
      next += 1
      const asked = new Asked()
      pool.dispatch({ method: random.chance(5) ? "HEAD" : "GET", path, fields: [], body: null }, asked)
      await asked.over
      if (judge(path, plays.get(path) as Play, asked)) whole += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, askOn))
  await pool.close()
  server.close()
  expect(whole).toBeGreaterThan(requests * 0.7)
  expect(whole).toBeLessThan(requests * 0.95)
  // One that is ending and its successor may overlap at the backend.
  expect(counts.most).toBeLessThanOrEqual(2 * connectionsMax)
})

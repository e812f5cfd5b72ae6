import { createServer, type Server, type Socket } from "node:net"
import type {
  AnswerReceiver,
  Connections,
  Sending,
  SentRequest,
  UpstreamError,
} from "../../runtime/http/client/connections.ts"
import { Http1Pool, type PoolSettings } from "../../runtime/http/client/http1/pool.ts"
import { until } from "../support/until.ts"

/** What a test has opened: pools come before backends. */
export const closers: (() => Promise<unknown>)[] = []

/** Closes what a test has opened. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close()
}

interface Backend {
  readonly port: number
  /** Connections that were made, in their order. */
  readonly sockets: readonly Socket[]
  /** What arrived on all of them. */
  readonly received: () => string
}

/** A server that calls back with what arrived on a connection since its last answer. */
export async function startBackend(onBytes: (text: string, socket: Socket) => void): Promise<Backend> {
  const sockets: Socket[] = []
  let all = ""
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on("error", () => undefined)
    socket.on("data", (bytes) => {
      all += bytes.toString("latin1")
      onBytes(bytes.toString("latin1"), socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as { port: number }
  return { port, sockets, received: () => all }
}

export function poolFor(port: number, settings: Partial<PoolSettings> = {}): Http1Pool {
  const endpoint = { hostname: "127.0.0.1", port, tls: undefined, connectMs: 5_000 }
  const pool = new Http1Pool({
    endpoint,
    authority: `127.0.0.1:${port}`,
    connectionsMax: 4,
    idleMs: 60_000,
    ageMs: 60_000,
    ...settings,
  })
  closers.unshift(() => pool.destroy())
  return pool
}

/** How a request came out. */
export class Outcome implements AnswerReceiver {
  sending: Sending | undefined
  status = 0
  body = ""
  trailers: readonly string[] | undefined
  error: UpstreamError | undefined
  isWanted = true
  /** How often it was told that it is over. */
  endings = 0
  readonly #stops: number

  /** `stops`: after how many pieces of the body it asks to wait. */
  constructor(stops = Number.POSITIVE_INFINITY) {
    this.#stops = stops
  }

  onConnect(sending: Sending): void {
    this.sending = sending
  }

  onBegun(): void {}

  onHead(status: number): void {
    this.status = status
  }

  onData(bytes: Buffer): boolean {
    this.body += bytes.toString("latin1")
    return this.body.length < this.#stops
  }

  onComplete(trailers: readonly string[]): void {
    this.trailers = trailers
    this.endings += 1
  }

  onError(error: Error): void {
    this.error = error as UpstreamError
    this.endings += 1
  }
}

/** A request without anything. */
export const get: SentRequest = { method: "GET", path: "/", fields: [], body: null }
/** An answer of two bytes. */
export const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

/** Asks, and waits until it is over. */
export async function ask(pool: Connections, request: Partial<SentRequest> = {}): Promise<Outcome> {
  const outcome = new Outcome()
  pool.dispatch({ ...get, ...request }, outcome)
  await until(() => outcome.endings > 0)
  return outcome
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net"
import type { CheckAnswer, CheckRequest } from "../../runtime/check/ports.ts"
import { createGateway, type Gateway, type GatewayOptions } from "../../runtime/gateway/gateway.ts"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import { freePort } from "../support/free-port.ts"
import { authorizerOf } from "./authorizer.ts"
import { type PlanDraft, planOf } from "./plan-builder.ts"

/** A gateway serving a plan on a port of its own, with what it told its observer. */
export interface Running {
  readonly gateway: Gateway
  readonly port: number
  readonly url: string
  readonly log: Finished[]
  close(): Promise<void>
}

export type Draft = Omit<PlanDraft, "port"> & { port?: number }

/** A gateway without a plan, before an engine that denies everything. */
export function newGateway(options: Partial<GatewayOptions> & Pick<GatewayOptions, "folder">): Gateway {
  return createGateway({
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter(),
    authorizerOf: () =>
      authorizerOf(
        (_store: string, _request: CheckRequest): CheckAnswer => ({ allowed: false, revision: 0, stamp: "" }),
      ),
    observer: { finished: () => undefined },
    environment: {},
    ...options,
  })
}

export async function startGateway(draft: Draft, options: Partial<GatewayOptions> = {}): Promise<Running> {
  const port = draft.port ?? (await freePort())
  const log: Finished[] = []
  const gateway = newGateway({
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    observer: { finished: (finished) => log.push(finished) },
    folder: process.cwd(),
    ...options,
  })
  await gateway.apply(planOf({ ...draft, port }))
  return { gateway, port, url: `http://127.0.0.1:${port}`, log, close: () => gateway.close(0) }
}

/** An HTTP backend that remembers what it was asked. */
export interface Upstream {
  readonly url: string
  readonly port: number
  readonly requests: Seen[]
  close(): Promise<void>
}

export interface Seen {
  readonly method: string
  readonly url: string
  /** As on the wire. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage["headers"]
  body: string
  complete: boolean
}

export type Answering = (request: IncomingMessage, response: ServerResponse, seen: Seen) => void

/** Answers with what it saw, as JSON, unless told otherwise. */
export async function startUpstream(answer: Answering = echo): Promise<Upstream> {
  const requests: Seen[] = []
  const server = createServer((request, response) => {
    const { method = "", url = "", rawHeaders, headers } = request
    const seen: Seen = { method, url, rawHeaders, headers, body: "", complete: false }
    requests.push(seen)
    request.on("data", (chunk: Buffer) => {
      seen.body += chunk.toString("latin1")
    })
    request.on("end", () => {
      seen.complete = true
    })
    answer(request, response, seen)
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, port, requests, close: () => closeServer(server) }
}

function echo(request: IncomingMessage, response: ServerResponse, seen: Seen): void {
  request.on("end", () => {
    const body = JSON.stringify({
      method: seen.method,
      url: seen.url,
      headers: seen.headers,
      body: seen.body,
    })
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
  request.resume()
}

/** A backend of bytes: `answer` gets each connection. */
export async function startRawUpstream(
  answer: (socket: Socket, connections: number) => void,
): Promise<{ url: string; port: number; connections: () => number; close(): Promise<void> }> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    answer(socket, connections)
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return closeServer(server)
    },
  }
}

async function listen(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}

function closeServer(server: Server | TcpServer): Promise<void> {
  if ("closeAllConnections" in server) server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

export interface RawAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number
  readonly head: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly text: string
  /** Whether the gateway closed the connection. */
  readonly closed: boolean
}

/** An answer that is not whole is waited for: a machine with much to do is no silent gateway. */
const patienceMs = 10_000
/** Turns of the event loop without a byte before silence is believed. The other ends of the connections are in this process: what it had no time for comes first. */
const quietTurns = 20

/**
 * Sends bytes as they are and reads until the gateway closes, or is silent: for `settleMs` after a whole answer, to see that nothing follows it; for `quietMs`
 * where an answer has no end of its own (101).
 */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  quietMs = 250,
  settleMs = Math.min(quietMs, 15),
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const reading = new Reading(Buffer.from(bytes.slice(0, 5)).toString("latin1") === "HEAD ")
    const socket = connect(port, "127.0.0.1")
    let timer: NodeJS.Timeout | undefined
    const done = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parseAnswer(reading.text, closed))
    }
    const silent = (seen: number, turns: number) => {
      if (reading.bytes !== seen || socket.destroyed) return
      if (turns === 0) done(false)
      else setImmediate(silent, seen, turns - 1)
    }
    const wait = () => {
      clearTimeout(timer)
      const ms = { whole: settleMs, endless: quietMs, begun: Math.max(quietMs, patienceMs) }[reading.state]
      timer = setTimeout(() => silent(reading.bytes, quietTurns), ms)
    }
    socket.on("data", (chunk) => {
      reading.take(chunk)
      wait()
    })
    socket.on("error", () => done(true))
    socket.on("close", () => done(true))
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)
    wait()
  })
}

/** With trailers, where there are some. */
const lastChunk = /(?:^|\r\n)0\r\n(?:[^\r\n]+\r\n)*\r\n$/

/** What has come of an answer. */
class Reading {
  bytes = 0
  readonly #chunks: Buffer[] = []
  readonly #hasNoBody: boolean
  /** Where a body of known length ends. */
  #end: number | undefined
  #state: "begun" | "whole" | "endless" = "begun"

  /** `toHead`: the answer is one to HEAD. */
  constructor(toHead: boolean) {
    this.#hasNoBody = toHead
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("latin1")
  }

  get state(): "begun" | "whole" | "endless" {
    return this.#state
  }

  take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.bytes += chunk.length
    if (this.#end !== undefined && this.bytes < this.#end) return
    const { status, headers, body } = parseAnswer(this.text, false)
    if (status === 0) return
    const length = headers.get("content-length")
    if (status === 101) this.#state = "endless"
    else if (this.#hasNoBody || status === 204 || status === 304) this.#state = "whole"
    else if (headers.has("transfer-encoding")) this.#state = lastChunk.test(body) ? "whole" : "begun"
    else if (length !== undefined) {
      this.#end = this.bytes - body.length + Number(length)
      this.#state = this.bytes >= this.#end ? "whole" : "begun"
    }
  }
}

function parseAnswer(text: string, closed: boolean): RawAnswer {
  // 1xx come first and have no body; 101 is the last.
  const final = text.replace(/^(?:HTTP\/1\.1 1(?!01)\d\d [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)+/, "")
  const end = final.indexOf("\r\n\r\n")
  const head = end === -1 ? final : final.slice(0, end)
  const [statusLine = "", ...lines] = head.split("\r\n")
  const headers = new Map<string, string>()
  for (const line of lines) {
    const at = line.indexOf(":")
    const name = line.slice(0, at).toLowerCase()
    const value = line.slice(at + 1).trim()
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value)
  }
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0)
  return { status, head, headers, body: end === -1 ? "" : final.slice(end + 4), text, closed }
}

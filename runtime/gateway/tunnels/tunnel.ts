import type { ByteSocket } from "../../http/byte-socket.ts"
import type { UpgradedSocket } from "../../http/client/web-socket.ts"
import { type Problem, problem, Refused } from "../../policies/messages/answer.ts"
import type { Deadline, Timed } from "../backends/deadlines.ts"
import type { AnswerStream, Waiting } from "../exchange/answer-stream.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"

/** Maximum delay of a timer. */
const delayMaxMs = 2 ** 31 - 1

/**
 * A WebSocket (RFC 6455) as bytes between two connections: opened after the backend has responded with 101 and the outbound steps have run. The bytes
 * are neither read nor changed; when one side ends, the gateway ends the other.
 */
export class Tunnel implements AnswerStream, Timed {
  readonly #exchange: ExchangeState
  readonly #waiting: Waiting
  readonly #upstream: UpgradedSocket
  #idle: Deadline | undefined
  #cancelExpiry: (() => void) | undefined
  #movedAtMs = 0
  #open = false
  #over = false

  constructor(exchange: ExchangeState, waiting: Waiting, upstream: UpgradedSocket) {
    this.#exchange = exchange
    this.#waiting = waiting
    this.#upstream = upstream
    upstream.socket.on("error", () => this.close())
    upstream.socket.once("close", () => this.close())
  }

  /** Sends 101 to the client and joins the connections. */
  relay(): Problem | undefined {
    const exchange = this.#exchange
    const { response, upgrade } = exchange
    if (response === undefined || upgrade === undefined || this.#over || response.status !== 101)
      return problem("bad-gateway", { cause: "the client closed the upgrade before its response was ready" })
    const client = upgrade.socket
    const found = this.#sendHead(client)
    if (found !== undefined) return found
    this.#open = true
    exchange.tunnelKeeper?.tunnelOpened(this)
    client.on("error", () => this.close())
    client.once("close", () => this.close())
    this.#join({ socket: client, head: upgrade.takeOver() }, this.#upstream.socket, (bytes) => {
      exchange.tunnelReceived += bytes
    })
    this.#join(this.#upstream, client, (bytes) => {
      exchange.bytesSent += bytes
    })
    this.#watch()
    return undefined
  }

  collect(): Promise<Buffer> {
    const cause = "a step needs the complete body of a response that opens a tunnel"
    return Promise.reject(new Refused(problem("not-implemented", { cause })))
  }

  discard(): void {
    if (!this.#open) this.close()
  }

  fail(found: Problem): void {
    this.#exchange.cause ??= found.cause
    this.close()
  }

  /** Ends both sides. */
  close(): void {
    if (this.#over) return
    this.#over = true
    this.#waiting.deadlines.cancel(this.#idle)
    this.#cancelExpiry?.()
    this.#upstream.socket.destroySoon()
    if (!this.#open) return
    this.#exchange.upgrade?.socket.destroySoon()
    this.#exchange.tunnelKeeper?.tunnelEnded(this)
  }

  /** The idle time of the route may be over; checks whether bytes have moved since. */
  expired(): void {
    const { idleMs } = this.#exchange.webSocket ?? {}
    if (idleMs === undefined || idleMs === null) return
    const leftMs = this.#movedAtMs + idleMs - this.#waiting.clock.monotonic()
    if (leftMs > 0) {
      // Rounded up to hundredths of the idle time, so that many tunnels share few durations.
      const stepMs = Math.max(1, idleMs / 100)
      this.#idle = this.#waiting.deadlines.set(this, Math.ceil(leftMs / stepMs) * stepMs)
      return
    }
    this.#exchange.cause ??= "the tunnel was idle"
    this.close()
  }

  /** Writes the head of the 101 itself, because the socket is taken from Node's response. */
  #sendHead(client: ByteSocket): Problem | undefined {
    const exchange = this.#exchange
    const { flat } = (exchange.response as NonNullable<ExchangeState["response"]>).headers
    const fields = [...flat, ...exchange.answerLines, "x-request-id", exchange.id]
    const lines = ["HTTP/1.1 101 Switching Protocols", "connection: Upgrade", "upgrade: websocket"]
    for (let at = 0; at < fields.length; at += 2) {
      const line = `${fields[at]}: ${fields[at + 1]}`
      if (/[\r\n]/.test(line))
        return problem("bad-gateway", {
          cause: `the value of the header \`${fields[at]}\` contains a line break`,
        })
      lines.push(line)
    }
    exchange.upgrade?.detach()
    exchange.status = 101
    client.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"))
    return undefined
  }

  /** Passes bytes on in one direction; a slow receiver pauses the sender. */
  #join(from: UpgradedSocket, to: ByteSocket, count: (bytes: number) => void): void {
    const { socket, head } = from
    const pass = (chunk: Buffer) => {
      this.#movedAtMs = this.#waiting.clock.monotonic()
      count(chunk.length)
      if (!to.write(chunk)) socket.pause()
    }
    to.on("drain", () => socket.resume())
    socket.on("data", pass)
    socket.once("end", () => to.end())
    if (head.length > 0) pass(head)
    socket.resume()
  }

  /** Ends the tunnel when it is idle, or when its token expires. */
  #watch(): void {
    const { webSocket: plan, claims } = this.#exchange
    if (plan === undefined || plan === null) return
    if (plan.idleMs !== null) this.#idle = this.#waiting.deadlines.set(this, plan.idleMs)
    const expires = claims?.["exp"]
    if (!plan.expireWithToken || typeof expires !== "number") return
    const { clock } = this.#waiting
    const leftMs = Math.min(Math.max(0, expires * 1000 - clock.now()), delayMaxMs)
    this.#cancelExpiry = clock.alarm(leftMs, () => {
      this.#exchange.cause ??= "the token of the tunnel has expired"
      this.close()
    })
  }
}

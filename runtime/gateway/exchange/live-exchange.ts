import type { BackendHandle, Exchange, Mirror, SendOptions } from "../../policies/exchange.ts"
import { type Problem, problem, Refused } from "../../policies/messages/answer.ts"
import { BackendClient } from "../backends/backends.ts"
import { beginMirrors } from "../backends/mirror-call.ts"
import { UpstreamCall } from "../backends/upstream-call.ts"
import { TunnelCall } from "../tunnels/tunnel-call.ts"
import { ExchangeState } from "./exchange-state.ts"
import { LiveResponse } from "./live-response.ts"

/** Bodies up to this size are kept for a retry. */
const keptBytesMax = 64 * 1024

/** One request and its response, including the call to a backend. It holds the generation in which it began until its end. */
export class LiveExchange extends ExchangeState implements Exchange {
  #upstream: UpstreamCall | TunnelCall | undefined
  #mirrors: Mirror[] | undefined
  #hasMirrored = false

  /** Sends the request to a backend. The promise ends when the head of the response is there; undefined means success. */
  send(backend: BackendHandle, { timeoutMs, key }: SendOptions): Promise<Problem | undefined> {
    if (!(backend instanceof BackendClient)) throw new Error("this gateway has no such backend")
    const refusal = this.#refusalToSend()
    if (refusal !== undefined) return Promise.resolve(refusal)
    this.dropUpstream()
    // A partial body is not valid JSON, and may begin or end inside a text that a step searches for: a client could assemble hidden content from
    // parts.
    if (this.route?.readsAnswer === true) for (const name of ["range", "if-range"]) this.headers.remove(name)
    const sendMirrors = this.#beginMirrors()
    if (this.intake.wantsWebSocket) {
      const tunnel = new TunnelCall(this, backend, this.waiting, key)
      this.#upstream = tunnel
      return tunnel.send(timeoutMs)
    }
    const call = new UpstreamCall(this, backend, this.waiting, key)
    this.#upstream = call
    const sent =
      !this.reading && this.#isKept(backend)
        ? this.#keepBody().then((found) => found ?? call.send(timeoutMs))
        : call.send(timeoutMs)
    sendMirrors?.()
    return sent
  }

  mirrorTo(mirror: Mirror): void {
    if (this.#mirrors === undefined) this.#mirrors = [mirror]
    // A step may run again in a loop.
    else if (!this.#mirrors.includes(mirror)) this.#mirrors.push(mirror)
  }

  /** Begins the copies of the request, once. Returns what sends them, after the request itself. */
  #beginMirrors(): (() => void) | undefined {
    const mirrors = this.#mirrors
    if (mirrors === undefined || this.#hasMirrored) return undefined
    this.#hasMirrored = true
    return beginMirrors(this, mirrors, this.waiting.deadlines)
  }

  /** A body is kept when steps after the backend need it, and a small one when the backend's retries may need it. */
  #isKept({ retry }: BackendClient): boolean {
    const { body } = this.intake
    const keeps = this.route?.keepsBody ?? "never"
    if (body === "none") return false
    if (keeps === "always") return true
    const bytesMax = keeps === "small" ? this.generation.bufferBytesMax : keptBytesMax
    return (keeps === "small" || retry !== undefined) && typeof body === "number" && body <= bytesMax
  }

  /** Reads the body first, so that it can be repeated. */
  async #keepBody(): Promise<Problem | undefined> {
    try {
      await this.requestBody.loadRaw()
      return undefined
    } catch (error) {
      if (error instanceof Refused && error.answer.kind === "problem") return error.answer
      throw error
    }
  }

  #refusalToSend(): Problem | undefined {
    if (this.over || this.failed) return problem("gateway-timeout", { cause: "the request has ended" })
    if (!this.reading || this.outgoingBody !== undefined) return undefined
    return problem("bad-gateway", {
      cause: "the body of the request was already sent once, and not kept to be sent again",
    })
  }

  /** Cancels the call to a backend, and drops its response. `isLate`: because of a timeout. */
  dropUpstream(isLate = false): void {
    this.response?.drop()
    this.#upstream?.cancel(isLate)
    this.#upstream = undefined
  }

  respondWith(given: Parameters<Exchange["respondWith"]>[0]): void {
    this.dropUpstream()
    this.response = LiveResponse.whole(given, this.generation.jsonValuesMax)
  }

  override end(): void {
    this.#upstream?.cancel(false)
    super.end()
  }
}

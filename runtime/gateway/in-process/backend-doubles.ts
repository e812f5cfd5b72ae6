import type { Readable } from "node:stream"
import {
  type AnswerReceiver,
  type Connections,
  type SentRequest,
  UpstreamError,
} from "../../http/client/connections.ts"
import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingRequest,
  type OutgoingResponse,
} from "../../http/client/http-client.ts"
import type { OpeningWebSocket, UpgradeReceiver, UpgradeRequest } from "../../http/client/web-socket.ts"
import type { BackendSettings } from "../backends/backend-settings.ts"
import { Pools, type SharedPool } from "../backends/pools.ts"
import type { TargetPlace } from "../backends/target.ts"
import { Uploads } from "../exchange/uploads.ts"
import { PlayedUpgrade } from "./played-upgrade.ts"
import { deliverInTime, linesOf, type Stage } from "./stage.ts"
import type { VirtualClock } from "./virtual-clock.ts"
import type { BackendAnswer, FieldLine } from "./world.ts"

const uploadsMax = 256

/** Connections that end at the world instead of at a server. */
export class DoubledPools extends Pools {
  readonly #stage: Stage

  constructor(stage: Stage) {
    super(undefined, undefined, stage.clock)
    this.#stage = stage
  }

  override take(place: TargetPlace, settings: BackendSettings): SharedPool {
    const connections = this.connections(place, settings)
    return { connections, uploads: new Uploads(uploadsMax), release: () => undefined }
  }

  override connections(place: TargetPlace, { name }: BackendSettings): Connections {
    return new DoubledConnections(place, name, this.#stage)
  }

  override openWebSocket(
    place: TargetPlace,
    { name }: BackendSettings,
    request: UpgradeRequest,
    receiver: UpgradeReceiver,
  ): OpeningWebSocket {
    const upgrade = new PlayedUpgrade(request, receiver, this.#stage)
    void upgrade.run(place, name)
    return upgrade
  }
}

class DoubledConnections implements Connections {
  readonly #place: TargetPlace
  readonly #backend: string | undefined
  readonly #stage: Stage

  constructor(place: TargetPlace, backend: string | undefined, stage: Stage) {
    this.#place = place
    this.#backend = backend
    this.#stage = stage
  }

  dispatch(request: SentRequest, receiver: AnswerReceiver): void {
    void new Call(request, receiver, this.#stage).run(this.#place, this.#backend)
  }

  async close(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** One request to a backend. */
class Call {
  readonly #request: SentRequest
  readonly #receiver: AnswerReceiver
  readonly #stage: Stage
  #isOver = false
  #endWait: (() => void) | undefined

  constructor(request: SentRequest, receiver: AnswerReceiver, stage: Stage) {
    this.#request = request
    this.#receiver = receiver
    this.#stage = stage
  }

  /** As a connection does: the request is taken, its body is read, and the response follows. */
  async run({ origin, authority }: TargetPlace, backend: string | undefined): Promise<void> {
    const { method, path, fields, body } = this.#request
    // A connection never calls back before `dispatch` has returned.
    await undefined
    if (!this.#receiver.isWanted) return
    try {
      const headers = linesOf(fields)
      if (!headers.some(([name]) => name === "host")) headers.unshift(["host", authority])
      const content =
        body === null || Buffer.isBuffer(body) ? (body ?? Buffer.alloc(0)) : await this.#read(body)
      if (this.#isOver) return
      const asked = { backend, origin, method, target: path, headers, body: content }
      const played = this.#stage.play(asked)
      this.#answer(played instanceof Promise ? await this.#stage.clock.during(played) : played)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** The body belongs to the connection from its first byte on. */
  async #read(body: Readable): Promise<Buffer> {
    this.#connected()
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }

  #connected(): void {
    this.#receiver.onConnect({ resume: () => undefined, abort: (error) => this.#fail(error) })
  }

  #answer(answer: BackendAnswer): void {
    if (this.#isOver) return
    const isRefused = "failure" in answer && answer.failure === "refused"
    if (!isRefused && !isStream(this.#request.body)) this.#connected()
    this.#endWait = deliverInTime(answer, this.#stage.clock, (each) => this.#deliver(each))
  }

  #deliver(answer: BackendAnswer): void {
    if (this.#isOver) return
    if ("failure" in answer) {
      this.#fail(
        answer.failure === "refused"
          ? new UpstreamError("connect", "ECONNREFUSED: the backend refused the connection")
          : new UpstreamError("closed", "ECONNRESET: the backend closed the connection"),
      )
      return
    }
    const { status, headers = [], body = Buffer.alloc(0) } = answer
    const receiver = this.#receiver
    receiver.onBegun()
    receiver.onHead(status, fieldsWithLength(headers, body))
    if (body.length > 0 && this.#request.method !== "HEAD") receiver.onData(body)
    if (this.#isOver) return
    this.#isOver = true
    receiver.onComplete([])
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#endWait?.()
    this.#receiver.onError(error)
  }
}

function isStream(body: SentRequest["body"]): body is Readable {
  return body !== null && !Buffer.isBuffer(body)
}

function fieldsWithLength(headers: readonly FieldLine[], body: Buffer): string[] {
  const fields = headers.flat()
  const hasLength = headers.some(([name]) => name.toLowerCase() === "content-length")
  return hasLength ? fields : [...fields, "content-length", String(body.length)]
}

/** Requests of the gateway itself, to the world instead of to servers. */
export class DoubledHttp implements OutgoingHttp {
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async send(asked: OutgoingRequest): Promise<OutgoingResponse> {
    const { clock } = this.#stage
    const url = new URL(asked.url)
    const headers = linesOf(asked.headers)
    if (!headers.some(([name]) => name === "host")) headers.unshift(["host", url.host])
    const { method, body = Buffer.alloc(0) } = asked
    const target = url.pathname + url.search
    const request = { backend: undefined, origin: url.origin, method, target, headers, body }
    const played = this.#stage.play(request)
    const answer = played instanceof Promise ? await clock.during(played) : played
    const silent = "failure" in answer && answer.failure === "silent"
    const delayMs = silent ? Number.POSITIVE_INFINITY : (answer.delayMs ?? 0)
    if (delayMs > 0) await waited(clock, Math.min(delayMs, asked.timeoutMs), asked.signal)
    if (delayMs > asked.timeoutMs) throw new OutgoingError("timeout", `no response in ${asked.timeoutMs} ms`)
    if ("failure" in answer) throw new OutgoingError("unreachable", `${url.origin} cannot be reached`)
    return {
      status: answer.status,
      fields: (answer.headers ?? []).flatMap(([name, value]) => [name.toLowerCase(), value]),
      body: answer.body ?? Buffer.alloc(0),
    }
  }
}

function waited(clock: VirtualClock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve)
    signal?.addEventListener("abort", () => {
      cancel()
      reject(new OutgoingError("unreachable", "the request was aborted"))
    })
  })
}

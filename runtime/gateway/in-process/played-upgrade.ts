import {
  type OpeningWebSocket,
  type UpgradeReceiver,
  type UpgradeRequest,
  type UpgradeResponse,
  webSocketAccept,
} from "../../http/client/web-socket.ts"
import type { TargetPlace } from "../backends/target.ts"
import { PlayedConnection } from "./played-connection.ts"
import { deliverInTime, linesOf, type Stage } from "./stage.ts"
import { WholeMessage } from "./whole-message.ts"
import type { BackendAnswer, FieldLine } from "./world.ts"

/** A request for a WebSocket to a played backend. A response with status 101 accepts it. */
export class PlayedUpgrade implements OpeningWebSocket {
  readonly #request: UpgradeRequest
  readonly #receiver: UpgradeReceiver
  readonly #stage: Stage
  #isReached = false
  #isOver = false
  #endWait: (() => void) | undefined

  constructor(request: UpgradeRequest, receiver: UpgradeReceiver, stage: Stage) {
    this.#request = request
    this.#receiver = receiver
    this.#stage = stage
  }

  async run({ origin }: TargetPlace, backend: string | undefined): Promise<void> {
    // A connection never calls back before the request has been sent.
    await undefined
    if (this.#isOver) return
    try {
      const { path: target, fields } = this.#request
      const headers: FieldLine[] = [...linesOf(fields), ["connection", "Upgrade"], ["upgrade", "websocket"]]
      const body = Buffer.alloc(0)
      const played = this.#stage.play({ backend, origin, method: "GET", target, headers, body })
      this.#answer(played instanceof Promise ? await this.#stage.clock.during(played) : played)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  destroy(): void {
    queueMicrotask(() => this.#fail(failure("ECONNRESET", "the request was given up")))
  }

  #answer(answer: BackendAnswer): void {
    if (this.#isOver) return
    this.#isReached = !("failure" in answer && answer.failure === "refused")
    this.#endWait = deliverInTime(answer, this.#stage.clock, (each) => this.#deliver(each))
  }

  #deliver(answer: BackendAnswer): void {
    if (this.#isOver) return
    if ("failure" in answer) {
      const isRefused = answer.failure === "refused"
      this.#fail(
        isRefused
          ? failure("ECONNREFUSED", "the backend refused the connection")
          : failure("ECONNRESET", "the backend closed the connection"),
      )
      return
    }
    this.#isOver = true
    const { status, headers = [], body = Buffer.alloc(0) } = answer
    if (status === 101) this.#upgrade(headers, body)
    else this.#receiver.onResponse(new PlayedUpgradeResponse(status, headers, body))
  }

  /** With the fields of an upgrade, unless the backend sends its own. */
  #upgrade(headers: readonly FieldLine[], first: Buffer): void {
    const accept = webSocketAccept(this.#request.key)
    const own = headers.find(([name]) => name.toLowerCase() === "sec-websocket-accept")
    if (own !== undefined && own[1] !== accept) {
      this.#receiver.onFalseUpgrade()
      return
    }
    const socket = new PlayedConnection()
    this.#stage.upgraded(socket)
    const fields = [
      ...["connection", "Upgrade", "upgrade", "websocket"],
      ...(own === undefined ? ["sec-websocket-accept", accept] : []),
      ...headers.flat(),
    ]
    this.#receiver.onUpgrade({ socket, head: first }, fields)
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#endWait?.()
    this.#receiver.onError(error, this.#isReached)
  }
}

class PlayedUpgradeResponse extends WholeMessage implements UpgradeResponse {
  readonly statusCode: number
  readonly rawHeaders: string[]

  constructor(status: number, headers: readonly FieldLine[], body: Buffer) {
    super(body)
    this.statusCode = status
    const hasLength = headers.some(([name]) => name.toLowerCase() === "content-length")
    this.rawHeaders = [...headers.flat(), ...(hasLength ? [] : ["content-length", String(body.length)])]
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

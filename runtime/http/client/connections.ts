import type { Readable } from "node:stream"

/** A request for a backend. */
export interface SentRequest {
  readonly method: string
  /** Path and query, as they are sent. */
  readonly path: string
  /** Names in lower case and values in turn; without Connection and Transfer-Encoding. `host` only where it is not the origin's. */
  readonly fields: readonly string[]
  /** A stream without a `content-length` among the fields is sent in chunks. */
  readonly body: Buffer | Readable | null
}

/** A request on its connection. Both do nothing once the answer is over. */
export interface Sending {
  /** Goes on after an `onData` that answered false. */
  resume(): void
  /** Ends the connection; `error` is what the receiver is told. */
  abort(error: Error): void
}

/**
 * Is told of an answer: `onConnect`, perhaps `onBegun`, `onHead` and `onData`, and then either `onComplete` or `onError`, once; `onError` alone where
 * no connection took the request.
 */
export interface AnswerReceiver {
  /** False: nobody waits for the answer any more. What has no connection yet is dropped then, and nothing is told. */
  readonly isWanted: boolean
  /** A connection takes the request. */
  onConnect(sending: Sending): void
  /** The first byte of an answer is here. */
  onBegun(): void
  /** The head of the answer; not those of 1xx. `fields`: names as sent and values, in turn. */
  onHead(status: number, fields: readonly string[]): void
  /** Bytes of the body, which are the receiver's. False: wait for `resume`. */
  onData(bytes: Buffer): boolean
  /** The answer is over. `trailers`: names and values in turn. */
  onComplete(trailers: readonly string[]): void
  /** UpstreamError, or what the body of the request failed with. */
  onError(error: Error): void
}

/** Connections to one origin. */
export interface Connections {
  /** Never throws: what is wrong with the request is told to the receiver, too. */
  dispatch(request: SentRequest, receiver: AnswerReceiver): void
  /** Takes no more requests; resolves when those at work have ended. */
  close(): Promise<void>
  /** Ends all requests at once. */
  destroy(): Promise<void>
}

/** Why there is no answer, or not all of it. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError"
  /**
   * `connect`: there is no connection; `connect-timeout`: not in its time; `closed`: it was closed or reset; `protocol`: what came is not HTTP;
   * `request`: ours cannot be sent; `aborted`: by us.
   */
  readonly reason: "connect" | "connect-timeout" | "closed" | "protocol" | "request" | "aborted"
  /** The connection had answered before. */
  readonly reused: boolean

  /** `cause`: the system's error, where it is one. */
  constructor(reason: UpstreamError["reason"], message: string, reused = false, cause?: Error) {
    super(message, { cause })
    this.reason = reason
    this.reused = reused
  }
}

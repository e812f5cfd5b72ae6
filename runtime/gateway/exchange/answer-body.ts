import { endWhole } from "../../http/server/end-whole.ts"
import { cutOff } from "../../http/server/incoming.ts"
import { type Problem, problem, Refused } from "../../policies/messages/answer.ts"
import type { Deadline, Timed } from "../backends/deadlines.ts"
import type { AnswerSource, AnswerStream, Waiting } from "./answer-stream.ts"
import { type Compressed, Compressor, compressed } from "./compressed-answer.ts"
import type { ExchangeState } from "./exchange-state.ts"
import { grpcStatusIn } from "./grpc.ts"
import { endUnread, hasContent, unreadBody, withoutContent, writeHead } from "./reply.ts"

/** The rest of a discarded response is read up to this size, to keep the connection. */
const discardBytesMax = 64 * 1024
/** Bytes held until the response is used; after that the connection pauses. */
const heldBytesMax = 64 * 1024

/** Where the bytes go: held until the response is used, to the client, collected in memory, or discarded. */
type Sink = "hold" | "reply" | "collect" | "discard"

interface Collecting {
  readonly bytesMax: number
  readonly resolve: (content: Buffer) => void
  readonly reject: (error: Error) => void
}

/** Fields that a trailer must not contain: it is too late for framing, routing, authentication and content description (RFC 9110 §6.5.1). */
const forbiddenTrailers: ReadonlySet<string> = new Set([
  "authorization",
  "age",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "expires",
  "host",
  "keep-alive",
  "location",
  "proxy-authenticate",
  "retry-after",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "vary",
  "warning",
  "www-authenticate",
  "x-request-id",
])

const trailerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const controlCharacter = /[\u0000-\u0008\u000a-\u001f\u007f]/

/**
 * The body of a backend's response while it streams. A small body that is complete before it is used does not pause the connection, and head and body
 * are sent in one write.
 */
export class AnswerBody implements AnswerStream, Timed {
  readonly #exchange: ExchangeState
  readonly #waiting: Waiting
  readonly #source: AnswerSource
  /** Content-Length; -1: unknown. */
  readonly #length: number
  #sink: Sink = "hold"
  #held: Buffer[] = []
  #heldBytes = 0
  #received = 0
  #paused = false
  #collecting: Collecting | undefined
  #stall: Deadline | undefined
  /** The end was sent to the client. */
  #ended = false
  /** The response of the backend is complete or broke off. */
  #done = false
  #failure: Problem | undefined
  #trailers: readonly string[] = []
  #copy: PassingCopy | undefined
  /** Through which the body goes to the client when it is compressed. */
  #compressor: Compressor | undefined

  constructor(exchange: ExchangeState, waiting: Waiting, source: AnswerSource, length: number) {
    this.#exchange = exchange
    this.#waiting = waiting
    this.#source = source
    this.#length = length
  }

  /** Sends status, fields and body of the present response to the client. Returns the problem instead when the response failed before anything was sent. */
  relay(): Problem | undefined {
    if (this.#failure !== undefined) return this.#failure
    const exchange = this.#exchange
    const { response } = exchange
    if (response === undefined) return undefined
    const { status, headers } = response
    const isLeftOut = !hasContent(status) && response.body.present
    const unread = unreadBody(exchange)
    const coded = unread === "none" && hasContent(status) ? this.#coded(status, headers.flat) : undefined
    const lines = coded?.headers ?? (isLeftOut ? withoutContent(headers.flat) : headers.flat)
    if (isLeftOut && status === 205) lines.push("content-length", "0")
    const bodyless = exchange.method === "HEAD" || !hasContent(status)
    if (!writeHead(exchange, response, lines, unread === "large")) {
      this.discard()
      return undefined
    }
    if (bodyless || this.#length === 0) {
      this.#end()
      this.discard()
      return undefined
    }
    this.#sink = "reply"
    if (coded?.coding !== undefined) this.#compressor = new Compressor(exchange, coded.coding)
    if (exchange.keepsAnswer) this.#copy = new PassingCopy(exchange.generation.bufferBytesMax)
    // A head with `grpc-status` is the whole response of gRPC, and must end its stream by itself.
    if (exchange.isGrpc) exchange.grpcStatus = grpcStatusIn(headers.flat) ?? exchange.grpcStatus
    const isWhole = exchange.isGrpc && headers.get("grpc-status") !== undefined
    if (this.#held.length === 0 && !this.#done && this.#length === -1 && !isWhole)
      process.nextTick(flushHead, exchange)
    this.#passHeld()
    return undefined
  }

  #coded(status: number, headers: readonly string[]): Compressed | undefined {
    const length = this.#length === -1 && this.#done ? this.#heldBytes : this.#length
    return compressed(this.#exchange, { status, headers, length })
  }

  /**
   * Reads the whole body. Rejects with Refused when it is larger than `bytesMax` or breaks off. After relaying or discarding, only a complete copy
   * can be returned, if one was kept.
   */
  collect(bytesMax: number): Promise<Buffer> {
    if (this.#sink === "reply" || this.#sink === "discard") return this.#copied()
    return new Promise((resolve, reject) => {
      this.#collecting = { bytesMax, resolve, reject }
      this.#sink = "collect"
      if (this.#failure !== undefined) this.#collected(this.#failure)
      else if (Math.max(this.#heldBytes, this.#length) > bytesMax) this.#tooLarge(bytesMax)
      else if (this.#done) this.#collected(undefined)
      else this.#goOn()
    })
  }

  /** The rest is not needed: a small rest is read to keep the connection, a large one is cut off. */
  discard(): void {
    if (this.#sink === "discard") return
    this.#sink = "discard"
    this.#held = []
    this.#collected(problem("gateway-timeout", { cause: "the client no longer waits for the response" }))
    if (this.#done) return
    if (this.#length === -1 || this.#length > discardBytesMax) this.#source.cut()
    else this.#goOn()
  }

  /** Whether the delay is caused by the gateway or the client, not by the backend. */
  get isHeldUp(): boolean {
    return this.#paused || this.#stall !== undefined
  }

  /** Takes bytes from the backend; false: wait for `resume`. */
  push(chunk: Buffer): boolean {
    this.#received += chunk.length
    switch (this.#sink) {
      case "reply":
        return this.#pass(chunk)
      case "discard":
        if (this.#received > discardBytesMax) this.#source.cut()
        return true
      case "collect":
        this.#hold(chunk)
        if (this.#heldBytes > (this.#collecting?.bytesMax ?? 0))
          this.#tooLarge(this.#collecting?.bytesMax ?? 0)
        return true
      default:
        this.#hold(chunk)
        this.#paused = this.#heldBytes >= heldBytesMax
        return !this.#paused
    }
  }

  /** The response of the backend is complete. */
  complete(trailers: readonly string[]): void {
    this.#done = true
    this.#release()
    this.#trailers = trailers
    if (this.#exchange.isGrpc) this.#exchange.grpcStatus = grpcStatusIn(trailers) ?? this.#exchange.grpcStatus
    if (this.#sink === "collect") this.#collected(undefined)
    else if (this.#sink === "reply" && !this.#ended) this.#end()
  }

  /** The response broke off. */
  fail(found: Problem): void {
    this.#done = true
    this.#release()
    if (this.#ended || this.#sink === "discard") return
    this.#failure = found
    if (this.#sink === "reply") {
      // The head has been sent, so only a broken connection shows the client that the response is incomplete.
      this.#exchange.cut = true
      this.#exchange.cause ??= `the response of the backend was cut off: ${found.cause}`
      cutOff(this.#exchange)
    }
    this.#collected(found)
  }

  /** The client has not read in time. */
  expired(): void {
    this.fail(problem("gateway-timeout", { cause: "the client did not read the response in time" }))
    this.#source.cut()
  }

  readonly #onDrain = (): void => {
    this.#release()
    this.#source.resume()
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
  }

  #goOn(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resume()
  }

  /** Passes on what arrived before the head was sent. */
  #passHeld(): void {
    const content = this.#takeHeld()
    if (content === undefined) {
      if (this.#done) this.#end()
      else this.#goOn()
    } else if (this.#done && unreadBody(this.#exchange) === "none") {
      this.#sent(content)
      this.#ended = true
      passTrailers(this.#exchange, this.#trailers)
      if (this.#compressor !== undefined) this.#compressor.end(content)
      else if (this.#length === -1) this.#exchange.reply.end(content)
      else endWhole(this.#exchange.reply, content)
    } else {
      const taken = this.#pass(content)
      if (this.#done) {
        if (!this.#ended) this.#end()
      } else if (taken) this.#goOn()
    }
  }

  #takeHeld(): Buffer | undefined {
    const held = this.#held
    this.#held = []
    return held.length <= 1 ? held[0] : Buffer.concat(held)
  }

  /** Passes a piece on; false asks the sender to pause. A client that takes nothing for too long is cut. */
  #pass(chunk: Buffer): boolean {
    const { reply } = this.#exchange
    const compressor = this.#compressor
    this.#sent(chunk)
    if (this.#received === this.#length && unreadBody(this.#exchange) === "none") {
      this.#ended = true
      if (compressor === undefined) endWhole(reply, chunk)
      else compressor.end(chunk)
      return true
    }
    const taken = compressor?.write(chunk, this.#length === -1) ?? reply.write(chunk)
    if (taken || this.#done) return true
    this.#paused = false
    this.#stall ??= this.#waiting.deadlines.set(this, this.#waiting.patience.readerMs)
    if (compressor === undefined) reply.once("drain", this.#onDrain)
    else compressor.drained(this.#onDrain)
    return false
  }

  #sent(chunk: Buffer): void {
    // A compressor counts what it makes of it.
    if (this.#compressor === undefined) this.#exchange.bytesSent += chunk.length
    this.#copy?.add(chunk)
  }

  #copied(): Promise<Buffer> {
    const copy = this.#ended ? this.#copy?.whole : undefined
    if (copy !== undefined) return Promise.resolve(copy)
    return Promise.reject(
      new Refused(
        problem("bad-gateway", {
          cause:
            "the body of the response was already sent, and no copy was kept for the policy that reads it",
        }),
      ),
    )
  }

  #tooLarge(bytesMax: number): void {
    const cause = `the response of the backend has more than ${bytesMax} bytes, and a policy must read it completely`
    this.#collected(problem("bad-gateway", { cause }))
    this.#sink = "discard"
    this.#source.cut()
  }

  #collected(found: Problem | undefined): void {
    const collecting = this.#collecting
    if (collecting === undefined) return
    this.#collecting = undefined
    const content = this.#takeHeld()
    if (found !== undefined) collecting.reject(new Refused(found))
    else collecting.resolve(content ?? Buffer.alloc(0))
  }

  /** The end of the response. The rest of a request body that nobody reads is dropped or cuts the connection. */
  #end(): void {
    this.#ended = true
    const unread = unreadBody(this.#exchange)
    if (unread === "none") {
      // In HTTP/2 the end of the response also ends the request.
      this.#exchange.dropBody()
      passTrailers(this.#exchange, this.#trailers)
      if (this.#compressor === undefined) this.#exchange.reply.end()
      else this.#compressor.end()
      return
    }
    // The backend responded before it had read the body; the rest is not needed.
    this.#exchange.dropBody()
    endUnread(this.#exchange, undefined, unread)
  }

  #release(): void {
    this.#waiting.deadlines.cancel(this.#stall)
    this.#stall = undefined
  }
}

/**
 * A body of unknown length may arrive late (server-sent events), so the head is sent without waiting for it; not in the same turn, where it would
 * cost an extra packet.
 */
function flushHead(exchange: ExchangeState): void {
  const { reply } = exchange
  if (!reply.writableEnded && !reply.destroyed) reply.flushHeaders()
}

/** A copy of bytes that pass, up to a maximum size. */
class PassingCopy {
  readonly #bytesMax: number
  #chunks: Buffer[] | undefined = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) this.#chunks = undefined
    else this.#chunks?.push(chunk)
  }

  /** All bytes; undefined when there were too many. */
  get whole(): Buffer | undefined {
    return this.#chunks === undefined ? undefined : Buffer.concat(this.#chunks)
  }
}

/** Passes the backend's trailers to a client that accepts them (`TE: trailers`); for others they are dropped (RFC 9110 §6.5). */
function passTrailers({ intake, reply }: ExchangeState, trailers: readonly string[]): void {
  if (!intake.takesTrailers || trailers.length === 0 || !reply.headersSent) return
  const passed: [string, string][] = []
  for (let at = 0; at + 1 < trailers.length; at += 2) {
    const name = trailers[at] as string
    const value = trailers[at + 1] as string
    if (trailerName.test(name) && !forbiddenTrailers.has(name.toLowerCase()) && !controlCharacter.test(value))
      passed.push([name, value])
  }
  if (passed.length > 0) reply.addTrailers(passed)
}

import { endWhole } from "../../http/server/end-whole.ts"
import {
  type Answer,
  type CacheHit,
  type DirectAnswer,
  type Problem,
  problem,
} from "../../policies/messages/answer.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"
import { type Compressed, Compressor, compressed } from "./compressed-answer.ts"
import type { ExchangeState } from "./exchange-state.ts"
import { grpcAnswer, grpcStatusIn } from "./grpc.ts"
import { problemTable, type RenderedProblem, renderProblem } from "./problem.ts"

/** Unread bodies up to this size are read to the end to keep the connection; for a larger one the connection is closed. */
const drainBytesMax = 64 * 1024
const lingerMs = 1_000

/** Converts a problem or answer to one form. */
export function asAnswer(answer: Exclude<Answer, CacheHit>, exchange: ExchangeState): DirectAnswer {
  return answer.kind === "answer" ? answer : { kind: "answer", ...rendered(answer, exchange) }
}

/** A problem of an exchange in the gateway's format. */
export function rendered(
  found: Problem,
  { id, generation, scheme, authority, route, trace }: ExchangeState,
): RenderedProblem {
  const realm = `${scheme}://${authority}${route?.plan.stripPrefix ?? ""}`
  return renderProblem(found, id, generation.errors, { realm, traceId: trace?.traceId })
}

/** Sends a whole response. Nothing of it may have been sent before. */
export function sendAnswer(exchange: ExchangeState, given: DirectAnswer): void {
  const { reply } = exchange
  if (exchange.over || reply.headersSent) return
  const answer = exchange.isGrpc && given.status >= 400 ? grpcAnswer(given, problemText(exchange)) : given
  const unread = unreadBody(exchange)
  const isContent = hasContent(answer.status)
  const body = isContent ? answer.body : undefined
  const coded = codedAnswer(exchange, answer, unread)
  const lines =
    coded?.headers ??
    (isContent || (answer.body?.length ?? 0) === 0 ? [...answer.headers] : withoutContent(answer.headers))
  // RFC 9110 §15.3.6: a 205 shows by its length that it has no content.
  const isTrailersOnly = answer !== given
  if (isTrailersOnly) exchange.grpcStatus = grpcStatusIn(answer.headers)
  if (!isTrailersOnly && coded?.coding === undefined && (isContent || answer.status === 205))
    lines.push("content-length", String(body?.length ?? 0))
  if (!writeHead(exchange, answer, lines, unread === "large")) return
  const sent = exchange.method === "HEAD" ? undefined : body
  if (coded?.coding !== undefined && sent !== undefined) {
    new Compressor(exchange, coded.coding).end(sent)
    return
  }
  exchange.bytesSent = sent?.length ?? 0
  // For the log and metrics: over HTTP every response to gRPC has status 200.
  exchange.status = given.status
  if (unread === "none") {
    if (sent === undefined) reply.end()
    else endWhole(reply, sent)
    return
  }
  endUnread(exchange, sent, unread)
}

/** A whole response as it is compressed; undefined: it is not. While the client is still sending, it is sent at once. */
function codedAnswer(
  exchange: ExchangeState,
  { status, headers, body }: DirectAnswer,
  unread: ReturnType<typeof unreadBody>,
): Compressed | undefined {
  if (body === undefined || unread !== "none" || !hasContent(status)) return undefined
  return compressed(exchange, { status, headers, length: body.length })
}

/** What a problem says to its client; empty when a step responded. */
function problemText({ problem: name, problemMessage }: ExchangeState): string {
  return problemMessage ?? (name === undefined ? "" : problemTable[name].detail)
}

/** Whether a response with this status has content (RFC 9110 §6.4.1). */
export function hasContent(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** The fields of a response whose status allows no content, without those that describe the omitted content (RFC 9110 §8.6, §15.4.5). */
export function withoutContent(headers: readonly string[]): string[] {
  const list = new HeaderList([...headers])
  for (const name of ["content-type", "content-length", "content-encoding"]) list.remove(name)
  return list.flat
}

/** Sends a response that replaces the backend's. */
export function sendDirect(exchange: ExchangeState, answer: DirectAnswer): void {
  if (exchange.over || exchange.reply.headersSent) return
  exchange.direct = answer
  sendAnswer(exchange, answer)
}

/** The status line of a response. */
export interface Head {
  readonly status: number
  /** Undefined: the standard phrase. */
  readonly reason?: string | undefined
}

/** Writes status and fields, with those that every response has. False when they are invalid; an internal error was sent instead. */
export function writeHead(exchange: ExchangeState, head: Head, lines: string[], close: boolean): boolean {
  const { reply, answerLines } = exchange
  const { status, reason } = head
  for (const line of answerLines) lines.push(line)
  lines.push("x-request-id", exchange.id)
  const { strictTransport } = exchange.listener.transport
  if (strictTransport !== undefined) addStrictTransport(lines, strictTransport)
  if (close || exchange.listener.closing) lines.push("connection", "close")
  exchange.status = status
  try {
    if (reason === undefined) reply.writeHead(status, lines)
    else reply.writeHead(status, reason, lines)
    return true
  } catch (error) {
    exchange.cause = `the header of the response cannot be written: ${error instanceof Error ? error.message : String(error)}`
    exchange.problem = "bad-gateway"
    exchange.status = 502
    const failure = renderProblem(problem("bad-gateway"), exchange.id, exchange.generation.errors, {
      traceId: exchange.trace?.traceId,
    })
    const { body, headers } = failure
    reply.writeHead(502, [...headers, "content-length", String(body.length), "connection", "close"])
    reply.end(exchange.method === "HEAD" ? undefined : body)
    return false
  }
}

/** Browsers use only the first Strict-Transport-Security field (RFC 6797 §8.1), so the listener's replaces that of the backend. */
function addStrictTransport(lines: string[], value: string): void {
  for (let at = lines.length - 2; at >= 0; at -= 2)
    if ((lines[at] as string).toLowerCase() === "strict-transport-security") lines.splice(at, 2)
  lines.push("strict-transport-security", value)
}

/** How much of the client's body is unread. A client that waits for `100 Continue` may never send it, and then the connection cannot be reused. */
export function unreadBody(exchange: ExchangeState): "none" | "small" | "large" {
  const { intake, request, refused } = exchange
  // In HTTP/2 the rest of a body concerns only its stream, which ends with the response.
  if (request.isHttp2 === true) return "none"
  if (refused) return "large"
  if (request.complete || intake.body === "none") return "none"
  return typeof intake.body === "number" && intake.body <= drainBytesMax && exchange.continued
    ? "small"
    : "large"
}

/**
 * Ends a response sent before the request's body was read. Closing at once would reset the connection, and the client might lose the response that
 * explains the refusal (RFC 9112 §9.6). Therefore the gateway reads and discards incoming bytes for a moment.
 */
export function endUnread(
  exchange: ExchangeState,
  body: Buffer | undefined,
  unread: "small" | "large",
): void {
  const { request, reply } = exchange
  const { socket } = request
  const giveUp = setTimeout(() => {
    if (unread === "large") reply.end()
    socket.destroySoon()
  }, lingerMs).unref()
  const ended = () => {
    clearTimeout(giveUp)
    reply.end()
  }
  let read = 0
  request.on("data", (chunk: Buffer) => {
    read += chunk.length
    if (read > 16 * drainBytesMax) socket.destroy()
  })
  request.once("end", ended)
  request.once("close", () => clearTimeout(giveUp))
  request.resume()
  if (unread === "small") reply.end(body)
  else if (body === undefined) reply.flushHeaders()
  else reply.write(body)
}

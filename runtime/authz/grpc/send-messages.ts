import { grpcMessage } from "../../http/grpc.ts"
import type { Reply } from "../../http/server/incoming.ts"
import type { AnswerHeaders, ApiResponse } from "../answer.ts"
import { allowedJson, deniedJson } from "../check.ts"
import type { Reports } from "../ports.ts"
import { newRequestId, noteFailure } from "../send-answer.ts"
import { frameOf } from "./frames.ts"
import type { MessageCodec } from "./message-codec.ts"
import { type CallStatus, callStatusOf } from "./status.ts"

type Trailers = [name: string, value: string][]

const contentType = ["content-type", "application/grpc"]
const ok: CallStatus = { code: 0, message: "" }
const okTrailers: Trailers = [["grpc-status", "0"]]

/** Sends the only message of a response, with its prefix and its status. */
export function sendMessage(
  reply: Reply,
  frame: Uint8Array,
  headers: AnswerHeaders,
  trailers: Trailers = [],
): void {
  open(reply, headers)
  reply.addTrailers(trailers.length === 0 ? okTrailers : [...okTrailers, ...trailers])
  reply.end(frame)
}

/** Sends a piece of a stream of messages. False: wait for `drain`. */
export function sendMessages(reply: Reply, frames: Uint8Array): boolean {
  if (!reply.headersSent) open(reply, [])
  return reply.write(frames)
}

/** Ends a stream of messages. */
export function endMessages(reply: Reply, status = ok): void {
  if (!reply.headersSent) open(reply, [])
  reply.addTrailers(trailersOf(status))
  reply.end()
}

/** Sends the status of a failed call: in the head of the response, if that was not sent yet ("Trailers-Only"). */
export function sendFailure(reply: Reply, error: unknown, reports: Reports): void {
  const requestId = newRequestId()
  noteFailure(reply, error, reports, requestId)
  const status = callStatusOf(error)
  if (reply.headersSent) {
    endMessages(reply, status)
    return
  }
  const fields = trailersOf(status).flat()
  reply.writeHead(200, [...contentType, "x-request-id", requestId, ...fields])
  reply.end()
}

function open(reply: Reply, headers: AnswerHeaders): void {
  reply.writeHead(200, [...contentType, "x-request-id", newRequestId(), ...headers])
}

function trailersOf({ code, message }: CallStatus): Trailers {
  const status: Trailers = [["grpc-status", String(code)]]
  return message === "" ? status : [...status, ["grpc-message", grpcMessage(message)]]
}

/** The messages of the most frequent responses, with their prefixes. Nobody changes them. */
const checks = new Map<string, Uint8Array>()

/** The message of a resource's response, with its prefix. */
export function framed(codec: MessageCodec, answer: ApiResponse): Uint8Array {
  const { body } = answer
  const isCheck = body === allowedJson || body === deniedJson
  const known = isCheck ? checks.get(body) : undefined
  if (known !== undefined) return known
  const frame = frameOf(codec.encode(jsonOf(answer)))
  if (isCheck) checks.set(body, frame)
  return frame
}

/** Resources return JSON in several forms; a response without a body is an empty message. */
function jsonOf({ body, bytes, pieces }: ApiResponse): object {
  if (typeof body === "object") return body
  if (body !== undefined) return JSON.parse(body) as object
  if (bytes !== undefined) return JSON.parse(Buffer.from(bytes).toString("utf8")) as object
  if (pieces === undefined) return {}
  const all = [...pieces].map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece))
  return JSON.parse(Buffer.concat(all).toString("utf8")) as object
}

/** Sends lines as messages, as fast as the client reads them. */
export function streamLines(
  reply: Reply,
  lines: Iterable<string>,
  codec: MessageCodec,
  headers: AnswerHeaders,
): void {
  open(reply, headers)
  const source = lines[Symbol.iterator]()
  const pump = (): void => {
    while (!reply.destroyed && !reply.writableEnded) {
      const piece = source.next()
      const { frames, failure } = piece.done === true ? atEnd : framesOf(piece.value, codec)
      const isFlowing = frames.length === 0 || reply.write(frames)
      if (failure !== undefined) endMessages(reply, failure)
      else if (!isFlowing) return
    }
  }
  // In a new turn: otherwise, while the socket accepts everything, this loop would block the event loop.
  reply.on("drain", () => setImmediate(pump))
  pump()
}

interface Frames {
  readonly frames: Uint8Array
  /** The stream ends with this status. */
  readonly failure?: CallStatus
}

const atEnd: Frames = { frames: Buffer.alloc(0), failure: ok }

/** The messages of some lines: `{"result": …}`, or at the end `{"error": {"code", "message"}}` with a code of gRPC. */
function framesOf(text: string, codec: MessageCodec): Frames {
  const frames: Buffer[] = []
  for (const line of text.split("\n")) {
    if (line === "") continue
    const { result, error } = JSON.parse(line) as { result?: object; error?: CallStatus }
    if (error !== undefined) return { frames: Buffer.concat(frames), failure: error }
    if (result !== undefined) frames.push(frameOf(codec.encode(result)))
  }
  return { frames: Buffer.concat(frames) }
}

import { grpcMessage, isGrpcMedia } from "../../http/grpc.ts"
import type { IncomingRequest } from "../../http/server/incoming.ts"
import type { DirectAnswer } from "../../policies/messages/answer.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"

/** Whether a request is a call of gRPC, which exists only over HTTP/2. */
export function isGrpc({ isHttp2 }: IncomingRequest, headers: HeaderList): boolean {
  return isHttp2 === true && isGrpcMedia(headers.get("content-type"))
}

/**
 * A response of the gateway as clients of gRPC read it: HTTP status 200, and the outcome in `grpc-status` (gRPC over HTTP/2, "Trailers-Only").
 * `message` is for people.
 */
export function grpcAnswer({ status, headers }: DirectAnswer, message: string): DirectAnswer {
  const fields = new HeaderList([...headers])
  for (const name of ["content-type", "content-length", "content-encoding"]) fields.remove(name)
  return {
    kind: "answer",
    status: 200,
    headers: [
      ...["content-type", "application/grpc", "grpc-status", String(grpcStatusOf(status))],
      ...["grpc-message", grpcMessage(message), ...fields.flat],
    ],
    body: undefined,
  }
}

/** Codes of gRPC by HTTP status. 401, 403, 404, 502 and 503 are as clients read them without `grpc-status`; the others say more. */
const statuses: ReadonlyMap<number, number> = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 12],
  [405, 12],
  [408, 4],
  [410, 12],
  [412, 9],
  [413, 8],
  [414, 3],
  [415, 12],
  [417, 3],
  [429, 8],
  [431, 8],
  [500, 13],
  [501, 12],
  [502, 14],
  [503, 14],
  [504, 4],
])
const unknownStatus = 2
const statusMax = 16

/** The value of `grpc-status` in fields (names and values alternate), as clients read it: a value that is no code is UNKNOWN. Undefined: it is missing. */
export function grpcStatusIn(fields: readonly string[]): number | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toLowerCase() !== "grpc-status") continue
    const value = fields[at + 1] as string
    return /^\d{1,2}$/.test(value) && Number(value) <= statusMax ? Number(value) : unknownStatus
  }
  return undefined
}

/**
 * Codes that are failures of the server, by OpenTelemetry's conventions for spans of gRPC servers: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL,
 * UNAVAILABLE and DATA_LOSS. The others say that the client has made a mistake or may not, like 400 to 499 of HTTP.
 */
const serverFailures: ReadonlySet<number> = new Set([2, 4, 12, 13, 14, 15])

/** Whether a call of gRPC failed on the server. Without a status, clients read UNKNOWN. */
export function isServerFailure(grpcStatus: number | undefined): boolean {
  return serverFailures.has(grpcStatus ?? unknownStatus)
}

/** The outcome of a failed call as the kind of an error in spans: `grpc 13`. */
export function grpcError(grpcStatus: number | undefined): string {
  return `grpc ${grpcStatus ?? unknownStatus}`
}

/** The code of gRPC for a status of HTTP. */
export function grpcStatusOf(httpStatus: number): number {
  return statuses.get(httpStatus) ?? unknownStatus
}

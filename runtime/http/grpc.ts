/** Parts of gRPC over HTTP/2 that the gateway and the engine share (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md). */

/** Not gRPC-Web, whose clients read the status from the body. */
const grpcMedia = /^application\/grpc(?:[+;]|$)/i
const timeoutPattern = /^(\d{1,8})([HMSmun])$/

/** Milliseconds of each unit of `grpc-timeout`. */
const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** Whether the value of Content-Type is that of gRPC. */
export function isGrpcMedia(contentType: string | undefined): boolean {
  return contentType !== undefined && grpcMedia.test(contentType)
}

/** The time that `grpc-timeout` gives a call, in milliseconds and at least 1; undefined without a valid value. */
export function grpcTimeoutMs(text: string | undefined): number | undefined {
  const [, amount, unit = ""] = timeoutPattern.exec(text ?? "") ?? []
  if (amount === undefined) return undefined
  return Math.max(1, Math.ceil(Number(amount) * (unitMs[unit] ?? 0)))
}

/** The form of `grpc-message`: printable ASCII, and the rest of the UTF-8 bytes as `%XX`. */
export function grpcMessage(text: string): string {
  return [...Buffer.from(text, "utf8")]
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || byte === 0x25
        ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
        : String.fromCharCode(byte),
    )
    .join("")
}

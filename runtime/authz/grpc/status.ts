import { ApiError, type ApiErrorCode, apiErrorOf } from "../api-error.ts"
import { registry } from "./descriptors.ts"
import { MalformedMessage } from "./wire-values.ts"

/** Codes of gRPC (google.rpc.Code). */
const grpcCode = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const

/** An error with a code of gRPC of its own, which HTTP does not show. */
class GrpcError extends ApiError {
  readonly grpcCode: number

  constructor(grpc: keyof typeof grpcCode, code: ApiErrorCode, message: string) {
    super(code, message)
    this.grpcCode = grpcCode[grpc]
  }
}

/** The service or method does not exist, or this server cannot do what the call needs. */
export const unimplemented = (message: string) => new GrpcError("unimplemented", "unimplemented", message)

export const resourceExhausted = (message: string) =>
  new GrpcError("resourceExhausted", "resource_exhausted", message)

export const notFound = (message: string) => new GrpcError("notFound", "undefined_endpoint", message)

/** The time that the client gave the call is over. */
export const clientDeadline = () =>
  new GrpcError("deadlineExceeded", "deadline_exceeded", "the deadline of the call is over")

/** A call that is no call of one message. */
export const protocolError = (message: string) => new GrpcError("internal", "validation_error", message)

/** Codes of errors that OpenFGA does not have, or has from its gRPC library. */
const ownCodes: Partial<Record<ApiErrorCode, number>> = {
  Aborted: grpcCode.aborted,
  history_lost: grpcCode.aborted,
  changes_pruned: grpcCode.outOfRange,
  store_managed_by_plan: grpcCode.failedPrecondition,
  unsupported_media_type: grpcCode.unimplemented,
  unimplemented: grpcCode.unimplemented,
  undefined_endpoint: grpcCode.unimplemented,
  // OpenFGA has 4000 for a database that is unavailable. Clients repeat a call that ended with this code.
  unavailable: grpcCode.unavailable,
  body_too_large: grpcCode.resourceExhausted,
  resource_exhausted: grpcCode.resourceExhausted,
}

/** OpenFGA's own codes by name: the numbers of its enums. */
const openfgaCodes = new Map(
  ["AuthErrorCode", "ErrorCode", "InternalErrorCode", "NotFoundErrorCode"].flatMap((name) =>
    (registry.getEnum(`openfga.v1.${name}`)?.values ?? []).map(
      (value) => [value.name, value.number] as const,
    ),
  ),
)

/** OpenFGA's rules for fields are checked by generated code, with messages of this form. */
const fieldRule = /^invalid [A-Z]\w*\.[A-Z]\w*: /

/** What a call ended with, besides OK: `code` is sent as `grpc-status`, `message` as `grpc-message`. */
export interface CallStatus {
  readonly code: number
  readonly message: string
}

/**
 * The status of a failed call, as OpenFGA has it: the numbers of its codes (2000, 5002 …), and INVALID_ARGUMENT for a field that breaks its rule.
 * An error that is not for clients becomes 4000.
 */
export function callStatusOf(error: unknown): CallStatus {
  const known = apiErrorOf(error)
  if (known === undefined)
    return { code: openfgaCodes.get("internal_error") ?? grpcCode.internal, message: "Internal Server Error" }
  return { code: codeOf(known), message: known.message }
}

function codeOf(error: ApiError): number {
  if (error instanceof GrpcError) return error.grpcCode
  if (error instanceof MalformedMessage) return grpcCode.internal
  if (error.status === 400 && fieldRule.test(error.message)) return grpcCode.invalidArgument
  return ownCodes[error.code] ?? openfgaCodes.get(error.code) ?? codeOfHttp(error.status)
}

/** For requests that violate HTTP. */
function codeOfHttp(status: number): number {
  return status < 500 ? grpcCode.invalidArgument : grpcCode.internal
}

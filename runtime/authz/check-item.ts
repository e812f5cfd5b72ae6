import type { CheckError, CheckErrorCode } from "../check/ports.ts"

/** Of these the client is not the cause. */
const internal: ReadonlySet<CheckErrorCode> = new Set([
  "deadline_exceeded",
  "unavailable",
  "resource_exhausted",
])

/** One answer's error among many, as OpenFGA's batch has it: whose fault it is, and the message. */
export function itemError({ code, message }: CheckError): object {
  return internal.has(code) ? { internal_error: code, message } : { input_error: code, message }
}

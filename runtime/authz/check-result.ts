import type { CheckError, CheckErrorCode } from "../check/ports.ts"

/** Errors that the client did not cause. */
const internal: ReadonlySet<CheckErrorCode> = new Set([
  "deadline_exceeded",
  "unavailable",
  "resource_exhausted",
])
/** The additional fields that a check requested; undefined when it requested none, which is the usual case. */
export function resultFields(
  {
    missingContext,
    explanation,
  }: {
    readonly missingContext?: readonly string[] | undefined
    readonly explanation?: object | undefined
  },
  { explain, ternary }: { readonly explain?: boolean | undefined; readonly ternary?: boolean | undefined },
): object | undefined {
  if (explain !== true && ternary !== true) return undefined
  return {
    ...(ternary === true && {
      conditional: missingContext !== undefined,
      missing_context: missingContext ?? [],
    }),
    ...(explanation !== undefined && { explanation }),
  }
}

/** The error of one answer in a batch, in OpenFGA's form: `input_error` or `internal_error`, and the message. */
export function itemError({ code, message }: CheckError): object {
  return internal.has(code) ? { internal_error: code, message } : { input_error: code, message }
}

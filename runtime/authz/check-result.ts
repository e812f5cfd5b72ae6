import type { CheckError, CheckErrorCode } from "../check/ports.ts"

/** Of these the client is not the cause. */
const internal: ReadonlySet<CheckErrorCode> = new Set([
  "deadline_exceeded",
  "unavailable",
  "resource_exhausted",
])
/** What a check was asked to say beside its outcome; undefined when nothing, which is nearly always. */
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

/** One answer's error among many, as OpenFGA's batch has it: whose fault it is, and the message. */
export function itemError({ code, message }: CheckError): object {
  return internal.has(code) ? { internal_error: code, message } : { input_error: code, message }
}

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { type Text, text } from "../text.ts"

/** Whether a composed path can contain a query. */
function bringsQuery({
  path,
  raw,
  keepQuery,
}: {
  readonly path: Text
  readonly raw: boolean
  readonly keepQuery: boolean
}): boolean {
  if (!keepQuery) return true
  if (typeof path === "string") return path.includes("?")
  // Values from the request are encoded, unless `raw`.
  return path.text.some((part) =>
    typeof part === "string" ? part.includes("?") : raw || !("expression" in part),
  )
}

/**
 * Path (and optionally query) of the request to the backend, without the target's own base path. Each dynamic part is percent-encoded as one segment.
 * With `raw` it is not; then only the whole path is checked to be canonical.
 */
export const rewrite = defineStep(
  "rewrite",
  { role: "change", rehearsed: "run" },
  {
    path: text,
    raw: z.boolean(),
    /** False: the client's query is dropped. */
    keepQuery: z.boolean(),
    /** Placeholders in a path from an expression, such as `{order-id}`, and the path parameter for each. */
    parameters: z.record(z.string().min(1).max(128), z.string().min(1).max(128)).optional(),
  },
  (step) => ({
    writes: [
      "request.path",
      ...(bringsQuery(step) ? (["request.query:*", "request.query-order:*"] as const) : []),
    ],
    fits: "narrow",
  }),
)

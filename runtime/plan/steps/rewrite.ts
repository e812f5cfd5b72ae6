import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { type Text, text } from "../text.ts"

/** Whether a path that is put together may bring a query of its own. */
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
  // Parts that a request brings are encoded, unless `raw`.
  return path.text.some((part) =>
    typeof part === "string" ? part.includes("?") : raw || !("expression" in part),
  )
}

/** Path (and perhaps query) of the request to the backend, without the target's own base path; dynamic parts are percent-encoded as one segment each unless `raw`, where the whole is checked for a canonical form only. */
export const rewrite = defineStep(
  "rewrite",
  { role: "change", rehearsed: "run" },
  {
    path: text,
    raw: z.boolean(),
    /** False: the client's query is dropped. */
    keepQuery: z.boolean(),
    /** What stands in braces in a path that an expression made, as `{order-id}`, and the path parameter it stands for. */
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

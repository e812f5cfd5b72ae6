import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { name, text } from "../text.ts"

/**
 * Writes or deletes a tuple after the backend responded 2xx, before its response is sent. It retries; a failure is 502 with a log line. A tuple that
 * already exists (or is already gone) is not an error.
 */
export const grant = defineStep(
  "grant",
  { role: "observe", rehearsed: "assume" },
  {
    action: z.enum(["write", "delete"]),
    store: name,
    user: text,
    relation: z.string(),
    object: text,
  },
  ({ store }) => ({
    reads: ["response.status"],
    leaves: [`tuples:${store}`, "log"],
    ends: ["refuse"],
    waits: true,
    fits: "narrow",
    names: named("stores", "store", store),
  }),
)

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { bodyRead, wholeResponse } from "../places.ts"
import { count, flag } from "../step-values.ts"
import { name, text } from "../text.ts"

/**
 * A service moderates what a language model is asked and, with `completions`, what it responds (API of Azure AI Content Safety, 2024-09-01, at the URL
 * of `backend`). A category whose severity reaches `threshold`, a term of a list, or an attack in the prompt (`shieldPrompt`) is 403; no verdict is 503.
 * `four`: severities 0, 2, 4, 6; `eight`: 0 to 7.
 */
export const contentSafety = defineStep(
  "content-safety",
  { role: "judge", rehearsed: "assume" },
  {
    backend: name,
    categories: z
      .array(z.strictObject({ name: z.enum(["Hate", "SelfHarm", "Sexual", "Violence"]), threshold: count }))
      .max(4),
    levels: z.enum(["four", "eight"]),
    blocklists: z.array(text).max(50),
    shieldPrompt: flag,
    completions: flag,
  },
  ({ backend, completions }) => ({
    reads: [`service:${backend}`, ...bodyRead("request")],
    ends: ["refuse"],
    statuses: [403],
    names: named("backends", "backend", backend),
    waits: true,
    ...(completions === false ? {} : { late: wholeResponse }),
  }),
)

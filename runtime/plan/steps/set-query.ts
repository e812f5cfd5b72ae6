import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { type Place, queryOf } from "../places.ts"
import { constantName, dynamicName } from "../step-values.ts"
import { text } from "../text.ts"

/** Query parameter of the request to the backend. */
export const setQuery = defineStep(
  "set-query",
  { role: "change", rehearsed: "run" },
  {
    action: z.enum(["set", "append", "default", "remove"]),
    name: z.union([z.string().min(1).max(128), dynamicName]),
    values: z.array(text).max(100),
  },
  ({ action, name }) => {
    const place = queryOf(constantName(name))
    const adds: Place[] = action === "remove" ? [] : ["request.query-order:*"]
    return {
      reads: action === "default" ? [place] : [],
      writes: [place, ...adds],
      ...(typeof name === "string" ? {} : { fits: "narrow" }),
    }
  },
)

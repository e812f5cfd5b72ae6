import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf } from "../places.ts"
import { constantName, dynamicName, message } from "../step-values.ts"
import { text } from "../text.ts"

/** `append` adds a line, `default` sets only an absent header, `remove` deletes all lines. Several values: one line each, or one list if the field is a list. */
export const setHeader = defineStep(
  "set-header",
  { role: "change", rehearsed: "run" },
  {
    message,
    action: z.enum(["set", "append", "default", "remove"]),
    name: z.union([headerName, dynamicName]),
    values: z.array(text).max(100),
  },
  ({ message, action, name }) => {
    const place = headerOf(message, constantName(name))
    return { reads: action === "default" ? [place] : [], writes: [place], fits: "header" }
  },
)

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten, headerOf } from "../places.ts"
import { message } from "../step-values.ts"

/** Absolute URLs in a body that lead to the chosen backend lead to the gateway instead; in a request the other way round. */
export const maskUrls = defineStep(
  "mask-urls",
  { role: "change", rehearsed: "run" },
  {
    message,
    /** Those in fields that hold one, such as Location, too. */
    headers: z.boolean(),
  },
  ({ message, headers }) => {
    const fields = headers
      ? ["location", "content-location", "link"].map((name) => headerOf(message, name))
      : []
    return {
      reads: [...bodyRead(message), ...fields, "response.status", "backend", headerOf("request", "host")],
      writes: [...bodyWritten(message, false), ...fields],
      ends: ["fail"],
    }
  },
)

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten, headerOf } from "../places.ts"
import { message } from "../step-values.ts"

/** Replaces absolute URLs of the chosen backend in a response body by URLs of the gateway; in a request body the reverse. */
export const maskUrls = defineStep(
  "mask-urls",
  { role: "change", rehearsed: "run" },
  {
    message,
    /** Also in header fields that hold a URL, such as Location. */
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

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerOf } from "../places.ts"
import { text } from "../text.ts"

/** Host header for the backend: the client's own (`preserve`) or a text. Without this step it is the target's host. */
export const setHost = defineStep(
  "set-host",
  { role: "change", rehearsed: "run" },
  {
    host: z.union([z.strictObject({ preserve: z.literal(true) }), text]),
  }, // Expressions read it as the header field `host`.
  () => ({ writes: [headerOf("request", "host")], fits: "narrow" }),
)

import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { mirrorField } from "../http-syntax.ts"
import { headerOf } from "../places.ts"
import { name } from "../text.ts"

/**
 * Sends a copy of the request to another backend when the request itself is sent, and discards the response. The client never waits for it. It is
 * sent as later steps left the request, so the place of the step among them has no effect.
 */
export const mirror = defineStep(
  "mirror",
  { role: "observe", rehearsed: "skip" },
  {
    backend: name,
    /** Share of the requests, drawn at random. */
    percent: z.number().min(0).max(100),
    /** A request with a larger body is not copied. */
    bodyBytesMax: z.number().int().min(0).max(100_000_000),
    /** Further copies are dropped while this many run. */
    concurrencyMax: z.number().int().min(1).max(10_000),
    /** For a copy and its response. */
    timeoutMs: z.number().int().min(1).max(3_600_000),
    /** Credentials of the caller, and those that steps set, are sent as well. */
    credentials: z.boolean(),
  },
  ({ backend }) => ({
    writes: [headerOf("request", mirrorField)],
    leaves: [`service:backend ${backend}`],
    names: named("backends", "backend", backend),
  }),
)

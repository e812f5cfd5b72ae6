import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { wholeRequest, wholeResponse } from "../places.ts"
import { count } from "../step-values.ts"
import { name, text } from "../text.ts"

/** Sends the request to the backend chosen before (default: `backend`) and waits for the response head. */
export const forward = defineStep(
  "forward",
  { role: "send", rehearsed: "assume" },
  {
    backend: name.nullable(),
    /** The key by which a backend with `balance` `hash` chooses its target. */
    hashKey: text.optional(),
    /** Replaces the backend's total timeout; null: no timeout. */
    timeoutMs: z.union([count, z.null()]).optional(),
    /** Reads the whole request body first, so that a retry has it. */
    bufferRequest: z.boolean().optional(),
    /** Reads the whole response body before sending it. */
    bufferResponse: z.boolean().optional(),
    /** 4xx and 5xx of the backend run on-error. */
    failOnStatus: z.boolean().optional(),
    /** Follows redirects, up to five in a row; never from https to http, and to another origin only without credentials. */
    followRedirects: z.boolean().optional(),
  },
  ({ backend }) => ({
    reads: [...wholeRequest, "backend", "certificate", "service:*"],
    writes: [...wholeResponse, "backend"],
    leaves: ["service:*"],
    ends: ["fail"],
    names: backend === null ? [] : named("backends", "backend", backend),
    waits: true,
  }),
)

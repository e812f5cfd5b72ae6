import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { wholeRequest, wholeResponse } from "../places.ts"
import { count } from "../step-values.ts"
import { name, text } from "../text.ts"

/** Sends the request to the backend chosen before (else `backend`) and waits for the head of its answer. */
export const forward = defineStep(
  "forward",
  { role: "send", rehearsed: "assume" },
  {
    backend: name.nullable(),
    /** What a backend with `balance` `hash` chooses its target by. */
    hashKey: text.optional(),
    /** Instead of the backend's own total time; null: none. */
    timeoutMs: z.union([count, z.null()]).optional(),
    /** The request body is read whole first, so that a repetition has it. */
    bufferRequest: z.boolean().optional(),
    /** The response body is read whole before it goes out. */
    bufferResponse: z.boolean().optional(),
    /** 4xx and 5xx of the backend go to on-error. */
    failOnStatus: z.boolean().optional(),
    /** Redirects are followed, five in a row; never from https to http, and to another origin without credentials. */
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

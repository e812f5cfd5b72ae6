import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { headerName } from "../http-syntax.ts"
import { bodyRead } from "../places.ts"
import { name, text } from "../text.ts"

/**
 * Reads a cached response for the request: found, it is the answer, and outbound goes on behind the `cache-store` that kept it. Key: host and path,
 * these headers and query parameters (null: all), the text.
 */
export const cacheLookup = defineStep(
  "cache-lookup",
  { role: "observe", rehearsed: "assume" },
  {
    varyHeaders: z.array(headerName).max(50),
    varyQuery: z.array(z.string()).max(50).nullable(),
    key: text.optional(),
    /** Responses to requests with credentials of their own are cached too. */
    authorized: z.boolean(),
    /** What the answer's Cache-Control tells clients. */
    downstream: z.enum(["none", "private", "public"]),
    mustRevalidate: z.boolean(),
    /** Of several requests that find nothing at the same time one asks the backend, the others wait for what is kept. */
    coalesce: z.boolean().optional(),
    /**
     * POST requests that ask a language model something: found is the response to a prompt that is near, by the vectors `backend` gives (OpenAI's embeddings). `distance`: 1 minus the cosine, at most. Prompts of more than
     * `messagesMax` messages are not looked for.
     */
    like: z
      .strictObject({
        backend: name,
        distance: z.number().min(0).max(1),
        ignoreSystem: z.boolean(),
        messagesMax: z.number().int().min(1).max(10_000).optional(),
      })
      .optional(),
  }, // By what else an answer varies is known when it is found.
  ({ like }) => ({
    reads: [
      ...([
        "request.header:*",
        "request.query:*",
        "request.query-order:*",
        "caller",
        "response.cached",
      ] as const),
      ...(like === undefined ? [] : ([`service:${like.backend}`, ...bodyRead("request")] as const)),
    ],
    writes: ["response.cached"],
    leaves: ["cache:*"],
    ends: ["found"],
    names: like === undefined ? [] : named("backends", "like.backend", like.backend),
    waits: true,
  }),
)

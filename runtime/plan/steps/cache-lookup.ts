import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { headerName } from "../http-syntax.ts"
import { bodyRead } from "../places.ts"
import { name, text } from "../text.ts"

/**
 * Looks up a cached response. On a hit it is the response, and outbound continues after the `cache-store` that stored it. Key: host and path, these
 * headers and query parameters (null: all), and the text.
 */
export const cacheLookup = defineStep(
  "cache-lookup",
  { role: "observe", rehearsed: "assume" },
  {
    varyHeaders: z.array(headerName).max(50),
    varyQuery: z.array(z.string()).max(50).nullable(),
    key: text.optional(),
    /** Also caches responses to requests with credentials. */
    authorized: z.boolean(),
    /** The Cache-Control value for clients. */
    downstream: z.enum(["none", "private", "public"]),
    mustRevalidate: z.boolean(),
    /** Of several concurrent misses, one request goes to the backend; the others wait for the stored response. */
    coalesce: z.boolean().optional(),
    /**
     * Semantic cache for POST requests to a language model: a hit is the response to a similar prompt, by embeddings from `backend` (OpenAI's API).
     * `distance`: the largest accepted 1 − cosine. Prompts of more than `messagesMax` messages are not looked up.
     */
    like: z
      .strictObject({
        backend: name,
        distance: z.number().min(0).max(1),
        ignoreSystem: z.boolean(),
        messagesMax: z.number().int().min(1).max(10_000).optional(),
      })
      .optional(),
  }, // Other keys on which a response varies are known only on a hit.
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

import { z } from "zod"
import { headerName } from "./header-name.ts"
import { stepId } from "./step-id.ts"
import { count, flag, variableName } from "./steps-access.ts"
import { expression, name, text } from "./text.ts"

/**
 * Reads a cached response for the request: found, it is the answer, and outbound goes on behind the `cache-store` that kept it. Key: host and path,
 * these headers and query parameters (null: all), the text.
 */
export const cacheLookup = z.strictObject({
  kind: z.literal("cache-lookup"),
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
})

/** Keeps the response under the key the lookup found. Only 200 unless `storeIf`. */
export const cacheStore = z.strictObject({
  kind: z.literal("cache-store"),
  seconds: count,
  storeIf: flag.optional(),
})

/** Reads a value of the cache into a variable. */
export const cacheGet = z.strictObject({
  kind: z.literal("cache-get"),
  key: text,
  variable: variableName,
  default: z.union([text, z.strictObject({ expression })]).optional(),
})

/** Puts a value in the cache. */
export const cacheSet = z.strictObject({
  kind: z.literal("cache-set"),
  key: text,
  value: z.union([text, z.strictObject({ expression })]),
  seconds: count,
})

/** Takes a value out of the cache. */
export const cacheRemove = z.strictObject({ kind: z.literal("cache-remove"), key: text })

/** Reads a value of the cache into a variable; absent, `steps` make it (and set the variable), once for all who wait. */
export const cacheValue = z.strictObject({
  kind: z.literal("cache-value"),
  key: text,
  variable: variableName,
  seconds: count,
  /** From this age on the old value is used while one exchange makes the new. */
  refreshAfterSeconds: count.optional(),
  default: z.union([text, z.strictObject({ expression })]).optional(),
  steps: z.array(stepId).max(1000),
})

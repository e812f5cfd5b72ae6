import { z } from "zod"
import { stepId } from "./step-id.ts"
import { count, flag, variableName } from "./steps-access.ts"
import { bodyContent, headerLines } from "./steps-content.ts"
import { expression, name, text } from "./text.ts"

/** Runs `steps` in order until one goes on; all refuse: the first refusal of a credential that was present, else of the first step. */
export const anyOf = z.strictObject({ kind: z.literal("any-of"), steps: z.array(stepId).min(2).max(10) })

/** A test that fails to evaluate is an error of the request (500), never false. */
export const when = z.strictObject({
  kind: z.literal("when"),
  test: expression,
  matched: z.array(stepId).max(1000),
  otherwise: z.array(stepId).max(1000),
})

/**
 * Runs `steps`, and again while `test` holds, at most `times` more times. Waits `intervalSeconds` between, growing by `deltaSeconds` (linear), or doubling with jitter
 * up to `maxSeconds` when that is there too. Without steps it only waits. With `fastFirst` the first repetition does not wait. A request body is kept for the repetitions.
 */
export const retry = z.strictObject({
  kind: z.literal("retry"),
  test: expression,
  times: count,
  intervalSeconds: count,
  maxSeconds: count.optional(),
  deltaSeconds: count.optional(),
  fastFirst: flag,
  steps: z.array(stepId).max(1000),
})

/** Runs the branches at the same time; goes on when all, or the first that ends well, have ended. An answer of a branch is the answer. */
export const parallel = z.strictObject({
  kind: z.literal("parallel"),
  until: z.enum(["all", "any"]),
  branches: z.array(z.array(stepId).min(1).max(100)).min(1).max(50),
})

/** At most `max` exchanges with this key are inside of `steps` (empty: until the answer is out) at a time; more: 429. */
export const limitConcurrency = z.strictObject({
  kind: z.literal("limit-concurrency"),
  counter: z.string().min(1).max(512),
  key: text,
  max: z.number().int().min(1).max(1_000_000),
  steps: z.array(stepId).max(1000),
})

/** How a request of our own, or to the backend, says who we are. */
export const authentication = z.union([
  z.strictObject({ scheme: z.literal("basic"), user: text, password: text }),
  z.strictObject({ scheme: z.literal("bearer"), token: text }),
  /** A token of a declared client. */
  z.strictObject({ scheme: z.literal("token"), client: name }),
  /** Shown in TLS. */
  z.strictObject({ scheme: z.literal("certificate"), certificate: name }),
])

export type Authentication = z.infer<typeof authentication>

/** Sends a request of our own. Its response goes to `variable`; failing (no answer in time) sets null with `ignoreError`, else is 502/504. `wait` false: nobody waits. */
export const sendRequest = z.strictObject({
  kind: z.literal("send-request"),
  /** `copy`: begins with the method, headers and body of the request. */
  mode: z.enum(["new", "copy"]),
  url: text.optional(),
  method: text.optional(),
  headers: headerLines,
  media: z.string().max(256).nullable(),
  body: bodyContent.optional(),
  authentication: authentication.optional(),
  timeoutSeconds: count,
  variable: variableName.optional(),
  ignoreError: flag,
  wait: z.boolean(),
})

/**
 * Has a service judge what a language model is asked, and with `completions` what it answers (API of Azure AI Content Safety, 2024-09-01, at the URL of `backend`): a
 * category whose severity reaches `threshold`, a term of a list, an attack in the prompt (`shieldPrompt`) is 403; no judgement: 503. `four`: severities are
 * 0, 2, 4, 6; `eight`: 0 to 7.
 */
export const contentSafety = z.strictObject({
  kind: z.literal("content-safety"),
  backend: name,
  categories: z
    .array(z.strictObject({ name: z.enum(["Hate", "SelfHarm", "Sexual", "Violence"]), threshold: count }))
    .max(4),
  levels: z.enum(["four", "eight"]),
  blocklists: z.array(text).max(50),
  shieldPrompt: flag,
  completions: flag,
})

/** Authenticates the request to the backend: by its Authorization field, or by the certificate of its connection. */
export const authenticate = z.strictObject({
  kind: z.literal("authenticate"),
  authentication,
  /** Where a token goes instead of Authorization: into a variable, as text or as an object with `accessToken`. */
  output: variableName.optional(),
  outputAs: z.literal("object").optional(),
})

/**
 * Which backend `forward` sends to: a declared one; one of several by weight, or by what a text says (`cases`, else `otherwise`, else the route's own or, where `strict`, an error); or a URL (checked: http or https;
 * dynamic parts stay inside of path segments or, in `raw`, may be the whole URL).
 */
export const setBackend = z.strictObject({
  kind: z.literal("set-backend"),
  target: z.union([
    z.strictObject({ backend: name }),
    z.strictObject({
      weighted: z
        .array(z.strictObject({ backend: name, weight: z.number().int().min(0).max(1000) }))
        .min(1)
        .max(50),
      key: text.optional(),
    }),
    z.strictObject({
      by: text,
      cases: z.array(z.strictObject({ value: z.string(), backend: name })).max(200),
      otherwise: name.nullable(),
      strict: z.literal(true).optional(),
    }),
    z.strictObject({ url: text, raw: z.boolean() }),
  ]),
})

/** Sends the request to the backend chosen before (else `backend`) and waits for the head of its answer. */
export const forward = z.strictObject({
  kind: z.literal("forward"),
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
})

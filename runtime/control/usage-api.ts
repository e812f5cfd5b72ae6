import * as z from "zod"

/** What usage can be told by. `user`: who the token of a call without subscription names (`sub`); `(others)` are those for whom a process had no line left in an hour. */
export const usageBy = z.enum([
  "subscription",
  "user",
  "product",
  "api",
  "operation",
  "version",
  "status",
  "day",
])

const moment = z.iso.datetime({ offset: true })

/** Query of `GET /v1/usage`: `by` is a list with commas; `since` counts from its hour on. `deprecated=true`: calls of versions the running plan calls deprecated. */
export const usageQuery = z.strictObject({
  by: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((word) => word !== ""))
    .pipe(z.array(usageBy).max(8)),
  since: moment.optional(),
  until: moment.optional(),
  subscription: z.string().optional(),
  user: z.string().optional(),
  product: z.string().optional(),
  api: z.string().optional(),
  deprecated: z.enum(["true", "false"]).optional(),
})
/** See `usageQuery`. */
export type UsageQuestion = z.infer<typeof usageQuery>

/**
 * The calls of one group. `key` has a word for each of `by`, empty where there was none. `billed` are those that cost something; `amounts` what all cost, exact. Times are
 * in milliseconds, within a tenth of the truth, null where nothing was measured.
 */
export const usageLine = z.strictObject({
  key: z.partialRecord(usageBy, z.string()),
  calls: z.number().int(),
  billed: z.number().int(),
  bytesIn: z.number().int(),
  bytesOut: z.number().int(),
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  amounts: z.array(z.strictObject({ amount: z.string(), currency: z.string() })),
})
export type UsageLine = z.infer<typeof usageLine>

/** Answer of `GET /v1/usage`, most calls first. `cut`: there are more groups than are told. */
export const usageAnswer = z.strictObject({
  by: z.array(usageBy),
  lines: z.array(usageLine),
  cut: z.boolean(),
})
export type UsageAnswer = z.infer<typeof usageAnswer>

import * as z from "zod"

/** Version of this schema. Additions are optional and keep it; changes and removals raise it. */
export const explanationVersion = 1

const names = z.array(z.string())

const tuple = z.strictObject({
  user: z.string(),
  relation: z.string(),
  object: z.string(),
  condition: z
    .strictObject({ name: z.string(), context: z.record(z.string(), z.unknown()).optional() })
    .optional(),
})

const condition = z.strictObject({
  name: z.string(),
  outcome: z.enum(["true", "false", "error", "missing_context"]),
  values: z.record(z.string(), z.unknown()),
  missing_context: names.optional(),
  error: z.string().optional(),
})

const proofNode = z.strictObject({
  object: z.string(),
  relation: z.string(),
  holds: z.boolean(),
  by: z.enum([
    "tuple",
    "userset",
    "from",
    "computed",
    "intersection",
    "but not",
    "self",
    "none",
    "above",
    "cut",
  ]),
  tuple: tuple.optional(),
  contextual: z.literal(true).optional(),
  condition: condition.optional(),
  get children() {
    return z.array(proofNode).optional()
  },
})

/** Why a check had its result, as JSON. The engine's `Explanation` documents the parts. */
export const explanation = z.strictObject({
  version: z.literal(explanationVersion),
  allowed: z.boolean(),
  user: z.string(),
  relation: z.string(),
  object: z.string(),
  revision: z.number().int().min(0),
  proof: proofNode.optional(),
  tuples: z.array(tuple).optional(),
  misses: z
    .array(
      z.strictObject({
        add: z.array(tuple).max(3),
        remove: z.array(tuple).max(3),
        missing_context: names.optional(),
      }),
    )
    .max(5)
    .optional(),
  blocked_by: z.array(proofNode).optional(),
  conditions: z.array(z.strictObject({ tuple, condition })).optional(),
  missing_context: names.optional(),
  undecided: z.literal(true).optional(),
  complete: z.boolean(),
})

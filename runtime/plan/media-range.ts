import * as z from "zod"

/** A media type or a range of such (RFC 9110 §12.5.1) in lower case, perhaps with parameters; `*` alone is any. */
export const mediaRange = z
  .string()
  .max(256)
  .regex(/^(?:\*|[a-z0-9!#$&^_.+*-]+\/[a-z0-9!#$&^_.+*-]+(?:\s*;\s*[a-z0-9_-]+=[a-z0-9_.:/+-]+)*)$/)

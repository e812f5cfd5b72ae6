import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf, queryOf } from "../places.ts"
import { name } from "../text.ts"

const failureStatus = z.number().int().min(400).max(599)

/** Verifies a subscription key that covers `api`, and sets the caller's subscription. The key is not forwarded unless `forward`. */
export const validateKey = defineCredential(
  "validate-key",
  {
    api: name,
    header: headerName.nullable(),
    query: z.string().min(1).max(128).nullable(),
    status: failureStatus,
    forward: z.boolean(),
  },
  ({ api, header, query, status, forward }) => {
    const places = [
      ...(header === null ? [] : [headerOf("request", header)]),
      ...(query === null ? [] : [queryOf(query)]),
    ]
    return {
      shown: { is: "key", api, header, query, forward },
      reads: places,
      writes: ["subscription", ...(forward ? [] : places)],
      ends: ["refuse"],
      statuses: [status],
    }
  },
)

import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { named } from "../facts.ts"
import { authorization, constantCount, count } from "../step-values.ts"
import { name, text } from "../text.ts"

/** User and password (RFC 7617). Sets the claim `sub` to the user. The password is not forwarded unless `forward`. */
export const basicAuth = defineCredential(
  "basic-auth",
  {
    users: name,
    realm: z.string().regex(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,128}$/),
    status: count,
    message: text.optional(),
    forward: z.boolean(),
  },
  ({ users, status, forward }) => ({
    shown: { is: "password", forward },
    reads: [authorization],
    writes: ["caller", ...(forward ? [] : [authorization])],
    ends: ["refuse"],
    statuses: [constantCount(status, 401)],
    names: named("users", "users", users),
    waits: true,
  }),
)

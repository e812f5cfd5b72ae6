import { test } from "vitest"
import { compareUsersWithChecks } from "../check/users-and-checks.ts"
import { scaled, tellAsked } from "../support/random-run.ts"

/** A million by default. */
const lists = scaled(10_000)

test(
  `${lists} random lists of users cover exactly whom the check allows`,
  {
    timeout: 7_200_000,
  },
  async (context) => tellAsked(context, await compareUsersWithChecks(lists)),
)

import { describe, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { pebbleBinary, pebbleMissing } from "../support/pebble.ts"

/** As `describePostgres`, for tests that also need Pebble: without it they are skipped, and listed at the end of the run. */
export const describePebble: typeof describePostgres = (name, body) =>
  pebbleBinary() === undefined
    ? describe(name, () => {
        test("with Pebble", (context) => context.skip(pebbleMissing))
      })
    : describePostgres(name, body)

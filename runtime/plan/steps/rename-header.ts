import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf } from "../places.ts"
import { message } from "../step-values.ts"

/** Renames the header `from` to `to`, whose previous lines are removed. Without a header `from` nothing changes. */
export const renameHeader = defineStep(
  "rename-header",
  { role: "change", rehearsed: "run" },
  { message, from: headerName, to: headerName },
  ({ message, from, to }) => ({
    reads: [headerOf(message, from)],
    writes: [headerOf(message, from), headerOf(message, to)],
  }),
)

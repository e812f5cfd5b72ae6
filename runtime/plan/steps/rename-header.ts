import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf } from "../places.ts"
import { message } from "../step-values.ts"

/** Gives the lines of the header `from` the name `to`, in place of the lines `to` had. Without a line of `from` nothing changes. */
export const renameHeader = defineStep(
  "rename-header",
  { role: "change", rehearsed: "run" },
  { message, from: headerName, to: headerName },
  ({ message, from, to }) => ({
    reads: [headerOf(message, from)],
    writes: [headerOf(message, from), headerOf(message, to)],
  }),
)

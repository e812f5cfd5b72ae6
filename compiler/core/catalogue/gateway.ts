import { area } from "./entry.ts"

/** SP2xxx and SP3xxx: statements of gateway.conf, names, routes, policies. */
export const gateway = area({
  SP2001: {
    severity: "error",
    title: "Unknown keyword",
    help: "Correct the keyword, or remove the statement.",
  },
})

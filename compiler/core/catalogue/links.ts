import { area } from "./entry.ts"

/** SP5xxx: expressions, and gateway.conf against the models. */
export const links = area({
  SP5001: { severity: "error", title: "Expression does not type-check", help: "Correct the expression." },
})

import { area } from "./entry.ts"

/** SP1xxx: what the grammar of gateway.conf refuses. */
export const syntax = area({
  SP1001: { severity: "error", title: "Unclosed brace", help: "Add the missing `}`." },
})

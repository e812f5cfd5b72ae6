import { area } from "./entry.ts"

/** SP4xxx: authorization models (.fga). */
export const models = area({
  SP4001: { severity: "error", title: "Model syntax", help: "Correct the line." },
})

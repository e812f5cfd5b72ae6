import { area } from "./entry.ts"

/** SP0xxx: files and their encoding. */
export const files = area({
  SP0001: {
    severity: "error",
    title: "File not found",
    help: "Check the path, it is relative to the file that names it.",
  },
})

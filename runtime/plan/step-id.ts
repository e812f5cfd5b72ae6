import * as z from "zod"

/** Key of the plan's `steps`: first 16 hex digits of the SHA-256 of the step's canonical JSON. Equal steps are one entry, whoever uses them. */
export const stepId = z.string().regex(/^[0-9a-f]{16}$/)

import * as z from "zod"
import { engineListener } from "./resources.ts"

/** A listener of the control API. It has no HTTP/2: operators send few requests. */
const controlListener = engineListener.omit({ http2: true })

/** The control listeners of a plan, in addition to the address with which the process was started. */
export const controlPlan = z.strictObject({
  listen: z.array(controlListener).max(16),
})
/** How operators reach the control API. */
export type ControlPlan = z.infer<typeof controlPlan>

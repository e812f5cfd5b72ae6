import { z } from "zod"
import { plan, planFormat } from "./plan.ts"

/** JSON Schema (draft 2020-12) of a plan: its shape. That names resolve and the digest fits is checked by `readPlan` alone. */
export function planJsonSchema(): object {
  return {
    ...z.toJSONSchema(plan, { target: "draft-2020-12", reused: "ref" }),
    $id: `urn:sallyport:plan:${planFormat}`,
    title: `Sallyport plan, format ${planFormat}`,
  }
}

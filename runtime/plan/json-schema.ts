import * as z from "zod"
import { explanation, explanationVersion } from "./explanation.ts"
import { plan, planFormat } from "./plan.ts"

/** JSON Schema (draft 2020-12) of a plan: its shape. Only `readPlan` checks that names resolve and that the digest matches. */
export function planJsonSchema(): object {
  return {
    ...z.toJSONSchema(plan, { target: "draft-2020-12", reused: "ref" }),
    $id: `urn:sallyport:plan:${planFormat}`,
    title: `Sallyport plan, format ${planFormat}`,
  }
}

/** JSON Schema (draft 2020-12) of an explanation, as returned by check, batch-check and explain. */
export function explanationJsonSchema(): object {
  return {
    ...z.toJSONSchema(explanation, { target: "draft-2020-12", reused: "ref" }),
    $id: `urn:sallyport:explanation:${explanationVersion}`,
    title: `Sallyport explanation, version ${explanationVersion}`,
  }
}

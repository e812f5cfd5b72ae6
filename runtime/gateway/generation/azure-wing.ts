import type { PlanBody } from "../../plan/plan.ts"
import type { AzureWing } from "../../policies/policy.ts"
import type { Slices } from "./slices.ts"

/** What compiles C# and Liquid, loaded when a plan has either; undefined for the others. */
export async function azureFor({ steps }: PlanBody, slices: Slices): Promise<AzureWing | undefined> {
  for (const step of Object.values(steps)) {
    if (needsAzure(step)) return (await import("../../azure/wing.ts")).azure
    await slices.breathe()
  }
  return undefined
}

/** Whether a part of a step is an expression in C#, or a template. */
function needsAzure(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false
  if ("liquid" in part || ("lang" in part && part.lang === "cs")) return true
  return Object.values(part).some(needsAzure)
}

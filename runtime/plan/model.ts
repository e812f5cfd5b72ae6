import * as z from "zod"
import { authorizationModel } from "./authorization-model.ts"
import { relationPlans } from "./relation-plan.ts"

/** A model in a plan: its JSON, and the relation plans the evaluator walks, made once by the compiler (runtime/model/lower.ts). */
export const modelPlan = z.strictObject({
  model: authorizationModel,
  relations: relationPlans,
})
export type ModelPlan = z.infer<typeof modelPlan>

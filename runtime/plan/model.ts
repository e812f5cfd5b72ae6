import { z } from "zod"
import { authorizationModel } from "./authorization-model.ts"

/** A model in a plan: its JSON, and the relation plans the evaluator walks, made once by the compiler (runtime/model/lower.ts). */
export const modelPlan = z.strictObject({
  model: authorizationModel,
  relations: z.record(z.string(), z.unknown()),
})
export type ModelPlan = z.infer<typeof modelPlan>

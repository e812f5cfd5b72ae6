import type { Plan } from "../../../../plan/plan.ts"
import { WorkerChannel } from "./worker-channel.ts"

/** A line of the difference of two texts: kept, removed or added. */
export type TextLine = readonly [sign: " " | "-" | "+", text: string]

/** Two plans to compare as texts; `before` undefined: all of `after` is added. */
export interface PlanDeskRequest {
  readonly kind: "plan-texts"
  readonly before: Plan | undefined
  readonly after: Plan
}

/** All lines of both texts, in order. */
export interface PlanDeskReply {
  readonly kind: "plan-texts"
  readonly lines: readonly TextLine[]
}

const worker = new WorkerChannel<PlanDeskRequest, PlanDeskReply>("worker")

/** Compares two plans as texts in a second thread: both are printed in the same way, whatever text they were compiled from. */
export async function comparePlanTexts(before: Plan | undefined, after: Plan): Promise<readonly TextLine[]> {
  return (await worker.ask({ kind: "plan-texts", before, after })).lines
}

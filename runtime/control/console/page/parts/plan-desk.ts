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

/** A step of a plan, as the control API shows it: its inner lists of steps are empty. */
export type ShownStep = Readonly<Record<string, unknown>>

/** Steps to print as statements of gateway.conf. */
export interface StatementsRequest {
  readonly kind: "statements"
  readonly steps: readonly ShownStep[]
}

/** The statements, in the order of the steps; null: this console does not know the kind of the step. */
export interface StatementsReply {
  readonly kind: "statements"
  readonly statements: readonly (string | null)[]
}

const worker = new WorkerChannel<PlanDeskRequest | StatementsRequest, PlanDeskReply | StatementsReply>(
  "worker",
)

/** Compares two plans as texts in a second thread: both are printed in the same way, whatever text they were compiled from. */
export async function comparePlanTexts(before: Plan | undefined, after: Plan): Promise<readonly TextLine[]> {
  const reply = await worker.ask({ kind: "plan-texts", before, after })
  return reply.kind === "plan-texts" ? reply.lines : []
}

/** Steps as statements of gateway.conf, printed in a second thread. */
export async function printSteps(steps: readonly ShownStep[]): Promise<StatementsReply["statements"]> {
  const reply = await worker.ask({ kind: "statements", steps })
  return reply.kind === "statements" ? reply.statements : []
}

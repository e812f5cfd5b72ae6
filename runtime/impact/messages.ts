import type { ImpactRow } from "../check/access-change.ts"
import type { AccessImpact, ImpactProgress } from "../check/impact.ts"
import type { PackedRows } from "../check/ports.ts"
import type { ModelPlan } from "../plan/authorization-model.ts"
import type { ProcessorShare } from "./processor-share.ts"

/** What the thread is started with. */
export interface ImpactJob {
  readonly before: ModelPlan
  readonly after: ModelPlan
  readonly context: Readonly<Record<string, unknown>> | undefined
  /** Whether every row is sent, and not only samples. A number: if there are at most so many. */
  readonly rows: boolean | number
  readonly memoryBytes: number
  readonly depthMax: number
  readonly share: ProcessorShare
}

/** To the thread: tuples, in any number of messages, then their end; and that rows have been taken. */
export type ToImpactThread =
  | { readonly kind: "tuples"; readonly rows: PackedRows }
  | { readonly kind: "restart" }
  | { readonly kind: "loaded" }
  | { readonly kind: "taken" }

/** From the thread. Each `tuples` message is answered with `ready`; after some messages of rows it waits for as many `taken`. */
export type FromImpactThread =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly progress: ImpactProgress }
  | { readonly kind: "rows"; readonly rows: readonly ImpactRow[] }
  | { readonly kind: "done"; readonly tuples: number; readonly impact: AccessImpact }

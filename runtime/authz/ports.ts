import type { LoadedModel } from "../check/loaded-model.ts"
import type { CheckAnswer, CheckRequest, TupleChange } from "../check/ports.ts"
import type { Freshness } from "../check/questions.ts"
import type { Work } from "../check/work.ts"
import type { ModelPlan } from "../plan/model.ts"
import type { Database } from "../store/database.ts"
import type { LogFault } from "./answer.ts"

/** The engine as this API needs it (`Engine` of runtime/check). An answer at hand comes without a promise. */
export interface CheckEngine {
  check(storeId: string, model: LoadedModel, request: CheckRequest): CheckAnswer | Promise<CheckAnswer>
  /** Any other question: the works of runtime/check. */
  ask<Answer>(storeId: string, work: Work<Answer>, freshness?: Freshness): Answer | Promise<Answer>
  /** Own writes, in order of revision, before their requests are answered. */
  applied(storeId: string, changes: readonly TupleChange[]): void
  /** A store was deleted. */
  dropped(storeId: string): void
}

/** What the API is made of. Functions are asked each time, so that a new plan needs no new listener. */
export interface AuthzParts {
  readonly database: Database
  readonly engine: CheckEngine
  /** The running plan's model of that digest, lowered by the compiler already. */
  readonly planModel?: ((digest: string) => ModelPlan | undefined) | undefined
  /** How old what we know of stores may be while the database is away; null: any age. Default 10 s. */
  readonly maxStalenessMs?: (() => number | null) | undefined
  /** For `/healthz`; default: whether the database answers and has this version's schema. */
  readonly healthy?: (() => Promise<boolean>) | undefined
  /** Told of our own faults and of those of the database. */
  readonly onFault?: LogFault | undefined
}

import type { EngineStore, RelationsByType } from "../../engine.ts"

/** What every view of the page Access gets. */
export interface AccessView {
  readonly store: EngineStore
  /** The types of the store's model. */
  readonly types: RelationsByType
}

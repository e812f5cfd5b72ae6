import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import type { EngineModel } from "../model-api.ts"

/** A version of a model that is being looked at or edited. The edited text is a draft of this page. */
export interface ModelDraft {
  readonly store: string
  readonly version: string
  readonly versions: readonly EngineModel[]
  /** The last text without errors; undefined: there was none yet. */
  readonly model: AuthorizationModel | undefined
  readonly isEdited: boolean
  /** The text has errors, so `model` is older than it. */
  readonly isBehind: boolean
}

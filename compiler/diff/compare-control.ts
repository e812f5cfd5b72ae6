import type { ControlPlan } from "../../runtime/plan/control.ts"
import { opens } from "../analysis/finding.ts"
import { listenerChanges } from "./listener-changes.ts"
import type { UnplacedChange } from "./unplaced-change.ts"

const scope = { kind: "control", name: "" } as const

/** Compares how operators reach the control API. Without the block there are no listeners but that of the process's settings. */
export function compareControls(
  before: ControlPlan | undefined,
  after: ControlPlan | undefined,
): UnplacedChange[] {
  return listenerChanges(
    { scope, path: "control.listen", reach: () => opens("operators may also connect to this address") },
    before?.listen ?? [],
    after?.listen ?? [],
  )
}

import { Badge } from "../../../control/console/page/parts/basic.tsx"
import { addressOf } from "../../../control/console/page/router.ts"
import type { Lifecycle } from "../../api.ts"

/** The part of addresses for a version. */
export function versionSegment(version: string | null): string {
  return version ?? "-"
}

/** When a version ends, and what replaces it. */
export function LifecycleNotice({
  api,
  lifecycle,
}: {
  readonly api: string
  readonly lifecycle: Lifecycle | null
}) {
  if (lifecycle === null) return null
  const { deprecated, sunset, closes, successor } = lifecycle
  return (
    <div class="notice warn">
      <p>
        <Badge tone="warn">{deprecated === false ? "sunset" : "deprecated"}</Badge>{" "}
        {typeof deprecated === "string" && `Deprecated since ${deprecated}. `}
        {sunset !== null && (closes ? `From ${sunset} on, requests get 410. ` : `It ends on ${sunset}. `)}
        {successor !== null && (
          <>
            Use <a href={addressOf(["apis", api, successor])}>{successor}</a> instead.
          </>
        )}
      </p>
    </div>
  )
}

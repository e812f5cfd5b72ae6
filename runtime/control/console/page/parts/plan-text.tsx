import type { Plan } from "../../../../plan/plan.ts"
import { counted } from "../format.ts"
import { useAsked } from "../loaded.ts"
import { place, setQuery } from "../router.ts"
import { Failed, Loading, Panel } from "./basic.tsx"
import { comparePlanTexts } from "./plan-desk.ts"
import { TextDifference } from "./text-difference.tsx"

/** The difference of two plans as text. A plan may have megabytes, so it is read when somebody wants to see it; the address says so. */
export function PlanText(props: {
  readonly label: string
  /** Undefined: there is no plan before. */
  readonly before: (() => Promise<Plan>) | undefined
  readonly after: () => Promise<Plan>
}) {
  const { label, before, after } = props
  const isShown = place.value.query.has("text")
  const { answer, error, reload } = useAsked(isShown ? label : undefined, async () => {
    const [old, next] = await Promise.all([before?.(), after()])
    return comparePlanTexts(old, next)
  })
  const lines = answer.value
  const count = (sign: string) => lines?.filter((line) => line[0] === sign).length ?? 0
  return (
    <Panel
      title="As text"
      aside={lines && `${counted(count("+"), "line")} added, ${counted(count("-"), "line")} removed`}
    >
      <p class="quiet">
        Both plans printed in the same way. Names, comments and files of gateway.conf are in git, not in a
        plan.
      </p>
      {!isShown && (
        <p class="actions">
          <button type="button" onClick={() => setQuery({ text: "yes" })}>
            {before === undefined ? "Show the text" : "Show the difference"}
          </button>
        </p>
      )}
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {isShown && lines === undefined && error.value === undefined && <Loading />}
      {isShown && lines && <TextDifference label={label} lines={lines} />}
    </Panel>
  )
}

import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { CanaryAnswer, CanaryRecord } from "../../../api.ts"
import { call, may, who } from "../client.ts"
import { status } from "../events.ts"
import { agoText, counted, digits, msText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Failed, Panel, Table } from "../parts/basic.tsx"
import { Plot } from "../parts/plot.tsx"
import { canaryPoints, latencyLines, rateLines } from "./canary-points.ts"

/** The canary that runs, as live plots of both plans, and what can be done with it. */
export function Canary() {
  const { answer, error, reload } = useLoaded<CanaryAnswer>("/v1/canary")
  const running = status.value?.canary
  useEffect(reload, [running?.id, running?.state, running?.counts?.new.requests])
  const failure = useSignal<unknown>(undefined)
  const canary = answer.value?.canary
  if (error.value !== undefined) return <Failed error={error.value} retry={reload} />
  if (canary?.state !== "running") return null
  const end = async (how: "promote" | "cancel") => {
    failure.value = undefined
    const author = { who: who.peek()?.name ?? "console", commit: null, message: null }
    try {
      await call("POST", `/v1/canary/${how}`, { id: canary.id, author })
    } catch (reason) {
      failure.value = reason
    }
    reload()
  }
  return (
    <Panel title="Canary" aside={`begun ${agoText(canary.startedAt)} by ${canary.who}`}>
      <p>
        {canary.percent} % of the callers for {Math.round(canary.seconds / 60)} min, over plan {canary.base}
        {answer.value?.verdict && `: ${answer.value.verdict}`}.
      </p>
      <CanaryPlots limits={canary.limits} />
      <CanaryCounts canary={canary} />
      {failure.value !== undefined && <Failed error={failure.value} />}
      <p class="actions canary-actions">
        {may("publisher", "plan.apply") && (
          <button type="button" class="primary" onClick={() => void end("promote")}>
            Serve all callers with it
          </button>
        )}
        {may("publisher", "plan.rollback") && (
          <button type="button" onClick={() => void end("cancel")}>
            End it
          </button>
        )}
      </p>
    </Panel>
  )
}

const percentText = (value: number) => `${digits(value)} %`
const noMarks = [] as const

/** Errors, latency and denials of both plans since the canary began, as its limits compare them. */
function CanaryPlots({ limits }: { readonly limits: CanaryRecord["limits"] }) {
  const points = canaryPoints.value
  const { errorPoints, denialPoints, latencyRatio } = limits
  const times = useMemo(() => points.map(({ at }) => at), [points])
  const errors = useMemo(() => rateLines(points, "failed", errorPoints), [points, errorPoints])
  const latency = useMemo(() => latencyLines(points, latencyRatio), [points, latencyRatio])
  const denials = useMemo(() => rateLines(points, "denied", denialPoints), [points, denialPoints])
  if (points.length === 0) return null
  const shared = { times, marks: noMarks }
  return (
    <div class="plots canary-plots">
      <figure>
        <figcaption>
          <span class="strong">Errors</span> <span class="quiet">{allowedText(errorPoints)}</span>
        </figcaption>
        <Plot label="Errors in percent" lines={errors} text={percentText} {...shared} />
      </figure>
      <figure>
        <figcaption>
          <span class="strong">Latency p95</span>{" "}
          <span class="quiet">
            {latencyRatio === null ? "not compared" : `allowed: ${latencyRatio} × the old plan's`}
          </span>
        </figcaption>
        <Plot label="Latency, 95th percentile" lines={latency} text={msText} {...shared} />
      </figure>
      <figure>
        <figcaption>
          <span class="strong">Denials</span> <span class="quiet">{allowedText(denialPoints)}</span>
        </figcaption>
        <Plot label="Denials in percent" lines={denials} text={percentText} {...shared} />
      </figure>
    </div>
  )
}

function allowedText(points: number | null): string {
  return points === null ? "not compared" : `allowed: ${counted(points, "point")} above the old plan`
}

function CanaryCounts({ canary: { counts } }: { readonly canary: CanaryRecord }) {
  if (counts === null) return <p class="quiet">No process has reported yet.</p>
  const row = (name: string, { requests: all, failed, denied }: typeof counts.old) => (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{all.toLocaleString("en")}</td>
      <td class="number">{all === 0 ? "–" : percentText((failed / all) * 100)}</td>
      <td class="number">{all === 0 ? "–" : percentText((denied / all) * 100)}</td>
    </tr>
  )
  return (
    <Table
      label="Requests of both plans"
      columns={["Plan", { number: "Requests" }, { number: "Failed" }, { number: "Denied" }]}
    >
      {row("old", counts.old)}
      {row("new", counts.new)}
    </Table>
  )
}

import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { HistoryAnswer, ProcessStatus, StatusAnswer, TrafficAnswer, TrafficPoint } from "../../../api.ts"
import { status, watch } from "../events.ts"
import { agoText, counted, digits, momentText, msText, sizeText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Badge, Empty, Failed, Loading, PageHead, Panel, Scroll, type Tone } from "../parts/basic.tsx"
import { type Line, type Mark, Plot } from "../parts/plot.tsx"
import { addressOf } from "../router.ts"

const keptMs = 10 * 60_000
const refusalTones = ["c1", "c2", "c3", "c4", "c5", "c6"]

/** The state of the fleet, and the traffic of the process that was asked. */
export default function Overview() {
  const loaded = useLoaded<TrafficAnswer>("/v1/traffic")
  const plans = useLoaded<HistoryAnswer>("/v1/plans?limit=50")
  const serial = status.value?.serial
  const more = useSignal<readonly TrafficPoint[]>([])
  useEffect(
    () =>
      watch({
        traffic: (point) => {
          const begin = point.at - keptMs
          more.value = [...more.peek().filter(({ at }) => at > begin), point]
        },
      }),
    [],
  )
  // A plan was applied: its mark belongs into the plots.
  useEffect(plans.reload, [serial])
  const answer = loaded.answer.value
  const points = useMemo(() => joined(answer?.points ?? [], more.value), [answer, more.value])
  return (
    <>
      <PageHead
        title="Overview"
        about={
          answer && `Traffic of process ${answer.process.pid} on ${answer.process.host}, last ten minutes`
        }
      />
      <Health state={status.value} />
      {loaded.error.value !== undefined && <Failed error={loaded.error.value} retry={loaded.reload} />}
      {answer === undefined ? (
        <Loading />
      ) : answer.points === null && points.length === 0 ? (
        <Empty title="This process has no gateway">
          It was started with another role, so it counts no requests. Open the console of a process with the
          role gateway.
        </Empty>
      ) : (
        <Traffic points={points} marks={marksOf(plans.answer.value)} />
      )}
      <Processes state={status.value} />
    </>
  )
}

/** The points that were read, and those that came by the stream since. */
function joined(read: readonly TrafficPoint[], streamed: readonly TrafficPoint[]): readonly TrafficPoint[] {
  const last = read.at(-1)?.at ?? 0
  const all = [...read, ...streamed.filter(({ at }) => at > last)]
  const begin = (all.at(-1)?.at ?? 0) - keptMs
  return all.filter(({ at }) => at > begin)
}

function marksOf(history: HistoryAnswer | undefined): readonly Mark[] {
  return (history?.plans ?? []).map(({ serial, at }) => ({
    at: Date.parse(at) / 1000,
    label: String(serial),
  }))
}

/** What is wrong, first. */
function Health({ state }: { readonly state: StatusAnswer | undefined }) {
  if (state === undefined) return null
  const ill = state.processes.filter((each) => each.state !== "active" || each.error !== null)
  const canary = state.canary
  if (ill.length === 0 && state.warnings.length === 0 && !canary)
    return (
      <p class="notice good">
        <Badge tone="good">healthy</Badge> {counted(state.processes.length, "process", "processes")}, no
        warnings
      </p>
    )
  return (
    <div class="notices">
      {canary && (
        <p class="notice warn">
          <Badge tone="warn">canary</Badge> A plan serves {canary.percent} % of the callers since{" "}
          {momentText(canary.startedAt)}.
        </p>
      )}
      {ill.map((each) => (
        <div class={`notice ${each.state === "degraded" ? "bad" : "warn"}`} key={each.id}>
          <p>
            <Badge tone={toneOf(each)}>{each.state}</Badge> Process {each.pid} on {each.host}
            {each.stateSince != null && `, ${each.state} since ${momentText(each.stateSince)}`}
          </p>
          <ul>
            {reasonsOf(each).map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </div>
      ))}
      {state.warnings.length > 0 && (
        <div class="notice warn">
          <p>
            <Badge tone="warn">warning</Badge> {counted(state.warnings.length, "warning")}
          </p>
          <ul>
            {state.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function reasonsOf({ error, reasons }: ProcessStatus): string[] {
  return [...new Set([...(error === null ? [] : [error]), ...reasons])]
}

function toneOf({ state, error }: ProcessStatus): Tone {
  if (state === "degraded") return "bad"
  return state === "draining" || error !== null ? "warn" : "good"
}

function Traffic(props: { readonly points: readonly TrafficPoint[]; readonly marks: readonly Mark[] }) {
  const { points, marks } = props
  const times = useMemo(() => points.map(({ at }) => at / 1000), [points])
  const requests = useMemo(() => requestLines(points), [points])
  const latency = useMemo(() => latencyLines(points), [points])
  const refusals = useMemo(() => refusalLines(points), [points])
  const shared = { times, marks }
  return (
    <>
      <Tiles points={points} />
      <div class="plots">
        <Panel title="Requests" aside="per second, by status">
          <Plot label="Requests per second" lines={requests} text={digits} {...shared} />
        </Panel>
        <Panel title="Latency" aside="whole request">
          <Plot label="Latency" lines={latency} text={msText} {...shared} />
        </Panel>
        <Panel title="Refusals" aside="per second, by reason" class="wide">
          {refusals.length === 0 ? (
            <Empty title="No request was refused in the last ten minutes" />
          ) : (
            <Plot label="Refusals per second" lines={refusals} text={digits} {...shared} />
          )}
        </Panel>
      </div>
    </>
  )
}

/** The last ten seconds as numbers. */
function Tiles({ points }: { readonly points: readonly TrafficPoint[] }) {
  const newest = points.at(-1)
  if (newest === undefined) return <Loading />
  const recent = points.filter(({ at }) => at > newest.at - 10_000)
  const seconds = recent.reduce((sum, { ms }) => sum + ms, 0) / 1000
  const sum = (of: (point: TrafficPoint) => number) => recent.reduce((all, point) => all + of(point), 0)
  const requests = sum((point) => total(point.requests))
  const failed = sum(({ requests: each }) => each[5] ?? 0)
  const refused = sum(({ refusals }) => total(Object.values(refusals)))
  return (
    <dl class="tiles">
      <Tile label="Requests" value={`${digits(requests / seconds)}/s`} />
      <Tile
        label="Server errors"
        value={requests === 0 ? "–" : `${digits((failed / requests) * 100)} %`}
        tone={failed > 0 ? "bad" : "plain"}
      />
      <Tile label="Refusals" value={`${digits(refused / seconds)}/s`} />
      <Tile label="p95" value={msText(lastOf(recent, "p95"))} />
      <Tile label="In progress" value={digits(newest.running)} />
      <Tile label="Memory" value={sizeText(newest.memoryBytes)} />
      <Tile label="Event loop p99" value={msText(newest.loopMs)} />
    </dl>
  )
}

function Tile(props: { readonly label: string; readonly value: string; readonly tone?: Tone }) {
  return (
    <div class={`tile ${props.tone ?? "plain"}`}>
      <dt>{props.label}</dt>
      <dd>{props.value}</dd>
    </div>
  )
}

function lastOf(points: readonly TrafficPoint[], name: "p50" | "p95" | "p99"): number | null {
  return points.findLast((point) => point[name] !== null)?.[name] ?? null
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function requestLines(points: readonly TrafficPoint[]): Line[] {
  const classes = [
    ["2xx", "c2", 2],
    ["3xx", "c1", 3],
    ["4xx", "c3", 4],
    ["5xx", "c4", 5],
  ] as const
  return classes.map(([label, tone, at]) => ({
    ...{ label, tone },
    values: points.map(({ requests, ms }) => ((requests[at] ?? 0) * 1000) / ms),
  }))
}

function latencyLines(points: readonly TrafficPoint[]): Line[] {
  const names = [
    ["p50", "c2"],
    ["p95", "c3"],
    ["p99", "c4"],
  ] as const
  return names.map(([label, tone]) => ({ label, tone, values: points.map((point) => point[label]) }))
}

/** The most frequent reasons; the others together. */
function refusalLines(points: readonly TrafficPoint[]): Line[] {
  const sums = new Map<string, number>()
  for (const { refusals } of points)
    for (const [name, count] of Object.entries(refusals)) sums.set(name, (sums.get(name) ?? 0) + count)
  const names = [...sums].sort((one, other) => other[1] - one[1]).map(([name]) => name)
  const shown = names.slice(0, names.length > 6 ? 5 : 6)
  const rate = (point: TrafficPoint, count: number) => (count * 1000) / point.ms
  const lines = shown.map((label, at) => ({
    ...{ label, tone: refusalTones[at] ?? "c6" },
    values: points.map((point) => rate(point, point.refusals[label] ?? 0)),
  }))
  if (names.length === shown.length) return lines
  const rest = (point: TrafficPoint) =>
    total(Object.entries(point.refusals).map(([name, count]) => (shown.includes(name) ? 0 : count)))
  const values = points.map((point) => rate(point, rest(point)))
  return [...lines, { label: `${names.length - shown.length} others`, tone: "c6", values }]
}

/** The fleet, as each process reports itself every few seconds. */
function Processes({ state }: { readonly state: StatusAnswer | undefined }) {
  if (state === undefined) return null
  return (
    <Panel
      title="Processes"
      aside={state.serial === null ? "no plan yet" : `newest plan: serial ${state.serial}`}
    >
      <Scroll label="Processes">
        <table>
          <thead>
            <tr>
              <th>Process</th>
              <th>State</th>
              <th class="number">Serial</th>
              <th>Roles</th>
              <th>Version</th>
              <th>Started</th>
              <th class="number">Memory</th>
              <th class="number" title="Share of the last seconds in which the event loop was busy">
                Loop busy
              </th>
            </tr>
          </thead>
          <tbody>
            {state.processes.map((each) => (
              <tr key={each.id}>
                <td>
                  <span class="strong">{each.host}</span> <span class="quiet">{each.pid}</span>
                </td>
                <td>
                  <Badge tone={toneOf(each)}>{each.state}</Badge>
                </td>
                <td class="number">{each.serial ?? "–"}</td>
                <td>{each.roles.join(", ")}</td>
                <td>{each.version}</td>
                <td title={momentText(each.startedAt)}>{agoText(each.startedAt)}</td>
                <td class="number">{each.memoryBytes == null ? "–" : sizeText(each.memoryBytes)}</td>
                <td class="number">{each.loopBusy == null ? "–" : `${digits(each.loopBusy * 100)} %`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {state.processes.length === 0 && (
        <Empty title="No process has reported yet">
          <a href={addressOf(["overview"])}>Reload</a>
        </Empty>
      )}
    </Panel>
  )
}

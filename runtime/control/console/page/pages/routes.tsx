import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { RouteCounts, RouteSummary, RoutesAnswer } from "../../../api.ts"
import { get } from "../client.ts"
import { counted, digits, msText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Failed, Loading, PageHead, Scroll } from "../parts/basic.tsx"
import { QueryField } from "../parts/query-field.tsx"
import { type Rate, rateOf } from "../rates.ts"
import { addressOf, place } from "../router.ts"
import RoutePage from "./route.tsx"

const refreshMs = 5_000

/** The routes of the newest plan with their traffic, or one of them. */
export default function Routes() {
  const key = place.value.segments[1]
  return key === undefined ? <List /> : <RoutePage key={key} name={key} />
}

function List() {
  const text = place.value.query.get("text") ?? ""
  const limit = useSignal(200)
  const path = `/v1/routes?${new URLSearchParams({ text, limit: String(limit.value) })}`
  const { answer, error, reload } = useLoaded<RoutesAnswer>(path)
  const rates = useRates(answer.value, path)
  const found = answer.value
  return (
    <>
      <PageHead
        title="Routes"
        about={
          found &&
          `${counted(found.total, "route")}${found.serial === null ? "" : ` of plan ${found.serial}`}`
        }
      />
      <div class="filters">
        <QueryField name="text" label="Path, API, version or operation" isLive isWide />
      </div>
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined ? (
        error.value === undefined && <Loading />
      ) : found.routes.length === 0 ? (
        <NoRoute text={text} serial={found.serial} />
      ) : (
        <Table routes={found.routes} rates={rates} />
      )}
      {found?.next && (
        <button
          type="button"
          onClick={() => {
            limit.value = Math.min(1_000, limit.peek() + 400)
          }}
        >
          Show more
        </button>
      )}
    </>
  )
}

function NoRoute({ text, serial }: { readonly text: string; readonly serial: number | null }) {
  if (text !== "")
    return <Empty title="No route matches">Every word must be a part of its path or names.</Empty>
  return serial === null ? (
    <Empty title="No plan was applied yet">
      <code>sallyport apply</code> applies one.
    </Empty>
  ) : (
    <Empty title="The plan has no routes" />
  )
}

/** The rates between two readings of the counters. */
function useRates(first: RoutesAnswer | undefined, path: string): ReadonlyMap<string, Rate> {
  const rates = useSignal<ReadonlyMap<string, Rate>>(new Map())
  useEffect(() => {
    let before = { at: performance.now(), counts: countsOf(first) }
    const timer = setInterval(async () => {
      const next = await get<RoutesAnswer>(path).catch(() => undefined)
      if (next === undefined) return
      const now = { at: performance.now(), counts: countsOf(next) }
      const seconds = (now.at - before.at) / 1000
      rates.value = new Map(
        [...now.counts].map(([key, counts]) => [
          key,
          rateOf(before.counts.get(key), counts, next.bounds, seconds),
        ]),
      )
      before = now
    }, refreshMs)
    return () => clearInterval(timer)
  }, [first, path])
  return rates.value
}

function countsOf(answer: RoutesAnswer | undefined): ReadonlyMap<string, RouteCounts> {
  return new Map(
    (answer?.routes ?? []).flatMap(({ key, counts }) => (counts === null ? [] : [[key, counts] as const])),
  )
}

function Table(props: {
  readonly routes: readonly RouteSummary[]
  readonly rates: ReadonlyMap<string, Rate>
}) {
  return (
    <div class="panel">
      <Scroll label="Routes">
        <table class="list">
          <thead>
            <tr>
              <th>Route</th>
              <th>API</th>
              <th>Version</th>
              <th class="number">Requests</th>
              <th class="number">Rate</th>
              <th class="number">Errors</th>
              <th class="number">p95</th>
              <th>Text</th>
            </tr>
          </thead>
          <tbody>
            {props.routes.map((route, at) => (
              <Row
                key={route.key}
                route={route}
                rate={props.rates.get(route.key)}
                isFirst={route.api !== props.routes[at - 1]?.api}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}

function Row(props: {
  readonly route: RouteSummary
  readonly rate: Rate | undefined
  readonly isFirst: boolean
}) {
  const { route, rate, isFirst } = props
  const all = route.counts?.requests.reduce((sum, count) => sum + count, 0) ?? 0
  return (
    <tr class={isFirst ? "group" : undefined}>
      <td>
        <a href={addressOf(["routes", route.key])} class="route">
          <code>
            <span class="method">{route.method === "*" ? "ANY" : route.method}</span> {route.hosts.join(",")}
            {route.path}
          </code>
        </a>
      </td>
      <td>{route.api}</td>
      <td>{route.version ?? <span class="quiet">–</span>}</td>
      <td class="number">{all.toLocaleString("en")}</td>
      <td class="number">{rate === undefined ? "–" : `${digits(rate.perSecond)}/s`}</td>
      <td class="number">{rate === undefined ? "–" : `${digits(rate.errorShare * 100)} %`}</td>
      <td class="number">{msText(rate?.p95 ?? null)}</td>
      <td>
        <code class="quiet">{route.place}</code>
      </td>
    </tr>
  )
}

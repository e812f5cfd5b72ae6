import { useEffect } from "preact/hooks"
import type { RefusalsAnswer, RefusedRequest, RouteAnswer, RouteCounts, RouteStep } from "../../../api.ts"
import { agoText, counted, digits, momentText, msText } from "../format.ts"
import { useLiveCounts } from "../live-counts.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Failed, Loading, PageHead, Panel, Scroll } from "../parts/basic.tsx"
import { insideName, StepRow, sectionName } from "../parts/step.tsx"
import type { Rate } from "../rates.ts"
import { addressOf } from "../router.ts"

/** One route: its steps in the order in which they run, and its last refusals. */
export default function RoutePage({ name }: { readonly name: string }) {
  const path = `/v1/routes/${encodeURIComponent(name)}`
  const { answer, error, reload } = useLoaded<RouteAnswer>(path)
  const { newest: route = answer.value, rates } = useLiveCounts(answer.value, path, countsOf)
  const refusals = useLoaded<RefusalsAnswer>(`/v1/refusals?${new URLSearchParams({ route: name })}`)
  useEffect(refusals.reload, [route])
  const sample = route?.path.replaceAll(/\{[^}]+\}/g, "1") ?? "/"
  const method = route === undefined || route.method === "*" ? "GET" : route.method
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["routes"])}>Routes</a>
      </p>
      <PageHead
        title={name}
        about={
          route && (
            <>
              API {route.api}
              {route.version === null ? "" : ` ${route.version}`} · <code>{route.place}</code> · timeout{" "}
              {route.timeoutMs === null ? "none" : `${route.timeoutMs / 1000} s`}
            </>
          )
        }
        actions={
          <>
            <a class="button" href={addressOf(["log"], { route: name })}>
              Watch the log
            </a>
            <a class="button" href={addressOf(["try"], { method, target: sample })}>
              Try it
            </a>
          </>
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {route === undefined && error.value === undefined && <Loading />}
      {route && <Counts route={route} rate={rates.get(name)} />}
      {route?.sections
        .filter(({ steps }) => steps.length > 0)
        .map(({ name: section, steps }) => (
          <Panel key={section} title={sectionName(section)} aside={counted(steps.length, "step")}>
            <Steps steps={steps} />
          </Panel>
        ))}
      {refusals.answer.value && <Refusals refusals={refusals.answer.value.refusals} />}
    </>
  )
}

function countsOf(route: RouteAnswer | undefined): ReadonlyMap<string, RouteCounts> {
  return new Map(route?.counts ? [[route.key, route.counts]] : [])
}

/** The traffic of the last seconds, and what this process has counted since its start. */
function Counts(props: { readonly route: RouteAnswer; readonly rate: Rate | undefined }) {
  const { rate, route } = props
  const requests = route.counts?.requests ?? [0, 0, 0, 0, 0, 0]
  const names = ["disconnected", "1xx", "2xx", "3xx", "4xx", "5xx"]
  const tiles = [
    ["requests", rate === undefined ? "–" : `${digits(rate.perSecond)}/s`],
    ["errors", rate === undefined ? "–" : `${digits(rate.errorShare * 100)} %`],
    ["p95", msText(rate?.p95 ?? null)],
    ...names.flatMap((name, at) =>
      name === "1xx" ? [] : [[name, (requests[at] ?? 0).toLocaleString("en")] as const],
    ),
  ] as const
  return (
    <dl class="tiles">
      {tiles.map(([label, value]) => (
        <div class="tile" key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Steps({ steps }: { readonly steps: readonly RouteStep[] }) {
  return (
    <ol class="steps">
      {steps.map((each) => (
        <StepRow
          key={each.at}
          step={each.step}
          place={each.place}
          mark={each.isInherited ? { tone: "plain", word: "inherited" } : undefined}
        >
          {each.inside
            .filter((inner) => inner.steps.length > 0)
            .map((inner) => (
              <div key={inner.name} class="inside">
                {insideName(inner.name) && <code class="quiet">{insideName(inner.name)}</code>}
                <Steps steps={inner.steps} />
              </div>
            ))}
        </StepRow>
      ))}
    </ol>
  )
}

/** By the step that responded, most first. */
function Refusals({ refusals }: { readonly refusals: readonly RefusedRequest[] }) {
  const bySteps = new Map<string, RefusedRequest[]>()
  for (const each of refusals) {
    const name = each.answeredBy
      ? `${each.answeredBy.kind} at ${each.answeredBy.place}`
      : (each.problem ?? "other")
    bySteps.set(name, [...(bySteps.get(name) ?? []), each])
  }
  const rows = [...bySteps].sort((one, other) => other[1].length - one[1].length)
  return (
    <Panel title="Refusals by step" aside="of those that this process remembers">
      {rows.length === 0 ? (
        <Empty title="No refusal of this route is remembered" />
      ) : (
        <Scroll label="Refusals by step">
          <table>
            <thead>
              <tr>
                <th>Step</th>
                <th class="number">Refusals</th>
                <th>Last one</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {rows.map(([name, [last, ...others]]) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td class="number">{others.length + 1}</td>
                  <td title={last && momentText(last.at)}>{last && `${last.status}, ${agoText(last.at)}`}</td>
                  <td>{last && <a href={addressOf(["log", last.id])}>Why?</a>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  )
}

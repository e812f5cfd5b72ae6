import { useRef } from "preact/hooks"
import type { StatusAnswer } from "../../../api.ts"
import { status } from "../events.ts"
import { agoText, counted, momentText, msText } from "../format.ts"
import { Badge, Empty, Loading, PageHead, Panel, Scroll, Table, type Tone } from "../parts/basic.tsx"
import { percentile } from "../rates.ts"

type Traffic = NonNullable<StatusAnswer["traffic"]>
type Target = Traffic["decisionPoints"][string]

const tones: Readonly<Record<Target["health"], Tone>> = { up: "good", down: "bad", unknown: "plain" }
const breakers: Readonly<Record<Target["breaker"], Tone>> = {
  closed: "good",
  open: "bad",
  "half-open": "warn",
  none: "plain",
}

/** How old the reading is that latencies are counted from. */
const latencyMs = 60_000
const day = 86_400_000
/** A certificate is marked as long before its end as `sallyport status` warns. */
const endsSoonMs = 14 * day

/** What the gateway depends on, as the asked process sees it: backends, decision points, keys of issuers, certificates. */
export default function Backends() {
  const state = status.value
  const traffic = state?.traffic
  return (
    <>
      <PageHead title="Backends" about="As this process sees them" />
      {state === undefined ? (
        <Loading />
      ) : traffic === null || traffic === undefined ? (
        <Empty title="This process has no gateway">It was started with another role.</Empty>
      ) : (
        <All traffic={traffic} />
      )}
      {state !== undefined && state.issuers.length > 0 && <Issuers issuers={state.issuers} />}
      {state !== undefined && state.certificates.length > 0 && (
        <Certificates certificates={state.certificates} />
      )}
    </>
  )
}

function All({ traffic }: { readonly traffic: Traffic }) {
  const { backends, decisionPoints, discoveries } = traffic
  const names = Object.keys(backends)
  const points = Object.entries(decisionPoints)
  const latencies = useLatencies(traffic)
  return (
    <>
      {names.length === 0 && points.length === 0 && (
        <Empty title="The plan has no backends">
          <code>backend NAME {"{ url … }"}</code> in gateway.conf declares one.
        </Empty>
      )}
      {names.map((name) => (
        <Panel
          key={name}
          title={name}
          aside={`${counted(backends[name]?.length ?? 0, "target")}, ${latencies(name)}`}
        >
          {discoveries[name] && <Discovery state={discoveries[name]} />}
          <Targets
            label={name}
            targets={(backends[name] ?? []).map((each) => [each.origin, each] as const)}
          />
        </Panel>
      ))}
      {points.length > 0 && (
        <Panel title="Decision points">
          <Targets label="Decision points" targets={points} />
        </Panel>
      )}
    </>
  )
}

/** The words for the latency of a backend: of the last minute, and of all time until the page has seen enough. */
function useLatencies({ durations, bounds }: Traffic): (backend: string) => string {
  const kept = useRef<{ readonly at: number; readonly durations: Traffic["durations"] }[]>([])
  const now = Date.now()
  const last = kept.current.at(-1)
  if (last?.durations !== durations) kept.current.push({ at: now, durations })
  // One reading that is older than the time stays, so that there is always a whole minute.
  while (kept.current.length > 2 && now - (kept.current[1]?.at ?? now) > latencyMs) kept.current.shift()
  const [first] = kept.current
  return (backend) => {
    const all = durations[backend] ?? []
    const before = first?.durations[backend] ?? []
    const recent = all.map((count, at) => Math.max(0, count - (before[at] ?? 0)))
    const isRecent = recent.some((count) => count > 0)
    const counts = isRecent ? recent : all
    const p95 = percentile(counts, bounds, 0.95)
    if (p95 === null) return "no response yet"
    const when = isRecent ? "last minute" : "since its start"
    return `p50 ${msText(percentile(counts, bounds, 0.5))}, p95 ${msText(p95)} (${when})`
  }
}

function Issuers({ issuers }: { readonly issuers: StatusAnswer["issuers"] }) {
  return (
    <Panel title="Issuers" aside="keys that tokens are verified with">
      <Table label="Issuers" columns={["Issuer", "Used by", "State", "Last confirmed", "Keys"]}>
        {issuers.map(({ name, part, ready, keys, ageMs, reason }) => (
          <tr key={`${part} ${name}`}>
            <td class="strong">{name}</td>
            <td>{part}</td>
            <td>
              <Badge tone={ready ? (reason === null ? "good" : "warn") : "bad"}>
                {ready ? "ready" : "no keys"}
              </Badge>
              {reason !== null && <p class="quiet">{reason}</p>}
            </td>
            <td>
              {ageMs === null ? (
                <span class="quiet">never</span>
              ) : (
                agoText(new Date(Date.now() - ageMs).toISOString())
              )}
            </td>
            <td class="nowrap">
              {keys.map(({ id, algorithms }, at) => (
                <div key={`${at} ${id}`}>
                  <code>{id ?? "without id"}</code> <span class="quiet">{algorithms.join(", ")}</span>
                </div>
              ))}
              {keys.length === 0 && <span class="quiet">–</span>}
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

function Certificates({ certificates }: { readonly certificates: StatusAnswer["certificates"] }) {
  const sorted = [...certificates].sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))
  return (
    <Panel title="Certificates" aside="of the listeners, the next to end first">
      <Table label="Certificates" columns={["Certificate", "Hosts", "Ends"]}>
        {sorted.map(({ name, hosts, notAfter }) => (
          <tr key={name}>
            <td class="strong">{name}</td>
            <td>{hosts.length === 0 ? <span class="quiet">–</span> : hosts.join(", ")}</td>
            <td>
              {momentText(notAfter)} <End leftMs={Date.parse(notAfter) - Date.now()} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

function End({ leftMs }: { readonly leftMs: number }) {
  if (leftMs <= 0) return <Badge tone="bad">expired</Badge>
  const left = `in ${counted(Math.floor(leftMs / day), "day")}`
  return leftMs < endsSoonMs ? <Badge tone="warn">{left}</Badge> : <span class="quiet">{left}</span>
}

function Discovery({ state }: { readonly state: Traffic["discoveries"][string] }) {
  const { by, source, targets, reason, ageMs } = state
  return (
    <p class={reason === null ? "quiet" : "notice bad"}>
      Found by {by} at <code>{source}</code>: {targets === null ? "nothing yet" : counted(targets, "target")}
      {ageMs !== null && `, confirmed ${Math.round(ageMs / 1000)} s ago`}
      {reason !== null && `. ${reason}`}
    </p>
  )
}

function Targets(props: {
  readonly label: string
  readonly targets: readonly (readonly [name: string, target: Target])[]
}) {
  if (props.targets.length === 0) return <Empty title="No target" />
  return (
    <Scroll label={`Targets of ${props.label}`}>
      <table class="targets">
        <thead>
          <tr>
            <th>Target</th>
            <th>Health</th>
            <th>Breaker</th>
            <th class="number">In progress</th>
          </tr>
        </thead>
        <tbody>
          {props.targets.map(([name, { origin, health, breaker, outstanding }]) => (
            <tr key={name + origin}>
              <td>
                {name !== origin && <span class="strong">{name} </span>}
                <code>{origin}</code>
              </td>
              <td>
                <Badge tone={tones[health]}>{health === "unknown" ? "not checked" : health}</Badge>
              </td>
              <td>
                {breaker === "none" ? (
                  <span class="quiet">–</span>
                ) : (
                  <Badge tone={breakers[breaker]}>{breaker}</Badge>
                )}
              </td>
              <td class="number">{outstanding}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

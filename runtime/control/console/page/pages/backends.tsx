import type { StatusAnswer } from "../../../api.ts"
import { status } from "../events.ts"
import { counted } from "../format.ts"
import { Badge, Empty, Loading, PageHead, Panel, Scroll, type Tone } from "../parts/basic.tsx"

type Traffic = NonNullable<StatusAnswer["traffic"]>
type Target = Traffic["decisionPoints"][string]

const tones: Readonly<Record<Target["health"], Tone>> = { up: "good", down: "bad", unknown: "plain" }
const breakers: Readonly<Record<Target["breaker"], Tone>> = {
  closed: "good",
  open: "bad",
  "half-open": "warn",
  none: "plain",
}

/** The targets of backends and decision points as the asked process sees them. */
export default function Backends() {
  const state = status.value
  const traffic = state?.traffic
  return (
    <>
      <PageHead title="Backends" about="Targets as this process sees them" />
      {state === undefined ? (
        <Loading />
      ) : traffic === null || traffic === undefined ? (
        <Empty title="This process has no gateway">It was started with another role.</Empty>
      ) : (
        <All traffic={traffic} />
      )}
    </>
  )
}

function All({ traffic: { backends, decisionPoints, discoveries } }: { readonly traffic: Traffic }) {
  const names = Object.keys(backends)
  const points = Object.entries(decisionPoints)
  return (
    <>
      {names.length === 0 && points.length === 0 && (
        <Empty title="The plan has no backends">
          <code>backend NAME {"{ url … }"}</code> in gateway.conf declares one.
        </Empty>
      )}
      {names.map((name) => (
        <Panel key={name} title={name} aside={counted(backends[name]?.length ?? 0, "target")}>
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

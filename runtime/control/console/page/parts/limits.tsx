import type {
  CountedApi,
  LimitsAnswer,
  SubscriptionLimit,
  SubscriptionQuota,
  SubscriptionQuotaUse,
} from "../../../api.ts"
import { counted, momentText, periodText, sizeText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Badge, Empty, Failed, Loading, Panel } from "./basic.tsx"

/** More versions than these are shown only when somebody opens their list. */
const versionsShown = 4

/** A quota of fewer calls is reserved call by call. */
const reservedFrom = 400

/** What counts by a subscription, and what is left of its quotas. `path`: where to read it. `isOptional`: nothing is shown when nothing counts. */
export function LimitsPanel({
  path,
  isOptional = false,
}: {
  readonly path: string
  readonly isOptional?: boolean
}) {
  const { answer, error, reload } = useLoaded<LimitsAnswer>(path)
  const found = answer.value
  if (error.value !== undefined) return <Failed error={error.value} retry={reload} />
  const isEmpty = found !== undefined && found.limits.length + found.quotas.length === 0
  if (isOptional && (found === undefined || isEmpty)) return null
  return (
    <Panel title="Limits and quotas" aside="that count by subscription">
      {found === undefined ? (
        <Loading />
      ) : isEmpty ? (
        <Empty title="Nothing counts by this subscription">
          Write <code>quota 1000 calls per 30d by subscription</code> or{" "}
          <code>limit 20 per 1m by subscription</code> in a product or an API of gateway.conf.
        </Empty>
      ) : (
        <>
          <ul class="limits">
            {found.quotas.map((quota) => (
              <Quota
                key={`${quota.startsAt} ${JSON.stringify([quotaTexts(quota), quota.where])}`}
                quota={quota}
              />
            ))}
            {found.limits.map((limit) => (
              <li key={JSON.stringify(limit)}>
                <strong>{limitText(limit)}</strong>
                <Where where={limit.where} />
              </li>
            ))}
          </ul>
          {found.quotas.some(({ calls }) => calls !== null && calls >= reservedFrom) && (
            <p class="quiet as-text">Up to 1 % of the calls of a quota may be reserved, and not used yet.</p>
          )}
        </>
      )}
    </Panel>
  )
}

/** A limit in words: `20 calls per 60 s`. */
export function limitText({ unit, calls, seconds }: SubscriptionLimit): string {
  return `${counted(calls, unit.slice(0, -1))} per ${periodText(seconds)}`
}

/** A quota in words, once for what it counts: `1,000 calls per 30 days`. */
export function quotaTexts({ unit, calls, bytes, seconds }: SubscriptionQuota): string[] {
  const period = seconds === 0 ? "in all" : `per ${periodText(seconds)}`
  return [
    ...(calls === null ? [] : [`${counted(calls, unit.slice(0, -1))} ${period}`]),
    ...(bytes === null ? [] : [`${writtenSize(bytes)} ${period}`]),
  ]
}

/** As gateway.conf writes it: `5 MB`. */
function writtenSize(bytes: number): string {
  return sizeText(bytes, 1024).replace(/\.0+(?= )/, "")
}

function Quota({ quota }: { readonly quota: SubscriptionQuotaUse }) {
  const { unit, calls, bytes, used, endsAt, where } = quota
  const number = (value: number) => value.toLocaleString("en")
  const [first = "", second = first] = quotaTexts(quota)
  const common = { renewed: endsAt === null ? "never renewed" : `renewed on ${momentText(endsAt)}` }
  return (
    <li>
      <div>
        {calls !== null && (
          <Bar {...common} title={first} what={unit} max={calls} used={used.calls} text={number} />
        )}
        {bytes !== null && (
          <Bar {...common} title={second} what="bytes" max={bytes} used={used.bytes} text={writtenSize} />
        )}
      </div>
      <Where where={where} />
    </li>
  )
}

function Bar(props: {
  readonly title: string
  readonly what: string
  readonly renewed: string
  readonly max: number
  readonly used: number
  readonly text: (value: number) => string
}) {
  const { title, what, renewed, max, used, text } = props
  const left = Math.max(0, max - used)
  return (
    <div class="quota">
      <strong>{title}</strong>
      <span class="number">{left === 0 ? <Badge tone="bad">used up</Badge> : `${text(left)} left`}</span>
      <meter
        aria-label={`Used ${what} of ${title}`}
        min={0}
        max={max}
        // The colour changes at 80 %, and when nothing is left.
        low={max * 0.8}
        high={max * 0.9999}
        optimum={0}
        value={Math.min(max, used)}
      />
      <span class="quiet">
        {text(used)} of {text(max)} used
      </span>
      <span class="quiet number">{renewed}</span>
    </div>
  )
}

function Where({ where }: { readonly where: readonly CountedApi[] }) {
  const names = where.map(({ api, version }) => (version === null ? api : `${api} ${version}`))
  if (names.length <= versionsShown) return <p class="quiet where">On {names.join(", ")}</p>
  return (
    <details class="where">
      <summary>On {names.length} versions of APIs, counted together</summary>
      {names.join(", ")}
    </details>
  )
}

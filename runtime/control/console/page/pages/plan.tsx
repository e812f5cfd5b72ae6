import { useSignal } from "@preact/signals"
import type { ApplyAnswer, HistoryAnswer, PlanAnswer, PlanChangesAnswer, PlanRecord } from "../../../api.ts"
import { call, get, may, who } from "../client.ts"
import { momentText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Facts, Failed, Field, Loading, PageHead, Panel } from "../parts/basic.tsx"
import { Confirmations } from "../parts/confirmations.tsx"
import { People } from "../parts/people.tsx"
import { type Danger, dangersOf, type PlanChange, PlanChanges } from "../parts/plan-changes.tsx"
import { PlanText } from "../parts/plan-text.tsx"
import { addressOf, go, place, setQuery } from "../router.ts"

/** One plan of the history: who applied it and why, what it changed, and the way back to it. */
export default function PlanPage({ serial }: { readonly serial: string }) {
  const { answer, error, reload } = useLoaded<HistoryAnswer>("/v1/plans?limit=500")
  const plans = answer.value?.plans ?? []
  const plan = plans.find((each) => String(each.serial) === serial)
  const newest = plans[0]
  const isRollback = place.value.query.has("rollback") && newest !== undefined && plan !== newest
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["plans"])}>Plans</a>
      </p>
      <PageHead
        title={isRollback ? `Roll back to plan ${serial}` : `Plan ${serial}`}
        about={
          plan && `${momentText(plan.at)} by ${plan.who}${plan.message === null ? "" : `: ${plan.message}`}`
        }
        actions={
          plan !== undefined &&
          plan !== newest &&
          !isRollback &&
          may("publisher", "plan.rollback") && (
            <button type="button" onClick={() => setQuery({ rollback: "yes" })}>
              Roll back to this plan …
            </button>
          )
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {answer.value === undefined && error.value === undefined && <Loading />}
      {answer.value !== undefined && plan === undefined && (
        <Empty title={`The last ${plans.length} plans have no serial ${serial}`} />
      )}
      {plan && !isRollback && <Origin plan={plan} />}
      {plan && newest && <Changes from={isRollback ? newest : undefined} to={plan} isRollback={isRollback} />}
    </>
  )
}

function Origin({ plan }: { readonly plan: PlanRecord }) {
  const { commit, digest, stamp, provenance } = plan
  const facts: (readonly [string, string | undefined])[] = [
    ["commit", commit ?? undefined],
    ["digest", digest],
    ["stamp", stamp],
    ["signed by", provenance?.signer],
    ["compiled by", provenance?.seal?.author.who],
    ...(provenance?.consents ?? []).map(
      ({ who: name, allow, message }) =>
        ["consent", `${name}: ${allow.join(", ")}${message === null ? "" : ` (${message})`}`] as const,
    ),
  ]
  return (
    <Panel title="Origin">
      <Facts facts={facts} />
    </Panel>
  )
}

/** What the plan changes, and the way back to it. */
function Changes(props: {
  readonly from: PlanRecord | undefined
  readonly to: PlanRecord
  readonly isRollback: boolean
}) {
  const { from, to, isRollback } = props
  const query = from === undefined ? "" : `?from=${from.serial}`
  const { answer, error, reload } = useLoaded<PlanChangesAnswer>(`/v1/plans/${to.serial}/changes${query}`)
  const found = answer.value
  if (error.value !== undefined) return <Failed error={error.value} retry={reload} />
  if (found === undefined) return <Loading />
  return (
    <>
      <PlanChanges answer={found} />
      {isRollback && <People plan={async () => (await get<PlanAnswer>(`/v1/plans/${to.serial}`)).plan} />}
      <Texts from={found.from} to={to.serial} />
      {isRollback && from && <Rollback from={from} to={to} changes={found.changes} />}
    </>
  )
}

/** Both plans as text, and as JSON for tools that compare texts. */
function Texts({ from, to }: { readonly from: number | null; readonly to: number }) {
  const planOf = (serial: number) => async () => (await get<PlanAnswer>(`/v1/plans/${serial}`)).plan
  const link = (serial: number) => (
    <a href={`/v1/plans/${serial}`} target="_blank" rel="noreferrer">
      plan {serial}
    </a>
  )
  return (
    <>
      <PlanText
        label={from === null ? `Plan ${to}` : `Plan ${from} and plan ${to}`}
        before={from === null ? undefined : planOf(from)}
        after={planOf(to)}
      />
      <p class="quiet">
        As JSON: {from !== null && <>{link(from)}, </>}
        {link(to)}
      </p>
    </>
  )
}

/** Applies an earlier plan again. Its serial must be typed, and each class of changes be confirmed. */
function Rollback(props: {
  readonly from: PlanRecord
  readonly to: PlanRecord
  readonly changes: readonly PlanChange[]
}) {
  const { from, to, changes } = props
  const typed = useSignal("")
  const message = useSignal("")
  const allow = useSignal<readonly Danger[]>([])
  const error = useSignal<unknown>(undefined)
  const present = dangersOf(changes)
  const isReady = typed.value === String(to.serial) && present.every((name) => allow.value.includes(name))
  const apply = async (event: Event) => {
    event.preventDefault()
    error.value = undefined
    try {
      const { record } = await call<ApplyAnswer>("POST", "/v1/rollback", {
        ...{ serial: to.serial, base: from.serial, baseStamp: from.stamp, allow: allow.value },
        author: { who: who.peek()?.name ?? "console", commit: null, message: message.value || null },
      })
      go(addressOf(["plans", String(record.serial)]))
    } catch (reason) {
      error.value = reason
    }
  }
  return (
    <Panel title="Roll back">
      <form onSubmit={apply}>
        <Confirmations present={present} allow={allow} />
        <Field id="message" label="Why (for the history)">
          <input
            id="message"
            value={message.value}
            onInput={(event) => (message.value = event.currentTarget.value)}
          />
        </Field>
        <Field id="serial" label={`Type ${to.serial} to confirm`}>
          <input
            id="serial"
            inputMode="numeric"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value.trim())}
          />
        </Field>
        {error.value !== undefined && <Failed error={error.value} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={!isReady}>
            Roll back
          </button>
          <button type="button" onClick={() => setQuery({ rollback: undefined })}>
            Cancel
          </button>
        </p>
      </form>
    </Panel>
  )
}

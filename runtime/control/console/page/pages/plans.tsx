import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { HistoryAnswer, PlanRecord } from "../../../api.ts"
import { status } from "../events.ts"
import { agoText, momentText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Badge, Empty, Failed, Loading, PageHead, Table } from "../parts/basic.tsx"
import { addressOf, place } from "../router.ts"
import { Canary } from "./canary.tsx"
import PlanPage from "./plan.tsx"
import PlanFilePage from "./plan-file.tsx"

/** The history of plans, one of them, or one from a file. */
export default function Plans() {
  const serial = place.value.segments[1]
  if (serial === "file") return <PlanFilePage />
  return serial === undefined ? <History /> : <PlanPage key={serial} serial={serial} />
}

function History() {
  const limit = useSignal(50)
  const { answer, error, reload } = useLoaded<HistoryAnswer>(`/v1/plans?limit=${limit.value}`)
  const serial = status.value?.serial
  useEffect(reload, [serial])
  const found = answer.value
  return (
    <>
      <PageHead
        title="Plans"
        about="What was applied, newest first: by whom, and why"
        actions={
          <a class="button" href={addressOf(["plans", "file"])}>
            Review a plan …
          </a>
        }
      />
      <Canary />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined ? (
        error.value === undefined && <Loading />
      ) : found.plans.length === 0 ? (
        <Empty title="No plan was applied yet">
          <code>sallyport apply</code> applies one.
        </Empty>
      ) : (
        <Records plans={found.plans} />
      )}
      {found !== undefined && found.plans.length === limit.value && limit.value < 500 && (
        <button
          type="button"
          onClick={() => {
            limit.value = 500
          }}
        >
          Show more
        </button>
      )}
    </>
  )
}

function Records({ plans }: { readonly plans: readonly PlanRecord[] }) {
  return (
    <div class="panel">
      <Table
        label="Plans"
        columns={[{ number: "Serial" }, "Applied", "By", "Message", "Commit", "Origin"]}
        class="list"
      >
        {plans.map((plan, at) => (
          <tr key={plan.serial}>
            <td class="number">
              <a href={addressOf(["plans", String(plan.serial)])}>{plan.serial}</a>
            </td>
            <td title={momentText(plan.at)}>
              {agoText(plan.at)} {at === 0 && <Badge tone="good">newest</Badge>}
            </td>
            <td>{plan.who}</td>
            <td>{plan.message ?? <span class="quiet">–</span>}</td>
            <td>{plan.commit ? <code>{plan.commit.slice(0, 12)}</code> : <span class="quiet">–</span>}</td>
            <td>
              <Origin plan={plan} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

function Origin({ plan: { provenance } }: { readonly plan: PlanRecord }) {
  const consents = provenance?.consents ?? []
  if (provenance?.signer === undefined && consents.length === 0) return <span class="quiet">–</span>
  return (
    <>
      {provenance?.signer && <>signed by {provenance.signer} </>}
      {consents.length > 0 && <>consent of {consents.map((each) => each.who).join(", ")}</>}
    </>
  )
}

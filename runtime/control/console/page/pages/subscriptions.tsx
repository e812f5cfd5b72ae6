import { useSignal } from "@preact/signals"
import type { Subscription, SubscriptionsAnswer } from "../../../api.ts"
import { may } from "../client.ts"
import { agoText, momentText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Failed, Loading, PageHead, Table } from "../parts/basic.tsx"
import { QueryField } from "../parts/query-field.tsx"
import { lastUse, StateBadge, scopeText, subscriptionStates } from "../parts/subscription-words.tsx"
import { addressOf, place, setQuery } from "../router.ts"
import SubscriptionPage from "./subscription.tsx"
import { Issue } from "./subscription-issue.tsx"

/** The subscriptions, or one of them. */
export default function Subscriptions() {
  const name = place.value.segments[1]
  return name === undefined ? <List /> : <SubscriptionPage key={name} name={name} />
}

function List() {
  const { query } = place.value
  const after = query.get("after") ?? ""
  const given = ["text", "state", "product", "owner"].flatMap((name) => {
    const value = query.get(name)
    return value ? [[name, value]] : []
  })
  const path = `/v1/subscriptions?${new URLSearchParams([...given, ["limit", "100"], ["after", after]])}`
  const { answer, error, reload } = useLoaded<SubscriptionsAnswer>(path)
  const isIssuing = useSignal(false)
  const found = answer.value
  return (
    <>
      <PageHead
        title="Subscriptions"
        about="Keys of callers: issued ones, and those of gateway.conf"
        actions={
          may("operator", "subscription.create") && (
            <button type="button" class="primary" onClick={() => (isIssuing.value = true)}>
              Issue a subscription …
            </button>
          )
        }
      />
      {isIssuing.value && <Issue onClose={() => (isIssuing.value = false)} />}
      <Filters query={query} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined ? (
        error.value === undefined && <Loading />
      ) : found.subscriptions.length === 0 ? (
        <Empty title={given.length > 0 ? "No subscription matches" : "There are no subscriptions"}>
          {given.length === 0 && "A subscription gives a caller two keys for a product or an API."}
        </Empty>
      ) : (
        <SubscriptionTable subscriptions={found.subscriptions} />
      )}
      <p class="actions">
        {after !== "" && (
          <button type="button" onClick={() => setQuery({ after: undefined })}>
            First page
          </button>
        )}
        {found?.next && (
          <button type="button" onClick={() => setQuery({ after: found.next ?? undefined })}>
            Next page
          </button>
        )}
      </p>
    </>
  )
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  return (
    <div class="filters">
      <QueryField name="text" label="Name, owner or note" isLive />
      <label>
        <span>State</span>
        <select
          value={query.get("state") ?? ""}
          onChange={(event) => setQuery({ state: event.currentTarget.value, after: undefined })}
        >
          <option value="">all</option>
          {subscriptionStates.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <QueryField name="product" label="Product" />
    </div>
  )
}

function SubscriptionTable({ subscriptions }: { readonly subscriptions: readonly Subscription[] }) {
  return (
    <div class="panel">
      <Table
        label="Subscriptions"
        columns={["Name", "State", "Access to", "Owner", "Keys", "Last use", "Ends"]}
        class="list"
      >
        {subscriptions.map((each) => (
          <Row key={each.name} subscription={each} />
        ))}
      </Table>
    </div>
  )
}

function Row({ subscription }: { readonly subscription: Subscription }) {
  const { name, state, source, owner, primary, secondary, expiresAt } = subscription
  const used = lastUse(subscription)
  return (
    <tr>
      <td>
        <a href={addressOf(["subscriptions", name])}>{name}</a>
      </td>
      <td>
        <StateBadge state={state} />
      </td>
      <td>{scopeText(subscription)}</td>
      <td>{owner || <span class="quiet">–</span>}</td>
      <td>
        {source === "text" ? (
          <span class="quiet">gateway.conf</span>
        ) : (
          <code>
            {primary?.prefix}… {secondary?.prefix}…
          </code>
        )}
      </td>
      <td title={used && momentText(used)}>{used ? agoText(used) : <span class="quiet">–</span>}</td>
      <td>{expiresAt === null ? <span class="quiet">never</span> : momentText(expiresAt)}</td>
    </tr>
  )
}

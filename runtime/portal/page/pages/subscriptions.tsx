import { agoText, momentText } from "../../../control/console/page/format.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Empty, Failed, Loading, PageHead, Table } from "../../../control/console/page/parts/basic.tsx"
import { addressOf, place } from "../../../control/console/page/router.ts"
import type { OwnSubscriptionsAnswer } from "../../api.ts"
import { about } from "../about.ts"
import { StateBadge } from "../parts/state-badge.tsx"
import { textOf } from "../texts.ts"
import Subscription from "./subscription.tsx"

/** The subscriptions of the person, or one of them. */
export default function Subscriptions() {
  const name = place.value.segments[1]
  if (!about.value?.person) return <Empty title="Sign in to see your subscriptions" />
  return name === undefined ? <List /> : <Subscription name={name} />
}

function List() {
  const { answer, error, reload } = useLoaded<OwnSubscriptionsAnswer>("/api/subscriptions")
  const found = answer.value?.subscriptions
  return (
    <>
      <PageHead title={textOf("nav.subscriptions")} about={textOf("subscriptions.about")} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined && error.value === undefined && <Loading />}
      {found?.length === 0 && (
        <Empty title={textOf("subscriptions.none")}>
          <a href={addressOf(["products"])}>{textOf("nav.products")}</a>
        </Empty>
      )}
      {found !== undefined && found.length > 0 && (
        <div class="panel">
          <Table
            label="Subscriptions"
            columns={["Name", "What it is for", "Product", "State", "Made"]}
            class="list"
          >
            {found.map((each) => (
              <tr key={each.name}>
                <td>
                  <a href={addressOf(["subscriptions", each.name])}>{each.name}</a>
                </td>
                <td>{each.label === "" ? <span class="quiet">–</span> : each.label}</td>
                <td>{each.product ?? <span class="quiet">–</span>}</td>
                <td>
                  <StateBadge state={each.state} />
                </td>
                <td title={momentText(each.createdAt)}>{agoText(each.createdAt)}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </>
  )
}

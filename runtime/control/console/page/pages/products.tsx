import type { ComponentChildren } from "preact"
import type { CountedApi, ProductListAnswer, ProductSummary } from "../../../api.ts"
import { counted } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Badge, Empty, Failed, Loading, PageHead, Table } from "../parts/basic.tsx"
import { limitText, quotaTexts } from "../parts/limits.tsx"
import { QueryField } from "../parts/query-field.tsx"
import { subscriptionStates } from "../parts/subscription-words.tsx"
import { addressOf, place } from "../router.ts"

/** More names than these are shown only when somebody opens their list. */
const apisShown = 4

/** The products of the running plan: what they open and cost, what they limit, and who has them. */
export default function Products() {
  const { answer, error, reload } = useLoaded<ProductListAnswer>("/v1/products")
  const text = (place.value.query.get("text") ?? "").toLowerCase()
  const all = answer.value?.products
  const found = all?.filter(({ name, apis }) => [name, ...apis].some((each) => fits(each, text)))
  return (
    <>
      <PageHead title="Products" about="What callers can subscribe to, as the running plan declares it" />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {all === undefined && error.value === undefined && <Loading />}
      {all?.length === 0 && <NoProduct />}
      {found !== undefined && all !== undefined && all.length > 0 && (
        <>
          <div class="filters">
            <QueryField name="text" label="Product or API" isLive />
          </div>
          {found.length === 0 ? <Empty title="No product matches" /> : <ProductTable products={found} />}
        </>
      )}
    </>
  )
}

function fits(name: string, text: string): boolean {
  return name.toLowerCase().includes(text)
}

function NoProduct() {
  return (
    <Empty title="The plan has no products">
      <p>A product is a bundle of APIs that callers subscribe to. Declare one in gateway.conf:</p>
      <p>
        <code>product partner {"{ apis orders; quota 1000 calls per 30d by subscription }"}</code>
      </p>
    </Empty>
  )
}

function ProductTable({ products }: { readonly products: readonly ProductSummary[] }) {
  return (
    <div class="panel">
      <Table
        label="Products"
        columns={["Product", "Subscriptions", "Limits and quotas", "APIs", "Price per call"]}
        class="list products"
      >
        {products.map((each) => (
          <Row key={each.name} product={each} />
        ))}
      </Table>
    </div>
  )
}

function Row({ product }: { readonly product: ProductSummary }) {
  const { name, apis, price, subscriptionsPerOwner } = product
  return (
    <tr>
      <td>
        <div class="marked">
          <a href={addressOf(["subscriptions"], { product: name })}>{name}</a>
          <Marks product={product} />
        </div>
      </td>
      <td>
        <States product={product} />
        {subscriptionsPerOwner !== null && (
          <div class="quiet">at most {subscriptionsPerOwner.toLocaleString("en")} per owner</div>
        )}
      </td>
      <td>
        <Counting product={product} />
      </td>
      <td>
        {apis.length <= apisShown ? (
          <Names names={apis} />
        ) : (
          <details>
            <summary>{counted(apis.length, "API")}</summary>
            <Names names={apis} />
          </details>
        )}
      </td>
      <td class="nowrap">{price === null ? <None /> : `${price.amount} ${price.currency}`}</td>
    </tr>
  )
}

function None() {
  return <span class="quiet">–</span>
}

function Marks({ product: { approval, open, unpublished } }: { readonly product: ProductSummary }) {
  return (
    <>
      {approval && <Badge tone="plain">needs approval</Badge>}
      {open && <Badge tone="plain">open without a key</Badge>}
      {unpublished && <Badge tone="warn">unpublished</Badge>}
    </>
  )
}

function Names({ names }: { readonly names: readonly string[] }) {
  return (
    <ul class="name-list">
      {names.map((name) => (
        <li key={name}>
          <a href={addressOf(["routes"], { text: name })}>{name}</a>
        </li>
      ))}
    </ul>
  )
}

function Counting({ product: { apis, limits, quotas } }: { readonly product: ProductSummary }) {
  const lines = [
    ...quotas.map((quota) => ({ words: quotaTexts(quota).join(" and "), where: quota.where })),
    ...limits.map((limit) => ({ words: limitText(limit), where: limit.where })),
  ]
  if (lines.length === 0) return <None />
  return (
    <ul class="name-list">
      {lines.map(({ words, where }) => (
        <li key={JSON.stringify([words, where])}>
          {words} <Part where={where} of={apis.length} />
        </li>
      ))}
    </ul>
  )
}

/** Which APIs of the product a limit counts, unless it counts all. */
function Part({
  where,
  of,
}: {
  readonly where: readonly CountedApi[]
  readonly of: number
}): ComponentChildren {
  const names = [...new Set(where.map(({ api }) => api))]
  if (names.length === of) return null
  return (
    <span class="quiet">
      on {names.length <= apisShown ? names.join(", ") : counted(names.length, "API")}
    </span>
  )
}

function States({ product: { name, subscriptions } }: { readonly product: ProductSummary }) {
  const states = subscriptionStates.filter((state) => subscriptions[state] !== undefined)
  if (states.length === 0) return <span class="quiet">none</span>
  return (
    <ul class="name-list">
      {states.map((state) => (
        <li key={state}>
          <a href={addressOf(["subscriptions"], { product: name, state })}>
            {(subscriptions[state] ?? 0).toLocaleString("en")} {state}
          </a>
        </li>
      ))}
    </ul>
  )
}

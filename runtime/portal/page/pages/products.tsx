import { useSignal } from "@preact/signals"
import { call } from "../../../control/console/page/client.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Badge, Empty, Failed, Field, Loading, PageHead } from "../../../control/console/page/parts/basic.tsx"
import { Dialog } from "../../../control/console/page/parts/dialog.tsx"
import { KeysOnce } from "../../../control/console/page/parts/keys-once.tsx"
import { addressOf, go } from "../../../control/console/page/router.ts"
import type { KeysAnswer, OfferedProduct, ProductsAnswer } from "../../api.ts"
import { about } from "../about.ts"
import { moneyText } from "../money.ts"
import { textOf } from "../texts.ts"

/** The products, and the way to keys for them. */
export default function Products() {
  const { answer, error, reload } = useLoaded<ProductsAnswer>("/api/products")
  const chosen = useSignal<OfferedProduct | undefined>(undefined)
  const products = answer.value?.products
  return (
    <>
      <PageHead title={textOf("nav.products")} about={textOf("products.about")} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {products === undefined && error.value === undefined && <Loading />}
      {products?.length === 0 && <Empty title={textOf("products.none")} />}
      <div class="cards">
        {products?.map((each) => (
          <Product
            key={each.name}
            product={each}
            onSubscribe={() => {
              chosen.value = each
            }}
          />
        ))}
      </div>
      {chosen.value && (
        <Subscribe
          product={chosen.value}
          onClose={() => {
            chosen.value = undefined
          }}
        />
      )}
    </>
  )
}

function Product(props: { readonly product: OfferedProduct; readonly onSubscribe: () => void }) {
  const { name, apis, approval, price, subscriptionsPerOwner } = props.product
  const { person, signIn } = about.value ?? {}
  return (
    <section class="panel" aria-label={name}>
      <h2>{name}</h2>
      <ul class="plain-list">
        <li>APIs: {apis.join(", ")}</li>
        <li>{price === null ? "Free of charge" : `${moneyText(price)} a call`}</li>
        {approval && (
          <li>
            <Badge tone="plain">approval</Badge> Keys are valid after somebody has approved the subscription.
          </li>
        )}
        {subscriptionsPerOwner !== null && <li>At most {subscriptionsPerOwner} for each person</li>}
      </ul>
      {person ? (
        <button type="button" class="primary" onClick={props.onSubscribe}>
          {textOf("subscribe")}
        </button>
      ) : (
        signIn && (
          <a
            class="button"
            rel="external"
            href={`${signIn.login}?${new URLSearchParams({ return_to: addressOf(["products"]) })}`}
          >
            {textOf("sign-in")}
          </a>
        )
      )}
    </section>
  )
}

/** Asks for a label, subscribes, and shows the keys once. */
function Subscribe({ product, onClose }: { readonly product: OfferedProduct; readonly onClose: () => void }) {
  const label = useSignal("")
  const made = useSignal<KeysAnswer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const send = async (event: Event) => {
    event.preventDefault()
    error.value = undefined
    try {
      made.value = await call<KeysAnswer>("POST", "/api/subscriptions", {
        product: product.name,
        label: label.value,
      })
    } catch (reason) {
      error.value = reason
    }
  }
  const found = made.value
  if (found !== undefined)
    return (
      <Dialog title="Your keys" onClose={onClose}>
        <KeysOnce keys={found.keys} />
        {found.subscription.state === "submitted" && (
          <p>They are valid after the subscription was approved.</p>
        )}
        <button
          type="button"
          class="primary"
          onClick={() => go(addressOf(["subscriptions", found.subscription.name]))}
        >
          Done
        </button>
      </Dialog>
    )
  return (
    <Dialog title={`Subscribe to ${product.name}`} onClose={onClose}>
      <form onSubmit={send}>
        <Field id="label" label="What it is for" hint="Only you and the operators see it.">
          <input
            id="label"
            maxLength={200}
            aria-describedby="label-hint"
            value={label.value}
            onInput={(event) => (label.value = event.currentTarget.value)}
          />
        </Field>
        {error.value !== undefined && <Failed error={error.value} />}
        <p class="actions">
          <button type="submit" class="primary">
            {textOf("subscribe")}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  )
}

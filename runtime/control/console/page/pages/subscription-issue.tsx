import { useSignal } from "@preact/signals"
import type { IssuedAnswer, PlanAnswer, Subscription } from "../../../api.ts"
import { call } from "../client.ts"
import { useLoaded } from "../loaded.ts"
import { Failed, Field } from "../parts/basic.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { KeysOnce } from "../parts/keys-once.tsx"
import { addressOf, go } from "../router.ts"

/** Asks for a new subscription, and shows its keys once. */
export function Issue({ onClose }: { readonly onClose: () => void }) {
  const issued = useSignal<IssuedAnswer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    error.value = undefined
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? "").trim()
    const end = text("end")
    try {
      issued.value = await call<IssuedAnswer>("POST", "/v1/subscriptions", {
        ...{ name: text("name"), scope: scopeOf(text("scope")), owner: text("owner"), note: text("note") },
        expiresAt: end === "" ? null : new Date(end).toISOString(),
      })
    } catch (reason) {
      error.value = reason
    }
  }
  const made = issued.value
  const close = () => {
    if (made !== undefined) go(addressOf(["subscriptions", made.subscription.name]))
    onClose()
  }
  return (
    <Dialog
      title={made === undefined ? "Issue a subscription" : `Keys of ${made.subscription.name}`}
      onClose={close}
    >
      {made === undefined ? (
        <form onSubmit={send}>
          <Fields />
          {error.value !== undefined && <Failed error={error.value} />}
          <p class="actions">
            <button type="submit" class="primary">
              Issue
            </button>
            <button type="button" onClick={close}>
              Cancel
            </button>
          </p>
        </form>
      ) : (
        <>
          <KeysOnce keys={made.keys} />
          {made.subscription.state === "submitted" && (
            <p>The product asks for an approval before the keys are valid.</p>
          )}
          <button type="button" class="primary" onClick={close}>
            Done
          </button>
        </>
      )}
    </Dialog>
  )
}

function Fields() {
  const { answer } = useLoaded<PlanAnswer>("/v1/plan")
  const plan = answer.value?.plan.plan
  const products = Object.keys(plan?.products ?? {})
  const apis = [...new Set(Object.values(plan?.routes ?? {}).map(({ api }) => api))]
  return (
    <>
      <Field id="name" label="Name" hint="A letter, then letters, digits, _ or -">
        <input id="name" name="name" required pattern="[A-Za-z][A-Za-z0-9_\-]{0,62}" autocomplete="off" />
      </Field>
      <Field id="scope" label="Access to">
        <select id="scope" name="scope">
          {products.map((each) => (
            <option key={`p ${each}`} value={`product ${each}`}>
              product {each}
            </option>
          ))}
          {apis.map((each) => (
            <option key={`a ${each}`} value={`api ${each}`}>
              API {each}
            </option>
          ))}
          <option value="all">all APIs</option>
        </select>
      </Field>
      <Field id="owner" label="Owner">
        <input id="owner" name="owner" maxLength={200} autocomplete="off" />
      </Field>
      <Field id="note" label="Note for operators">
        <input id="note" name="note" maxLength={2000} autocomplete="off" />
      </Field>
      <Field id="end" label="End (optional)">
        <input id="end" name="end" type="datetime-local" />
      </Field>
    </>
  )
}

function scopeOf(text: string): Subscription["scope"] {
  const [kind, name = ""] = text.split(" ", 2)
  if (kind === "product") return { product: name }
  return kind === "api" ? { api: name } : { all: true }
}

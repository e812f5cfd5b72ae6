import { useSignal } from "@preact/signals"
import type { IssuedAnswer, Subscription } from "../../../api.ts"
import { call, may } from "../client.ts"
import { agoText, momentText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Failed, Field, Loading, PageHead, Panel } from "../parts/basic.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { KeysOnce } from "../parts/keys-once.tsx"
import { LimitsPanel } from "../parts/limits.tsx"
import { StateBadge, scopeText } from "../parts/subscription-words.tsx"
import { addressOf, go } from "../router.ts"
import { UsageTable } from "./usage-table.tsx"

/** What can be done with a subscription. `from`: its states in which that is possible; `final`: it asks before. */
interface Action {
  readonly name: string
  readonly label: string
  readonly from: readonly Subscription["state"][]
  readonly final?: string
}

const actions: readonly Action[] = [
  { name: "approve", label: "Approve", from: ["submitted"] },
  {
    name: "reject",
    label: "Reject …",
    from: ["submitted"],
    final: "It is final: the subscription is never valid.",
  },
  { name: "suspend", label: "Suspend", from: ["active"] },
  { name: "activate", label: "Activate", from: ["suspended"] },
  {
    ...{ name: "cancel", label: "Cancel …", from: ["submitted", "active", "suspended", "expired"] },
    final: "It is final: its keys are refused from now on.",
  },
  {
    ...{
      name: "delete",
      label: "Delete …",
      from: ["submitted", "active", "suspended", "rejected", "cancelled", "expired"],
    },
    final: "Its keys are refused from now on, and it is no longer listed. Its usage stays.",
  },
]

/** One subscription: its state and keys, what can be done with it, and its usage. */
export default function SubscriptionPage({ name }: { readonly name: string }) {
  const path = `/v1/subscriptions/${encodeURIComponent(name)}`
  const { answer, error, reload } = useLoaded<Subscription>(path)
  const failure = useSignal<unknown>(undefined)
  const keys = useSignal<IssuedAnswer["keys"] | undefined>(undefined)
  const asked = useSignal<Action | undefined>(undefined)
  const found = answer.value
  const run = async (action: string, body?: unknown) => {
    failure.value = undefined
    asked.value = undefined
    try {
      if (action === "delete") {
        await call("DELETE", path)
        go(addressOf(["subscriptions"]), true)
        return
      }
      const result = await call<Partial<IssuedAnswer>>("POST", `${path}/${action}`, body)
      keys.value = result.keys
    } catch (reason) {
      failure.value = reason
    }
    reload()
  }
  const start = (action: Action) => {
    if (action.final === undefined) void run(action.name)
    else asked.value = action
  }
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["subscriptions"])}>Subscriptions</a>
      </p>
      <PageHead
        title={name}
        about={found && scopeText(found)}
        actions={found && <Buttons found={found} onAction={start} />}
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {failure.value !== undefined && <Failed error={failure.value} />}
      {keys.value && <KeysOnce keys={keys.value} />}
      {asked.value && (
        <Confirm action={asked.value} name={name} onClose={() => (asked.value = undefined)} onYes={run} />
      )}
      {found === undefined ? (
        error.value === undefined && <Loading />
      ) : (
        <Facts found={found} onRotate={run} />
      )}
      {found && <LimitsPanel path={`${path}/limits`} />}
      {found && (
        <Panel title="Usage" aside="last 30 days">
          <UsageTable by={["day"]} filters={{ subscription: name }} days={30} />
        </Panel>
      )}
    </>
  )
}

function Buttons(props: { readonly found: Subscription; readonly onAction: (action: Action) => void }) {
  const { state, source } = props.found
  if (source === "text") return <span class="quiet">declared in gateway.conf: a plan changes it</span>
  return (
    <>
      {actions
        .filter(({ name, from }) => from.includes(state) && may("operator", `subscription.${name}`))
        .map((action) => (
          <button key={action.name} type="button" onClick={() => props.onAction(action)}>
            {action.label}
          </button>
        ))}
    </>
  )
}

function Confirm(props: {
  readonly action: Action
  readonly name: string
  readonly onClose: () => void
  readonly onYes: (action: string) => void
}) {
  const { action, name, onClose, onYes } = props
  const typed = useSignal("")
  return (
    <Dialog title={`${action.label.replace(" …", "")} ${name}?`} onClose={onClose}>
      <p>{action.final}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onYes(action.name)
        }}
      >
        <Field id="typed" label="Type its name to confirm">
          <input
            id="typed"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </Field>
        <p class="actions">
          <button type="submit" class="primary" disabled={typed.value !== name}>
            {action.label.replace(" …", "")}
          </button>
          <button type="button" onClick={onClose}>
            Back
          </button>
        </p>
      </form>
    </Dialog>
  )
}

function Facts(props: {
  readonly found: Subscription
  readonly onRotate: (action: string, body: unknown) => void
}) {
  const { state, owner, note, expiresAt, createdAt, changedAt } = props.found
  const facts: (readonly [string, string])[] = [
    ["owner", owner || "–"],
    ["note", note || "–"],
    ["ends", expiresAt === null ? "never" : momentText(expiresAt)],
    ["created", createdAt === null ? "–" : momentText(createdAt)],
    ["changed", changedAt === null ? "–" : momentText(changedAt)],
  ]
  const canRotate = may("operator", "subscription.rotate") && state !== "rejected" && state !== "cancelled"
  return (
    <Panel title="Subscription" aside={<StateBadge state={state} />}>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {(["primary", "secondary"] as const).map((name) => {
          const key = props.found[name]
          if (key === null) return null
          return (
            <div key={name}>
              <dt>{name} key</dt>
              <dd>
                <code>{key.prefix}…</code>{" "}
                <span class="quiet">
                  {key.lastUsedAt === null ? "never used" : `used ${agoText(key.lastUsedAt)}`}
                </span>{" "}
                {canRotate && (
                  <button type="button" onClick={() => props.onRotate("rotate", { key: name })}>
                    Replace<span class="hidden"> the {name} key</span>
                  </button>
                )}
              </dd>
            </div>
          )
        })}
      </dl>
    </Panel>
  )
}

import { useSignal } from "@preact/signals"
import { call } from "../../../control/console/page/client.ts"
import { momentText } from "../../../control/console/page/format.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Empty, Failed, Loading, PageHead, Panel, Table } from "../../../control/console/page/parts/basic.tsx"
import { Dialog } from "../../../control/console/page/parts/dialog.tsx"
import { KeysOnce } from "../../../control/console/page/parts/keys-once.tsx"
import { LimitsPanel } from "../../../control/console/page/parts/limits.tsx"
import { addressOf } from "../../../control/console/page/router.ts"
import type { KeysAnswer, OwnErrorsAnswer, OwnKey, OwnSubscription } from "../../api.ts"
import { StateBadge } from "../parts/state-badge.tsx"
import { textOf } from "../texts.ts"
import { OwnUsage } from "./own-usage.tsx"

type KeyName = "primary" | "secondary"

/** One subscription: its keys, what it may call, what it has called, and why calls failed. */
export default function Subscription({ name }: { readonly name: string }) {
  const path = `/api/subscriptions/${encodeURIComponent(name)}`
  const { answer, error, reload } = useLoaded<OwnSubscription>(path)
  const made = useSignal<KeysAnswer["keys"] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const found = answer.value
  const act = async (action: string, body: object) => {
    failure.value = undefined
    try {
      const done = await call<KeysAnswer | OwnSubscription>("POST", `${path}/${action}`, body)
      if ("keys" in done) made.value = done.keys
      reload()
    } catch (reason) {
      failure.value = reason
    }
  }
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["subscriptions"])}>{textOf("nav.subscriptions")}</a>
      </p>
      <PageHead
        title={found?.label || name}
        about={
          found && (
            <>
              <StateBadge state={found.state} /> {found.product} · <code>{found.name}</code>
              {found.expiresAt !== null && ` · until ${momentText(found.expiresAt)}`}
            </>
          )
        }
        actions={found && <Ending subscription={found} act={act} />}
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {failure.value !== undefined && <Failed error={failure.value} />}
      {found === undefined && error.value === undefined && <Loading />}
      {found && <Keys subscription={found} onRotate={(key) => void act("rotate", { key })} />}
      {found && <LimitsPanel path={`${path}/limits`} isOptional />}
      {found && <OwnUsage path={path} />}
      {found && <Errors path={path} />}
      {made.value && (
        <NewKey
          keys={made.value}
          onClose={() => {
            made.value = undefined
          }}
        />
      )}
    </>
  )
}

function NewKey({ keys, onClose }: { readonly keys: KeysAnswer["keys"]; readonly onClose: () => void }) {
  return (
    <Dialog title="New key" onClose={onClose}>
      <KeysOnce keys={keys} />
      <button type="button" class="primary" onClick={onClose}>
        Done
      </button>
    </Dialog>
  )
}

/** Suspending and cancelling ask first: the person cannot undo either. */
function Ending(props: {
  readonly subscription: OwnSubscription
  readonly act: (action: string, body: object) => Promise<void>
}) {
  const asked = useSignal<"suspend" | "cancel" | undefined>(undefined)
  const { may } = props.subscription
  const close = () => {
    asked.value = undefined
  }
  const action = asked.value
  return (
    <>
      {(["suspend", "cancel"] as const)
        .filter((each) => may.includes(each))
        .map((each) => (
          <button
            key={each}
            type="button"
            onClick={() => {
              asked.value = each
            }}
          >
            {each === "suspend" ? "Suspend …" : "Cancel …"}
          </button>
        ))}
      {action !== undefined && (
        <Dialog
          title={action === "suspend" ? "Suspend the subscription?" : "Cancel the subscription?"}
          onClose={close}
        >
          <p>
            {action === "suspend"
              ? "Its keys stop working at once. Only operators can activate it again."
              : "Its keys stop working at once, for ever."}
          </p>
          <p class="actions">
            <button
              type="button"
              class="primary"
              onClick={() => {
                close()
                void props.act(action, {})
              }}
            >
              {action === "suspend" ? "Suspend" : "Cancel it"}
            </button>
            <button type="button" onClick={close}>
              Keep it
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}

function Keys(props: { readonly subscription: OwnSubscription; readonly onRotate: (key: KeyName) => void }) {
  const { primary, secondary, may } = props.subscription
  const row = (name: KeyName, key: OwnKey | null) => (
    <tr key={name}>
      <th scope="row">{name} key</th>
      <td>{key === null ? <span class="quiet">none</span> : <code>{key.prefix}…</code>}</td>
      <td>{key === null ? "–" : momentText(key.createdAt)}</td>
      <td>{key?.lastUsedAt ? momentText(key.lastUsedAt) : "never"}</td>
      <td>
        {may.includes("rotate") && (
          <button type="button" onClick={() => props.onRotate(name)}>
            Replace
          </button>
        )}
      </td>
    </tr>
  )
  return (
    <Panel title="Keys" aside="Replace one while the other is in use">
      <Table label="Keys" columns={["Key", "Begins with", "Made", "Last used", "Action"]}>
        {(["primary", "secondary"] as const).map((name) =>
          row(name, name === "primary" ? primary : secondary),
        )}
      </Table>
    </Panel>
  )
}

function Errors({ path }: { readonly path: string }) {
  const { answer, error, reload } = useLoaded<OwnErrorsAnswer>(`${path}/errors`)
  const errors = answer.value?.errors
  return (
    <Panel title="Failed calls" aside="of the last hour">
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {errors?.length === 0 && <Empty title="No call failed" />}
      {errors !== undefined && errors.length > 0 && (
        <Table label="Failed calls" columns={["At", "Call", { number: "Status" }, "Why"]}>
          {errors.map((each) => (
            <tr key={each.id}>
              <td>{momentText(each.at)}</td>
              <td>
                <code>
                  {each.method} {each.path}
                </code>
              </td>
              <td class="number">{each.status}</td>
              <td>{each.reason}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  )
}

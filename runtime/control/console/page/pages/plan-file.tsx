import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Plan } from "../../../../plan/plan.ts"
import type {
  ApplyAnswer,
  ConsentsAnswer,
  HistoryAnswer,
  PlanAnswer,
  PlanChangesAnswer,
} from "../../../api.ts"
import { call, get, may, who } from "../client.ts"
import { momentText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Empty, Facts, Failed, Field, Loading, PageHead, Panel } from "../parts/basic.tsx"
import { Confirmations } from "../parts/confirmations.tsx"
import { People } from "../parts/people.tsx"
import { type Danger, dangersOf, PlanChanges } from "../parts/plan-changes.tsx"
import { PlanText } from "../parts/plan-text.tsx"
import { addressOf, go } from "../router.ts"

/** What the page reads of a file of `sallyport plan --out`; the control API validates all of it. */
interface PlanFile {
  readonly plan: unknown
  readonly signature?: unknown
  readonly seal: {
    readonly digest: string
    readonly at: string
    readonly author: { readonly who: string; readonly message: string | null; readonly commit: string | null }
    readonly base: { readonly serial: number; readonly stamp: string } | null
  }
}

/** As much as the control API takes. */
const bytesMax = 64 * 1024 * 1024

/** A plan from a file, as reviewers want to read it, and what can be done with it: consent, apply, or try it on some callers. */
export default function PlanFilePage() {
  const file = useSignal<PlanFile | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const open = async (chosen: File | undefined) => {
    ;[file.value, error.value] = [undefined, undefined]
    if (chosen === undefined) return
    try {
      file.value = await readFile(chosen)
    } catch (reason) {
      error.value = reason
    }
  }
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["plans"])}>Plans</a>
      </p>
      <PageHead title="Plan from a file" about="A file of `sallyport plan --out FILE`" />
      <Panel title="File">
        <Field id="plan-file" label="Plan">
          <input
            id="plan-file"
            type="file"
            accept=".json,application/json"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
        </Field>
        {file.value && <Seal file={file.value} />}
      </Panel>
      {error.value !== undefined && <Failed error={error.value} />}
      {file.value && <Review key={file.value.seal.digest} file={file.value} />}
    </>
  )
}

async function readFile(chosen: File): Promise<PlanFile> {
  if (chosen.size > bytesMax) throw new Error(`${chosen.name} has more than 64 MB, so it is no plan.`)
  let content: unknown
  try {
    content = JSON.parse(await chosen.text())
  } catch {
    throw new Error(`${chosen.name} is not JSON. Choose a file of \`sallyport plan --out FILE\`.`)
  }
  if (typeof content !== "object" || content === null || !("seal" in content) || !("plan" in content))
    throw new Error(`${chosen.name} is no plan. Choose a file of \`sallyport plan --out FILE\`.`)
  return content as PlanFile
}

function Seal({ file: { seal, signature } }: { readonly file: PlanFile }) {
  const facts = [
    ["digest", seal.digest],
    ["compiled by", `${seal.author.who}, ${momentText(seal.at)}`],
    ["commit", seal.author.commit],
    ["message", seal.author.message],
    ["compared with", seal.base === null ? "no plan" : `plan ${seal.base.serial}`],
    ["signature", signature === undefined ? "none" : "present; it is checked when the plan is applied"],
  ] as const
  return <Facts facts={facts} />
}

function Review({ file }: { readonly file: PlanFile }) {
  const answer = useSignal<PlanChangesAnswer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const compare = () => {
    error.value = undefined
    call<PlanChangesAnswer>("POST", "/v1/plan/changes", { plan: file.plan }).then(
      (found) => {
        answer.value = found
      },
      (reason: unknown) => {
        error.value = reason
      },
    )
  }
  useEffect(compare, [])
  const found = answer.value
  if (error.value !== undefined) return <Failed error={error.value} retry={compare} />
  if (found === undefined) return <Loading />
  return (
    <>
      <PlanChanges answer={found} />
      <People plan={async () => file.plan} />
      <PlanText
        label={found.from === null ? "The plan of the file" : `Plan ${found.from} and the plan of the file`}
        before={found.from === null ? undefined : () => planAt(found.from)}
        after={async () => file.plan as Plan}
      />
      <Decision file={file} dangers={dangersOf(found.changes)} />
    </>
  )
}

async function planAt(serial: number | null): Promise<Plan> {
  return (await get<PlanAnswer>(`/v1/plans/${serial}`)).plan
}

/** What an operator says about the plan. */
interface Opinion {
  readonly allow: Signal<readonly Danger[]>
  readonly message: Signal<string>
}

/** Consent, apply and canary, if the file was made for the running plan. */
function Decision({ file, dangers }: { readonly file: PlanFile; readonly dangers: readonly Danger[] }) {
  const { seal } = file
  const history = useLoaded<HistoryAnswer>("/v1/plans?limit=1")
  const consents = useLoaded<ConsentsAnswer>("/v1/consents")
  const allow = useSignal<readonly Danger[]>([])
  const message = useSignal(seal.author.message ?? "")
  if (history.answer.value === undefined) return null
  const newest = history.answer.value.plans[0]
  if (newest !== undefined && newest.serial !== seal.base?.serial)
    return (
      <Panel title="Decision">
        <Empty title={`Plan ${newest.serial} was applied since this file was made`}>
          Make the plan again with <code>sallyport plan --out FILE</code>.
        </Empty>
      </Panel>
    )
  const given = (consents.answer.value?.consents ?? []).filter(({ digest }) => digest === seal.digest)
  return (
    <Panel title="Decision">
      {given.length > 0 && (
        <ul class="plain-list">
          {given.map(({ consent: { who: name, allow: classes, at } }) => (
            <li key={name}>
              {name} consented to {classes.join(", ")} on {momentText(at)}
            </li>
          ))}
        </ul>
      )}
      <Confirmations present={dangers} allow={allow} />
      <Field id="plan-message" label="Why (for the history)">
        <input
          id="plan-message"
          value={message.value}
          onInput={(event) => (message.value = event.currentTarget.value)}
        />
      </Field>
      <Actions
        {...{ file, dangers, opinion: { allow, message } }}
        isFirst={newest === undefined}
        onConsent={consents.reload}
      />
    </Panel>
  )
}

/** The buttons that the operator's role allows. */
function Actions(props: {
  readonly file: PlanFile
  readonly dangers: readonly Danger[]
  readonly opinion: Opinion
  readonly isFirst: boolean
  readonly onConsent: () => void
}) {
  const { dangers, opinion } = props
  const error = useSignal<unknown>(undefined)
  const act = async (does: () => Promise<void>) => {
    error.value = undefined
    try {
      await does()
    } catch (reason) {
      error.value = reason
    }
  }
  const offer = offerOf(props.file, opinion)
  const apply = async () => {
    const { record } = await call<ApplyAnswer>("PUT", "/v1/plan", offer)
    go(addressOf(["plans", String(record.serial)]))
  }
  const begin = async (terms: CanaryTerms) => {
    await call("POST", "/v1/canary", { ...offer, ...terms })
    go(addressOf(["plans"]))
  }
  const consent = async () => {
    const { base, baseStamp, allow, author } = offer
    const { digest } = props.file.seal
    await call("POST", "/v1/consents", { digest, base, baseStamp, allow, message: author.message })
    props.onConsent()
  }
  const isReady = dangers.every((name) => opinion.allow.value.includes(name))
  const mayApply = may("publisher", "plan.apply")
  return (
    <>
      {error.value !== undefined && <Failed error={error.value} />}
      <p class="actions">
        {mayApply && (
          <button type="button" class="primary" disabled={!isReady} onClick={() => void act(apply)}>
            Apply
          </button>
        )}
        {dangers.length > 0 && may("viewer", "plan.consent") && (
          <button type="button" disabled={opinion.allow.value.length === 0} onClick={() => void act(consent)}>
            Consent only
          </button>
        )}
      </p>
      {!props.isFirst && mayApply && <Canary isReady={isReady} begin={(terms) => act(() => begin(terms))} />}
    </>
  )
}

function offerOf({ seal, plan, signature }: PlanFile, { allow, message }: Opinion) {
  const author = {
    ...{ who: who.peek()?.name ?? "console", commit: seal.author.commit, message: message.value || null },
  }
  const base = { base: seal.base?.serial ?? null, baseStamp: seal.base?.stamp }
  return { plan, seal, signature, ...base, author, allow: allow.value }
}

interface CanaryTerms {
  readonly percent: number
  readonly seconds: number
}

/** The plan on a share of the callers first. */
function Canary(props: { readonly isReady: boolean; readonly begin: (terms: CanaryTerms) => Promise<void> }) {
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void props.begin({ percent: Number(form.get("percent")), seconds: Number(form.get("minutes")) * 60 })
  }
  return (
    <details>
      <summary>Try it on some callers first</summary>
      <form onSubmit={send}>
        <Field id="percent" label="Share of the callers, in percent">
          <input
            id="percent"
            name="percent"
            type="number"
            min="0.01"
            max="99"
            step="any"
            value="5"
            required
          />
        </Field>
        <Field id="minutes" label="For how many minutes">
          <input id="minutes" name="minutes" type="number" min="1" max="43200" value="10" required />
        </Field>
        <p class="actions">
          <button type="submit" disabled={!props.isReady}>
            Begin the canary
          </button>
        </p>
      </form>
    </details>
  )
}

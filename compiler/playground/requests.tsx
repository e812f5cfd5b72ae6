import { batch, signal } from "@preact/signals"
import type { PassageDocument } from "../gateway-test/passage-document.ts"
import { gatewayView, send } from "./client.ts"
import { GatewayQuestion } from "./gateway-question.ts"
import { NameField } from "./name-field.tsx"
import { analysis, showPlace } from "./project.ts"
import { Proof } from "./proof.tsx"
import type { GatewayRequest, GatewayView, RequestAnswer } from "./protocol.ts"

/** What the gateway of the project can be asked. */
const view = new GatewayQuestion(gatewayView)
const empty: GatewayRequest = {
  ...{ method: "GET", target: "/", as: "", claims: "", headers: "", body: "", file: "" },
}
const form = signal(empty)
const answer = signal<RequestAnswer | undefined>(undefined)
const isSending = signal(false)
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

/** Another project comes. */
export function forgetRequests(): void {
  batch(() => {
    view.forget()
    answer.value = undefined
    form.value = empty
  })
}

/** A first request that a test shows to work, or one to the first route. A form that was filled in stays. */
function suggestOnce(found: GatewayView | undefined): void {
  if (found === undefined || form.peek() !== empty) return
  const [sample] = found.samples
  const [route] = found.routes
  if (sample !== undefined) form.value = sample.request
  else if (route !== undefined)
    form.value = { ...empty, method: route.method === "*" ? "GET" : route.method, target: route.path }
}

/** Requests to the gateway of the project: the pipeline and the steps of production, with doubles instead of clients, backends and issuers. */
export function Requests() {
  view.useNewest(suggestOnce)
  const known = view.answer
  const fault = view.fault.value
  if (fault !== undefined) return <p class="notice bad">{`The gateway cannot be loaded: ${fault}`}</p>
  if (analysis.value?.hasGateway === false)
    return <p class="quiet empty">There is no gateway to ask: mend the findings, or add a `gateway.conf`.</p>
  if (known === undefined) return <p class="quiet empty">Loading the gateway …</p>
  return (
    <div class="ask">
      <Samples known={known} />
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          void sendForm()
        }}
      >
        <div class="request-line">
          <label class="field">
            <span>Method</span>
            <select
              value={form.value.method}
              onChange={(event) => fill({ method: event.currentTarget.value })}
            >
              {[...new Set([...methods, form.value.method])].map((each) => (
                <option key={each} selected={each === form.value.method}>
                  {each}
                </option>
              ))}
            </select>
          </label>
          <Line
            label="Path and query"
            name="target"
            list={known.routes.map(({ path }) => path)}
            hint="/v1/orders"
          />
          <button type="submit" class="primary" disabled={isSending.value}>
            Send
          </button>
        </div>
        <div class="fields">
          <Line
            label="As"
            name="as"
            list={callersOf(known)}
            hint="nobody; or a caller, a subscription, a name"
          />
          <Given known={known} />
        </div>
        <MoreOfRequest />
      </form>
      <div aria-live="polite">{answer.value && <Answer shown={answer.value} />}</div>
    </div>
  )
}

function MoreOfRequest() {
  const { headers, body, claims } = form.value
  return (
    <details open={headers !== "" || body !== "" || claims !== ""}>
      <summary>Headers, body and claims</summary>
      <div class="fields">
        <Lines label="Headers" name="headers" hint="accept: application/json" />
        <Lines label="Body" name="body" hint='{"item": "book"}' />
        <Lines label="More claims of the token (JSON)" name="claims" hint='{"scope": "orders.read"}' />
      </div>
    </details>
  )
}

function fill(part: Partial<GatewayRequest>): void {
  form.value = { ...form.peek(), ...part }
}

async function sendForm(): Promise<void> {
  isSending.value = true
  answer.value = await send(form.peek())
  isSending.value = false
}

const callersOf = ({ files, subscriptions }: GatewayView): string[] => [
  ...new Set([...(files.find(({ path }) => path === form.value.file)?.callers ?? []), ...subscriptions]),
]

function Samples({ known: { samples } }: { readonly known: GatewayView }) {
  if (samples.length === 0) return null
  return (
    <label class="field">
      <span>Request of a test</span>
      <select
        onChange={(event) => {
          const sample = samples[Number(event.currentTarget.value)]
          if (sample === undefined) return
          form.value = sample.request
          void sendForm()
        }}
      >
        <option value="">Choose one to send it</option>
        {samples.map(({ label, request }, at) => (
          <option key={at} value={at}>
            {`${request.method} ${request.target}${request.as === "" ? "" : ` as ${request.as}`}: ${label}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Callers, tuples, backends and time are those of a file of tests. */
function Given({ known: { files } }: { readonly known: GatewayView }) {
  return (
    <label class="field">
      <span>Given by</span>
      <select value={form.value.file} onChange={(event) => fill({ file: event.currentTarget.value })}>
        <option value="" selected={form.value.file === ""}>
          nothing: backends respond 200
        </option>
        {files.map(({ path }) => (
          <option key={path} value={path} selected={path === form.value.file}>
            {path}
          </option>
        ))}
      </select>
    </label>
  )
}

interface FieldProps {
  readonly label: string
  readonly name: "target" | "as" | "headers" | "body" | "claims"
  readonly hint: string
}

function Line({ name, ...props }: FieldProps & { readonly list: readonly string[] }) {
  return <NameField {...props} value={form.value[name]} onInput={(text) => fill({ [name]: text })} />
}

function Lines({ label, name, hint }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        rows={3}
        value={form.value[name]}
        placeholder={hint}
        spellcheck={false}
        onInput={(event) => fill({ [name]: event.currentTarget.value })}
      />
    </label>
  )
}

function Answer({ shown }: { readonly shown: RequestAnswer }) {
  if (shown.kind === "error") return <p class="notice bad">{shown.message}</p>
  const { response, route, problem, reason, cause, steps, sent, limits, decisions } = shown.passage
  const tone = response.status < 400 ? "good" : response.status < 500 ? "warn" : "bad"
  const called = [problem, reason].filter((each) => each !== undefined).join(", ")
  return (
    <div class="passage">
      <p class={`verdict ${tone}`}>
        <strong>{response.status}</strong> {called !== "" && <span>{called}</span>}{" "}
        {route === undefined ? <span>no route matched</span> : <code>{route}</code>}
      </p>
      {cause !== undefined && <p>{cause.split("\n", 1)[0]}</p>}
      <Steps steps={steps} />
      {sent.map((each, at) => (
        <Sent key={at} sent={each} />
      ))}
      {decisions.map(
        ({ explanation }, at) => explanation && <Proof key={at} explanation={explanation} canAdd={false} />,
      )}
      {limits.length > 0 && (
        <section aria-label="Limits">
          <h3>Limits</h3>
          <ul>
            {limits.map(({ is, callsMax, periodSeconds, left, key }, at) => (
              <li
                key={at}
              >{`${is}: ${left ?? "?"} of ${callsMax ?? "?"} left in ${periodSeconds} s for ${key}`}</li>
            ))}
          </ul>
        </section>
      )}
      <Message title="Response" headers={response.headers} body={response.body} />
    </div>
  )
}

const marks = { passed: ["✓", "holds"], answered: ["■", "fails"] } as const

function Steps({ steps }: { readonly steps: PassageDocument["steps"] }) {
  if (steps.length === 0) return null
  return (
    <section aria-label="Steps">
      <h3>Steps</h3>
      <ol class="steps">
        {steps.map(({ kind, outcome, places }, at) => {
          const [mark, tone] = marks[outcome as keyof typeof marks] ?? ["?", ""]
          return (
            <li key={at}>
              <span class={tone} aria-hidden="true">
                {mark}
              </span>{" "}
              <code>{kind}</code> {outcome === "answered" && <span class="badge bad">responded</span>}{" "}
              {places.map((place) => (
                <Place key={place} place={place} />
              ))}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** `gateway.conf:41`, to follow. */
function Place({ place }: { readonly place: string }) {
  const [, path, line] = /^(.+):(\d+)$/.exec(place) ?? []
  if (path === undefined) return <span class="quiet">{place}</span>
  return (
    <button type="button" class="link" onClick={() => showPlace(path, Number(line))}>
      {place}
    </button>
  )
}

function Sent({
  sent: { backend, origin, method, target, headers, body, answer: got },
}: {
  readonly sent: PassageDocument["sent"][number]
}) {
  const outcome = "failure" in got ? `failed: ${got.failure}` : `responded ${got.status}`
  return (
    <Message
      title={`${backend ?? origin} got ${method} ${target} and ${outcome}`}
      headers={headers}
      body={body}
    />
  )
}

function Message(props: {
  readonly title: string
  readonly headers: PassageDocument["response"]["headers"]
  readonly body: string
}) {
  const { title, headers, body } = props
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <pre class="message">
        {headers.map(([name, value]) => `${name}: ${value}\n`).join("")}
        {body !== "" && `\n${body}`}
      </pre>
    </section>
  )
}

import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type {
  ExplainRequestAnswer,
  ExplainRequestQuestion,
  LoggedRequest,
  TryItAnswer,
} from "../../../api.ts"
import { call, get } from "../client.ts"
import { status, watch } from "../events.ts"
import { Failed, Field, Loading, PageHead, Panel } from "../parts/basic.tsx"
import { Explained } from "../parts/explained.tsx"
import { type GatewayAnswer, headersOf } from "../parts/gateway-call.tsx"
import { place, setQuery } from "../router.ts"
import {
  obstacleOf,
  type SendForm,
  type SentCredential,
  SentPanels,
  send,
  withCredential,
} from "./try-send.tsx"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
const callers = [
  ["nobody", "without a credential"],
  ["person", "a person, by claims"],
  ["key", "a subscription key"],
  ["token", "a token"],
] as const
type Caller = (typeof callers)[number][0]

/** What the form does not put into the address: it may be secret, or long. */
interface Hidden {
  readonly credential: string
  readonly headers: string
  readonly body: string
}

/** Shows what the running plan would do with a request, or sends it to the gateway from this browser. */
export default function Try() {
  const { query } = place.value
  const hidden = useSignal<Hidden>({ credential: "", headers: "", body: "" })
  const tries = useTries(hidden)
  const { tryIt, sent, explained, error, isBusy, lines } = tries
  // An address that a colleague sent shows its result at once. Nothing is sent without a click.
  useEffect(() => {
    if (query.has("target")) void tries.explain()
  }, [])
  const form = formOf(query, hidden.value)
  const obstacle = tryIt.value === undefined ? undefined : obstacleOf(tryIt.value, form)
  const gateway = tryIt.value?.gateway
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void (event.submitter?.dataset["does"] === "send" ? tries.sendTo(gateway ?? "") : tries.explain())
  }
  return (
    <>
      <PageHead
        title="Try it"
        about="What the running plan does with a request. “Explain” sends and counts nothing."
      />
      <Panel title="Request">
        <form onSubmit={submit}>
          <RequestFields query={query} />
          <CallerFields query={query} hidden={hidden.value} onChange={(next) => (hidden.value = next)} />
          <p class="actions">
            <button type="submit" class="primary" disabled={isBusy.value}>
              Explain
            </button>
            {gateway !== undefined && !obstacle && (
              <button type="submit" data-does="send" disabled={isBusy.value}>
                Send to {new URL(gateway).host}
              </button>
            )}
          </p>
          {obstacle && (
            <p class="quiet">
              <span class="strong">Only explained.</span> {obstacle}
            </p>
          )}
        </form>
      </Panel>
      <SentPanels {...sent.value} gateway={gateway ?? ""} lines={lines} />
      {error.value !== undefined && <Failed error={error.value} />}
      {isBusy.value && explained.value === undefined && <Loading />}
      <div aria-live="polite">{explained.value && <Explained answer={explained.value} />}</div>
    </>
  )
}

interface Sent {
  readonly answer: GatewayAnswer | undefined
  readonly error: unknown
}

const nothingSent: Sent = { answer: undefined, error: undefined }
/** Lines of the log that are kept to find that of the sent request. */
const linesMax = 100

/** The state of the page, and what its buttons do. */
function useTries(hidden: Signal<Hidden>) {
  const tryIt = useSignal<TryItAnswer["tryIt"] | undefined>(undefined)
  const explained = useSignal<ExplainRequestAnswer | undefined>(undefined)
  const sent = useSignal<Sent>(nothingSent)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const lines = useSignal<ReadonlyMap<string, LoggedRequest>>(new Map())
  const serial = status.value?.serial
  useEffect(() => {
    get<TryItAnswer>("/v1/try-it").then(
      (found) => {
        tryIt.value = found.tryIt
      },
      // Without an answer the page only explains.
      () => undefined,
    )
  }, [serial])
  const stop = useRef<() => void>(undefined)
  useEffect(() => () => stop.current?.(), [])
  /** Follows the log of a route. Only what can be of the request is kept. */
  const follow = (route: string | undefined) => {
    stop.current?.()
    stop.current = watch({
      filters: { route },
      log: (line) => {
        lines.value = new Map([...lines.peek(), [line.id, line] as const].slice(-linesMax))
      },
    })
  }
  const explain = async () => {
    ;[isBusy.value, error.value, sent.value] = [true, undefined, nothingSent]
    try {
      explained.value = await call(
        "POST",
        "/v1/explain-request",
        questionOf(place.peek().query, hidden.peek()),
      )
    } catch (reason) {
      ;[error.value, explained.value] = [reason, undefined]
    }
    isBusy.value = false
  }
  const sendTo = async (gateway: string) => {
    await explain()
    const road = explained.peek()
    if (road === undefined) return
    isBusy.value = true
    try {
      const { request } = formOf(place.peek().query, hidden.peek())
      const credential = credentialOf(place.peek().query, hidden.peek())
      follow(road.route?.key)
      const answer = await send(gateway, withCredential(request, credential, road), road)
      sent.value = { answer, error: undefined }
    } catch (reason) {
      sent.value = { answer: undefined, error: reason }
    }
    isBusy.value = false
  }
  return { tryIt, explained, sent, error, isBusy, lines, explain, sendTo }
}

/** What would be sent, but for the credential. Lines that are no headers are left out. */
function formOf(query: URLSearchParams, { headers, body }: Hidden): SendForm {
  return {
    isClaimed: callerOf(query) === "person",
    host: query.get("host") ?? "",
    request: {
      ...{ method: query.get("method") ?? "GET", url: query.get("target") ?? "/" },
      headers: headersOf(onlyHeaders(headers)),
      body: body === "" ? null : body,
    },
  }
}

function onlyHeaders(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.indexOf(":") > 0)
    .join("\n")
}

function credentialOf(query: URLSearchParams, { credential }: Hidden): SentCredential | undefined {
  const caller = callerOf(query)
  return caller === "key" || caller === "token" ? { is: caller, value: credential } : undefined
}

function RequestFields({ query }: { readonly query: URLSearchParams }) {
  return (
    <div class="row">
      <Field id="method" label="Method">
        <select
          id="method"
          value={query.get("method") ?? "GET"}
          onChange={(event) => setQuery({ method: event.currentTarget.value })}
        >
          {methods.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Field>
      <div class="grow">
        <Field id="target" label="Path and query">
          <input
            id="target"
            required
            pattern="/.*"
            title="It begins with /"
            value={query.get("target") ?? "/"}
            onChange={(event) => setQuery({ target: event.currentTarget.value })}
          />
        </Field>
      </div>
      <Field id="host" label="Host">
        <input
          id="host"
          placeholder="localhost"
          value={query.get("host") ?? ""}
          onChange={(event) => setQuery({ host: event.currentTarget.value })}
        />
      </Field>
    </div>
  )
}

function callerOf(query: URLSearchParams): Caller {
  const given = query.get("as")
  return callers.find(([name]) => name === given)?.[0] ?? (query.has("sub") ? "person" : "nobody")
}

function CallerFields(props: {
  readonly query: URLSearchParams
  readonly hidden: Hidden
  readonly onChange: (hidden: Hidden) => void
}) {
  const { query, hidden, onChange } = props
  const caller = callerOf(query)
  const input = (name: keyof Hidden) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...hidden, [name]: event.currentTarget.value })
  return (
    <>
      <div class="row">
        <Field id="as" label="As">
          <select id="as" value={caller} onChange={(event) => setQuery({ as: event.currentTarget.value })}>
            {callers.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        {caller === "person" && <PersonFields query={query} />}
        {(caller === "key" || caller === "token") && (
          <div class="grow">
            <Field id="credential" label={caller === "key" ? "Key" : "Token"}>
              <input
                id="credential"
                type="password"
                autocomplete="off"
                value={hidden.credential}
                onInput={input("credential")}
              />
            </Field>
          </div>
        )}
      </div>
      <details>
        <summary>Headers and body</summary>
        <Field id="headers" label="Headers, one in a line" hint="Name: value">
          <textarea id="headers" rows={3} value={hidden.headers} onInput={input("headers")} />
        </Field>
        <Field id="body" label="Body">
          <textarea id="body" rows={4} value={hidden.body} onInput={input("body")} />
        </Field>
      </details>
    </>
  )
}

function PersonFields({ query }: { readonly query: URLSearchParams }) {
  return (
    <>
      <Field id="sub" label="sub">
        <input
          id="sub"
          value={query.get("sub") ?? ""}
          onChange={(event) => setQuery({ sub: event.currentTarget.value, as: "person" })}
        />
      </Field>
      <div class="grow">
        <Field id="claims" label="Other claims (JSON)">
          <input
            id="claims"
            placeholder='{"scope": "orders.read"}'
            value={query.get("claims") ?? ""}
            onChange={(event) => setQuery({ claims: event.currentTarget.value })}
          />
        </Field>
      </div>
    </>
  )
}

/** @throws Error for claims that are no JSON object */
function questionOf(query: URLSearchParams, { credential, headers, body }: Hidden): ExplainRequestQuestion {
  const caller = callerOf(query)
  const host = query.get("host")
  return {
    method: query.get("method") ?? "GET",
    target: query.get("target") ?? "/",
    ...(host ? { host } : {}),
    headers: headersOf(onlyHeaders(headers)).map(([name, value]): [string, string] => [name, value]),
    ...(body === "" ? {} : { body: base64(body) }),
    ...(caller === "key" ? { key: credential } : {}),
    ...(caller === "token" ? { token: credential } : {}),
    ...(caller === "person" ? { claims: claimsOf(query) } : {}),
  }
}

function claimsOf(query: URLSearchParams): Record<string, unknown> {
  const text = query.get("claims") ?? ""
  const sub = query.get("sub") ?? ""
  let others: unknown
  try {
    others = text === "" ? {} : JSON.parse(text)
  } catch {
    throw new Error("The other claims are not valid JSON.")
  }
  if (typeof others !== "object" || others === null || Array.isArray(others))
    throw new Error('The other claims must be an object, such as {"scope": "orders.read"}.')
  return { ...(sub === "" ? {} : { sub }), ...others }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

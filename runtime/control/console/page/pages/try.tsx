import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ExplainRequestAnswer, ExplainRequestQuestion } from "../../../api.ts"
import { call } from "../client.ts"
import { Failed, Field, Loading, PageHead, Panel } from "../parts/basic.tsx"
import { Explained } from "../parts/explained.tsx"
import { place, setQuery } from "../router.ts"

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

/** Shows what the running plan would do with a request. Nothing is sent, written or counted. */
export default function Try() {
  const { query } = place.value
  const hidden = useSignal<Hidden>({ credential: "", headers: "", body: "" })
  const answer = useSignal<ExplainRequestAnswer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const ask = async () => {
    isBusy.value = true
    error.value = undefined
    try {
      answer.value = await call("POST", "/v1/explain-request", questionOf(place.peek().query, hidden.peek()))
    } catch (reason) {
      error.value = reason
      answer.value = undefined
    }
    isBusy.value = false
  }
  // An address that a colleague sent shows its result at once.
  useEffect(() => {
    if (query.has("target")) void ask()
  }, [])
  return (
    <>
      <PageHead
        title="Try it"
        about="What the running plan would do with a request. Nothing is sent or counted."
      />
      <Panel title="Request">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void ask()
          }}
        >
          <RequestFields query={query} />
          <CallerFields query={query} hidden={hidden.value} onChange={(next) => (hidden.value = next)} />
          <button type="submit" class="primary" disabled={isBusy.value}>
            Explain
          </button>
        </form>
      </Panel>
      {error.value !== undefined && <Failed error={error.value} />}
      {isBusy.value && answer.value === undefined && <Loading />}
      <div aria-live="polite">{answer.value && <Explained answer={answer.value} />}</div>
    </>
  )
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
    headers: headers
      .split("\n")
      .filter((line) => line.includes(":"))
      .map((line): [string, string] => {
        const at = line.indexOf(":")
        return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      }),
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

import { useSignal } from "@preact/signals"
import { digits } from "../../../control/console/page/format.ts"
import { Badge, Failed, Field, Panel } from "../../../control/console/page/parts/basic.tsx"
import type { ExampleRequest } from "../../api.ts"
import { about } from "../about.ts"
import { textOf } from "../texts.ts"

/** What the gateway responded. `body` is cut. */
interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly ms: number
}

/** More would make the page slow. */
const bodyCharactersMax = 100_000

/** A form that calls the operation through the gateway, with the reader's own credential, which is nowhere but in this form. */
export function TryIt({ request }: { readonly request: ExampleRequest }) {
  const { gateway, tryIt } = about.value ?? {}
  const url = useSignal(request.url)
  const headers = useSignal(request.headers.map(([name, value]) => `${name}: ${value}`).join("\n"))
  const body = useSignal(request.body ?? "")
  const answer = useSignal<Answer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  if (!tryIt || !gateway) return null
  const send = async (event: Event) => {
    event.preventDefault()
    ;[isBusy.value, error.value, answer.value] = [true, undefined, undefined]
    try {
      answer.value = await sendTo(gateway, { ...request, url: url.value, body: body.value }, headers.value)
    } catch (reason) {
      error.value = reason
    }
    isBusy.value = false
  }
  return (
    <Panel title={textOf("try-it")} aside={gateway}>
      <form onSubmit={send}>
        <Field id="try-url" label={request.method}>
          <input
            id="try-url"
            class="mono"
            value={url.value}
            onInput={(event) => (url.value = event.currentTarget.value)}
          />
        </Field>
        <Field id="try-headers" label="Headers, one in a line">
          <textarea
            id="try-headers"
            class="mono"
            rows={3}
            spellcheck={false}
            value={headers.value}
            onInput={(event) => (headers.value = event.currentTarget.value)}
          />
        </Field>
        {request.body !== null && (
          <Field id="try-body" label="Body">
            <textarea
              id="try-body"
              class="mono"
              rows={8}
              spellcheck={false}
              value={body.value}
              onInput={(event) => (body.value = event.currentTarget.value)}
            />
          </Field>
        )}
        <Send isBusy={isBusy.value} />
      </form>
      {error.value !== undefined && <Failed error={error.value} />}
      {answer.value && <Shown answer={answer.value} />}
    </Panel>
  )
}

function Send({ isBusy }: { readonly isBusy: boolean }) {
  return (
    <button type="submit" class="primary" disabled={isBusy}>
      Send
    </button>
  )
}

function Shown({ answer: { status, text, headers, body, ms } }: { readonly answer: Answer }) {
  return (
    <section aria-label="Response" aria-live="polite">
      <p>
        <Badge tone={status < 400 ? "good" : "bad"}>
          {status} {text}
        </Badge>{" "}
        <span class="quiet">{digits(ms)} ms</span>
      </p>
      <details>
        <summary>Headers</summary>
        <pre>{headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
      </details>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what is wider than the page. */}
      <pre tabIndex={0}>
        <code>{body}</code>
      </pre>
    </section>
  )
}

async function sendTo(gateway: string, request: ExampleRequest, headerText: string): Promise<Answer> {
  const headers = headerText
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): [string, string] => {
      const at = line.indexOf(":")
      if (at <= 0) throw new Error(`\`${line}\` is no header: write NAME: VALUE.`)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    })
  const started = performance.now()
  let response: Response
  try {
    response = await fetch(gateway + request.url, {
      ...{ method: request.method, headers, credentials: "omit", redirect: "manual", cache: "no-store" },
      ...(request.body ? { body: request.body } : {}),
    })
  } catch {
    throw new Error(`${gateway} did not respond, or its response may not be read by this page.`)
  }
  const text = await response.text()
  return {
    ...{ status: response.status, text: response.statusText, headers: [...response.headers] },
    body: indented(text).slice(0, bodyCharactersMax),
    ms: performance.now() - started,
  }
}

/** JSON in lines; everything else as it is. */
function indented(text: string): string {
  if (text.length > bodyCharactersMax) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

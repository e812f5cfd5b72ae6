import { useSignal } from "@preact/signals"
import { Failed, Field, Panel } from "../../../control/console/page/parts/basic.tsx"
import {
  callGateway,
  type GatewayAnswer,
  GatewayAnswered,
  headersOf,
} from "../../../control/console/page/parts/gateway-call.tsx"
import type { OperationAnswer } from "../../api.ts"
import { about } from "../about.ts"
import { textOf } from "../texts.ts"

/** A form that calls the operation through the gateway, with the reader's own credential, which is nowhere but in this form. */
export function TryIt({ found: { gateway, request } }: { readonly found: OperationAnswer }) {
  const { tryIt } = about.value ?? {}
  const url = useSignal(request.url)
  const headers = useSignal(request.headers.map(([name, value]) => `${name}: ${value}`).join("\n"))
  const body = useSignal(request.body ?? "")
  const answer = useSignal<GatewayAnswer | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  if (!tryIt || !gateway) return null
  const send = async (event: Event) => {
    event.preventDefault()
    ;[isBusy.value, error.value, answer.value] = [true, undefined, undefined]
    try {
      const { method } = request
      const call = { method, url: url.value, headers: headersOf(headers.value), body: body.value }
      answer.value = await callGateway(gateway, call)
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
      <Outcome answer={answer.value} error={error.value} />
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

function Outcome({ answer, error }: { readonly answer: GatewayAnswer | undefined; readonly error: unknown }) {
  if (error !== undefined) return <Failed error={error} />
  if (answer === undefined) return null
  return (
    <section aria-label="Response">
      <GatewayAnswered answer={answer} />
    </section>
  )
}

import type { Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { ExplainRequestAnswer, LoggedRequest, TryItAnswer } from "../../../api.ts"
import { linkState } from "../events.ts"
import { Badge, Failed, Panel } from "../parts/basic.tsx"
import {
  callGateway,
  type GatewayAnswer,
  GatewayAnswered,
  type GatewayCall,
  obstacleInBrowser,
} from "../parts/gateway-call.tsx"
import { LogLineDetails } from "../parts/log-line.tsx"
import { addressOf } from "../router.ts"

/** A credential of the form. It is put where the route reads it. */
export interface SentCredential {
  readonly is: "key" | "token"
  readonly value: string
}

/** What the form says, as far as it concerns sending. */
export interface SendForm {
  /** The caller is made of claims. */
  readonly isClaimed: boolean
  readonly host: string
  readonly request: GatewayCall
}

/** Why the page cannot send; undefined: it can. `tryIt` undefined: not known yet. */
export function obstacleOf(tryIt: TryItAnswer["tryIt"], form: SendForm): ComponentChildren {
  if (tryIt === null)
    return (
      <>
        The running plan lets no page send requests. To allow this one, add{" "}
        <code>control {`{ try-it "${location.origin}" }`}</code> to gateway.conf, and apply it.
      </>
    )
  if (tryIt.console !== location.origin)
    return (
      <>
        The running plan lets the pages of {tryIt.console} send requests, and this page is of{" "}
        {location.origin}.
      </>
    )
  const { host } = new URL(tryIt.gateway)
  if (form.host !== "" && form.host !== host)
    return `Browsers choose the host: a request is sent to ${host}. Remove the host to send it there.`
  if (form.isClaimed) return "Claims cannot be sent. Choose a token or a key to send a request as somebody."
  return obstacleInBrowser(tryIt.gateway, form.request)
}

/** The route's own `cors` if it does not name this page. Undefined: the route has none, or only the gateway can tell. */
function refusingCors(explained: ExplainRequestAnswer): string | undefined {
  const inbound = explained.sections.find(({ name }) => name === "inbound")?.steps ?? []
  for (const { step, place } of inbound) {
    if (step.kind !== "cors") continue
    const isKnown = step.origins.every((each) => typeof each === "string" && !each.includes("*"))
    if (isKnown && !step.origins.includes(location.origin)) return place || "of the route"
  }
  return undefined
}

/** The request with the credential at the place where the steps of the route look for it. Without one that does, a token goes into `Authorization`. */
export function withCredential(
  request: GatewayCall,
  credential: SentCredential | undefined,
  explained: ExplainRequestAnswer,
): GatewayCall {
  if (credential === undefined || credential.value === "") return request
  const { is, value } = credential
  const header = (name: string, text: string): GatewayCall => ({
    ...request,
    headers: [...request.headers, [name, text]],
  })
  const query = (name: string): GatewayCall => ({
    ...request,
    url: `${request.url}${request.url.includes("?") ? "&" : "?"}${new URLSearchParams([[name, value]])}`,
  })
  for (const { step } of everyStep(explained)) {
    if (is === "key" && step.kind === "validate-key")
      return step.header === null ? query(step.query ?? "") : header(step.header, value)
    if (is !== "token" || (step.kind !== "validate-jwt" && step.kind !== "introspect")) continue
    const { from } = step
    if ("header" in from) return header(from.header, `${from.scheme ?? "Bearer"} ${value}`)
    if ("query" in from) return query(from.query)
    if ("cookie" in from) throw new Error("The route reads the token from a cookie, which pages cannot send.")
  }
  if (is === "key") throw new Error("The route reads no key.")
  return header("Authorization", `Bearer ${value}`)
}

type ExplainedStep = ExplainRequestAnswer["sections"][number]["steps"][number]

function everyStep({ sections }: ExplainRequestAnswer): readonly ExplainedStep[] {
  const all = (steps: readonly ExplainedStep[]): readonly ExplainedStep[] =>
    steps.flatMap((each) => [each, ...each.inside.flatMap((inner) => all(inner.steps))])
  return sections.filter(({ name }) => name === "inbound").flatMap(({ steps }) => all(steps))
}

/** Sends the request from this browser. Rejects with `Error` when the route, the browser or the network does not allow it. */
export async function send(
  gateway: string,
  request: GatewayCall,
  explained: ExplainRequestAnswer,
): Promise<GatewayAnswer> {
  const refusing = refusingCors(explained)
  if (refusing !== undefined)
    throw new Error(
      `The \`cors\` at ${refusing} does not allow ${location.origin}, so the browser would not show the response. Nothing was sent.`,
    )
  await streamIsOpen()
  return callGateway(gateway, request)
}

/** Resolves when the stream of events is open, so that the line of the log is not missed, or when it cannot be. */
async function streamIsOpen(): Promise<void> {
  // A new watcher changes the stream in a microtask.
  await Promise.resolve()
  return new Promise((resolve) => {
    const unsubscribe = linkState.subscribe((state) => {
      if (state === "connecting") return
      resolve()
      queueMicrotask(() => unsubscribe())
    })
  })
}

/** The response, and what the gateway logged of the request. */
export function SentPanels(props: {
  readonly answer: GatewayAnswer | undefined
  readonly error: unknown
  readonly gateway: string
  readonly lines: Signal<ReadonlyMap<string, LoggedRequest>>
}) {
  const { answer, error, gateway, lines } = props
  if (error !== undefined) return <Failed error={error} />
  if (answer === undefined) return null
  const id = answer.headers.find(([name]) => name === "x-request-id")?.[1]
  const line = id === undefined ? undefined : lines.value.get(id)
  return (
    <>
      <Panel title="Response" aside={gateway}>
        <GatewayAnswered answer={answer} />
      </Panel>
      <Panel title="Log" aside={id === undefined ? undefined : `request ${id}`}>
        {line ? <LogLineDetails line={line} hasTry={false} /> : <Unlogged id={id} status={answer.status} />}
      </Panel>
    </>
  )
}

function Unlogged({ id, status }: { readonly id: string | undefined; readonly status: number }) {
  if (id === undefined)
    return (
      <p class="quiet">
        The <code>cors</code> of the route does not expose <code>X-Request-Id</code>, so the line of the log
        is not known.
      </p>
    )
  return (
    <>
      <p class="quiet">
        <Badge tone="plain">not seen yet</Badge> This process has not logged the request: it logs at the end
        of a response, and another process may have served it.
      </p>
      {status >= 400 && (
        <p class="actions">
          <a class="button" href={addressOf(["log", id])}>
            Why was it refused?
          </a>
        </p>
      )}
    </>
  )
}

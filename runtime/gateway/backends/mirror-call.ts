import { type AnswerReceiver, type Sending, UpstreamError } from "../../http/client/connections.ts"
import { mirrorField } from "../../plan/http-syntax.ts"
import type { CredentialPlaces, Mirror, MirrorOutcome } from "../../policies/exchange.ts"
import { QueryString } from "../../policies/messages/query-string.ts"
import { BodyCopy, type NoCopy } from "../exchange/body-copy.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"
import { upstreamFields } from "./attempt.ts"
import { type AttemptSpan, traceAttempt } from "./attempt-span.ts"
import { BackendClient } from "./backends.ts"
import type { Deadline, Deadlines, Timed } from "./deadlines.ts"
import type { Target } from "./target.ts"
import { below, loggedPathOf } from "./upstream-path.ts"

/**
 * Begins the copies of a request that is about to be sent: takes its head as it is now, and listens to its body. Returns what sends the copies whose body
 * is there already; the others follow as soon as theirs is.
 */
export function beginMirrors(
  exchange: ExchangeState,
  mirrors: readonly Mirror[],
  deadlines: Deadlines,
): () => void {
  const calls = mirrors.flatMap((mirror) => {
    const refused = refusalOf(exchange, mirror)
    if (refused === undefined) return [new MirrorCall(exchange, mirror, deadlines)]
    mirror.ended({ ...aboutOf(exchange, mirror), outcome: refused })
    return []
  })
  return () => {
    for (const call of calls) call.send()
  }
}

/** Why a request is not copied. The last condition counts the copy. */
function refusalOf(
  { isGrpc, intake, outgoingBody }: ExchangeState,
  mirror: Mirror,
): MirrorOutcome | undefined {
  // Their messages come while the responses to earlier ones are read, so they have no end to wait for.
  if (isGrpc || intake.wantsWebSocket) return "unsupported"
  const length = outgoingBody?.length ?? (typeof intake.body === "number" ? intake.body : 0)
  if (length > mirror.bodyBytesMax) return "body-too-large"
  return mirror.enter() ? undefined : "busy"
}

function aboutOf({ id, trace, route }: ExchangeState, { backend }: Mirror) {
  return {
    requestId: id,
    traceId: trace?.traceId,
    api: route?.plan.api ?? "",
    backend: backend.name,
    target: undefined,
    status: undefined,
    durationMs: undefined,
    cause: undefined,
  }
}

/** A copy of one request. It is sent once, to one target, and its response is discarded. */
class MirrorCall implements AnswerReceiver, Timed {
  readonly #exchange: ExchangeState
  readonly #mirror: Mirror
  readonly #deadlines: Deadlines
  readonly #about: ReturnType<typeof aboutOf>
  readonly #fields: string[]
  readonly #method: string
  readonly #localPath: string
  /** Undefined: the body has not arrived. */
  #body: Buffer | null | undefined
  #mayBegin = false
  #target: Target | undefined
  #isTrial = false
  #isWaiting = false
  #sending: Sending | undefined
  #startedMs: number | undefined
  #status: number | undefined
  #deadline: Deadline | undefined
  #span: AttemptSpan | undefined
  /** The end says nothing about the target. */
  #isHarmless = false
  #over = false

  /** The exchange may change before the copy is sent, so its head is copied here. */
  constructor(exchange: ExchangeState, mirror: Mirror, deadlines: Deadlines) {
    this.#exchange = exchange
    this.#mirror = mirror
    this.#deadlines = deadlines
    this.#about = aboutOf(exchange, mirror)
    this.#method = exchange.sentMethod ?? exchange.method
    const route = exchange.route?.plan
    const places =
      mirror.credentials || route === undefined ? undefined : exchange.facts.credentialPlaces(route)
    this.#fields = fieldsOf(exchange, places)
    this.#localPath = localPathOf(exchange, places)
    const { outgoingBody, intake } = exchange
    if (outgoingBody !== undefined) this.#body = outgoingBody
    else if (intake.body === "none") this.#body = null
    else this.#copyBody()
  }

  #copyBody(): void {
    const copy = new BodyCopy(this.#mirror.bodyBytesMax, (result) => this.#bodyIs(result))
    const exchange = this.#exchange
    exchange.bodyCopies ??= []
    exchange.bodyCopies.push(copy)
    exchange.whenOver(() => copy.abandon())
  }

  #bodyIs(result: Buffer | NoCopy): void {
    if (typeof result === "string") {
      this.#end(result === "too-large" ? "body-too-large" : result)
      return
    }
    this.#body = result
    if (this.#mayBegin) this.#begin()
  }

  /** The request itself has been sent, so the copy may follow. */
  send(): void {
    this.#mayBegin = true
    if (this.#body !== undefined) this.#begin()
  }

  /** The backend's own credentials come first, if it has any. */
  #begin(): void {
    const { backend } = this.#mirror
    if (!(backend instanceof BackendClient)) throw new Error("this gateway has no such backend")
    if (backend.settings.authorization === undefined) this.#dispatch(backend, undefined)
    else
      backend.credentials().then(
        ({ authorization }) => this.#dispatch(backend, authorization),
        (error: unknown) => this.#end("failed", `a token: ${String(error)}`),
      )
  }

  #dispatch(backend: BackendClient, authorization: string | undefined): void {
    const exchange = this.#exchange
    const target = backend.pick(undefined)
    if (target === undefined || target.isOverloaded) {
      this.#end("unavailable", target === undefined ? "no target is healthy" : "too many requests wait")
      return
    }
    const fields = this.#fields
    if (authorization !== undefined) setField(fields, "authorization", authorization)
    const { trace } = exchange
    if (trace !== undefined) {
      const path = loggedPathOf(exchange, target)
      this.#span = traceAttempt(exchange, trace, target, fields, { backend: backend.name, path })
    }
    this.#target = target
    target.outstanding += 1
    target.waiting += 1
    this.#isWaiting = true
    this.#isTrial = target.breaker?.begin(this.#exchange.monotonic()) === true
    this.#startedMs = this.#exchange.monotonic()
    this.#deadline = this.#deadlines.set(this, this.#mirror.timeoutMs)
    const { basePath } = target.place
    const path = below(basePath, this.#localPath)
    target.connections.dispatch({ method: this.#method, path, fields, body: this.#body ?? null }, this)
  }

  get isWanted(): boolean {
    return !this.#over
  }

  onConnect(sending: Sending): void {
    this.#leaveQueue()
    this.#sending = sending
  }

  onBegun(): void {}

  onHead(status: number): void {
    this.#status = status
  }

  onData(): boolean {
    return true
  }

  onComplete(): void {
    this.#end("answered")
  }

  onError(error: Error): void {
    const reason = error instanceof UpstreamError ? error.reason : undefined
    // The backend was just closing an idle connection; a request itself would be sent again.
    this.#isHarmless = error instanceof UpstreamError && error.reused && reason === "closed"
    this.#end(reason === "connect-timeout" ? "timeout" : "failed", error.message)
  }

  expired(): void {
    this.#isHarmless = this.#sending === undefined
    this.#end("timeout", "the copy has no complete response in time")
    this.#sending?.abort(new UpstreamError("aborted", "the time for the copy is over"))
  }

  #end(outcome: MirrorOutcome, cause?: string): void {
    if (this.#over) return
    this.#over = true
    this.#deadlines.cancel(this.#deadline)
    this.#leaveQueue()
    if (this.#target !== undefined) this.#judge(this.#target, outcome)
    const status = this.#status
    if (this.#span !== undefined) {
      if (status !== undefined) this.#span.headed(status, [])
      this.#span.failure = outcome === "answered" ? undefined : outcome
      this.#span.end()
    }
    this.#mirror.leave()
    const durationMs =
      this.#startedMs === undefined ? undefined : this.#exchange.monotonic() - this.#startedMs
    const target = this.#target?.place.origin
    this.#mirror.ended({ ...this.#about, outcome, target, status, durationMs, cause })
  }

  /** Counts the outcome for the breaker, as that of any other request to the target. */
  #judge(target: Target, outcome: MirrorOutcome): void {
    target.outstanding -= 1
    const { breaker } = target
    if (this.#isHarmless) {
      breaker?.abandon(this.#isTrial)
      return
    }
    const isBad = outcome !== "answered" || breaker?.counts(this.#status ?? 0) === true
    if (isBad) breaker?.failed(this.#exchange.monotonic(), this.#isTrial)
    else breaker?.succeeded(this.#exchange.monotonic(), this.#isTrial)
  }

  #leaveQueue(): void {
    if (this.#isWaiting && this.#target !== undefined) this.#target.waiting -= 1
    this.#isWaiting = false
  }
}

/** The fields of a copy; `places`: what is left out. Names are in lower case. */
function fieldsOf(exchange: ExchangeState, places: CredentialPlaces | undefined): string[] {
  const all = upstreamFields(exchange, undefined)
  const fields: string[] = []
  for (let at = 0; at < all.length; at += 2) {
    const name = all[at] as string
    if (places?.headers.has(name) !== true) fields.push(name, all[at + 1] as string)
  }
  fields.push("x-request-id", exchange.id, mirrorField, "true")
  const { host, intake, outgoingBody } = exchange
  if (host !== undefined && host !== "" && !exchange.headers.get("host")) fields.push("host", host)
  if (outgoingBody === undefined && intake.body === "none" && intake.sentLength === 0)
    fields.push("content-length", "0")
  return fields
}

/** Path and query below the base path of a target. A query that belongs to the URL of the other backend is left out. */
function localPathOf(exchange: ExchangeState, places: CredentialPlaces | undefined): string {
  const path = exchange.rewritten ?? exchange.path.slice(exchange.route?.stripLength ?? 0)
  const query = new QueryString(exchange.queryText)
  for (const name of places?.queries ?? []) query.remove(name)
  const { text } = query
  if (text === "") return path
  return `${path}${path.includes("?") ? "&" : "?"}${text}`
}

function setField(fields: string[], name: string, value: string): void {
  for (let at = fields.length - 2; at >= 0; at -= 2) if (fields[at] === name) fields.splice(at, 2)
  fields.push(name, value)
}

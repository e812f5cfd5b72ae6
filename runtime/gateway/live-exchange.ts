import type { IncomingMessage, ServerResponse } from "node:http"
import type { Bindings } from "../expression/compile.ts"
import type { Subscriber } from "../identity/keys.ts"
import type { Claims } from "../identity/verifier.ts"
import type { ProblemName } from "../policies/answer.ts"
import type { Decision, Exchange, PendingResponse } from "../policies/exchange.ts"
import { HeaderList } from "../policies/header-list.ts"
import { QueryString } from "../policies/query-string.ts"
import type { Backend } from "./backends.ts"
import { type BindingSource, makeBindings, nothing, responseView } from "./bindings.ts"
import type { Generation, LiveRoute } from "./generation.ts"
import type { Intake } from "./intake.ts"
import type { PathParameters } from "./routes.ts"

const nothingTakenIn: Intake = {
  path: "",
  query: "",
  authority: "",
  scheme: "http",
  ip: "",
  requestId: undefined,
  traceparent: undefined,
  headers: [],
  body: "none",
  sentLength: undefined,
  expectsContinue: false,
  wantsWebSocket: false,
}

const noParameters: PathParameters = Object.freeze(Object.create(null))

/** One request and its answer. It holds the generation it began with until its end. */
export class LiveExchange implements Exchange, BindingSource {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly generation: Generation
  readonly startedAtMs = Date.now()
  readonly started = performance.now()
  id: string
  method: string
  intake: Intake = nothingTakenIn
  route: LiveRoute | undefined
  parameters: PathParameters = noParameters
  headers = new HeaderList()
  rewritten: string | undefined
  host: string | undefined
  body: Buffer | undefined
  backend: Backend | undefined
  decision: Decision | undefined

  /** Lines for whatever answer comes. */
  answerLines: string[] = []
  problem: ProblemName | undefined
  cause: string | undefined
  status = 0
  target: string | undefined
  upstreamMs: number | undefined
  bytesReceived = 0
  bytesSent = 0
  retried = false
  cut = false
  /** `100 Continue` was sent, or nobody waits for it. */
  continued = true
  /** The head was refused: what follows it on the connection can't be understood either. */
  refused = false
  /** The answer is complete or the client has gone: nothing may be sent any more. */
  over = false
  #query: QueryString | undefined
  #bindings: Record<string, unknown> | undefined
  #claims: Claims | undefined
  #subscriber: Subscriber | undefined
  #response: PendingResponse | undefined

  constructor(request: IncomingMessage, reply: ServerResponse, generation: Generation, id: string) {
    this.request = request
    this.reply = reply
    this.generation = generation
    this.id = id
    this.method = request.method ?? "GET"
  }

  /** Sets what was read from the head. */
  take(intake: Intake): void {
    this.intake = intake
    this.headers = new HeaderList(intake.headers)
    this.continued = !intake.expectsContinue
    if (intake.requestId !== undefined) this.id = intake.requestId
  }

  get path(): string {
    return this.intake.path
  }

  get ip(): string {
    return this.intake.ip
  }

  get authority(): string {
    return this.intake.authority
  }

  get query(): QueryString {
    this.#query ??= new QueryString(this.intake.query)
    return this.#query
  }

  /** The query for the backend; not parsed where nobody looked into it. */
  get queryText(): string {
    return this.#query === undefined ? this.intake.query : this.#query.text
  }

  answerWith(name: string, value: string): void {
    this.answerLines.push(name, value)
  }

  decided(decision: Decision): void {
    this.decision = decision
  }

  get scheme(): string {
    return this.intake.scheme
  }

  get claims(): Claims | undefined {
    return this.#claims
  }

  set claims(claims: Claims | undefined) {
    this.#claims = claims
    if (this.#bindings !== undefined) this.#bindCaller(this.#bindings)
  }

  get subscriber(): Subscriber | undefined {
    return this.#subscriber
  }

  set subscriber(subscriber: Subscriber | undefined) {
    this.#subscriber = subscriber
    if (this.#bindings !== undefined) this.#bindCaller(this.#bindings)
  }

  get response(): PendingResponse | undefined {
    return this.#response
  }

  set response(response: PendingResponse | undefined) {
    this.#response = response
    if (this.#bindings !== undefined && response !== undefined)
      this.#bindings["response"] = responseView(response)
  }

  bindings(): Bindings {
    if (this.#bindings === undefined) {
      const bindings = makeBindings(this, this.route?.views, this.parameters, this.generation)
      this.#bindCaller(bindings)
      if (this.#response !== undefined) bindings["response"] = responseView(this.#response)
      this.#bindings = bindings
    }
    return this.#bindings
  }

  #bindCaller(bindings: Record<string, unknown>): void {
    const subscriber = this.#subscriber
    bindings["jwt"] = this.#claims ?? nothing
    bindings["subscription"] =
      subscriber === undefined ? nothing : { name: subscriber.name, product: subscriber.product ?? "" }
    bindings["product"] = subscriber === undefined ? nothing : { name: subscriber.product ?? "" }
  }
}

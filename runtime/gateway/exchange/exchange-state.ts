import type { Bindings } from "../../expression/compile.ts"
import { plainObject } from "../../expression/plain-object.ts"
import { splitCookies } from "../../http/cookies.ts"
import type {
  IncomingExchange,
  IncomingRequest,
  ListenerState,
  Reply,
  WaitingSocket,
} from "../../http/server/incoming.ts"
import { peerCertificateOf } from "../../http/server/peer-certificate.ts"
import { originForm } from "../../http/server/request-fault.ts"
import type { Subscriber } from "../../identity/keys.ts"
import type { Claims } from "../../identity/verifier.ts"
import { type OwnCookies, ownCookiePrefix } from "../../oidc/own-cookies.ts"
import type { Route } from "../../plan/resources.ts"
import {
  type AnswerCompression,
  type AnsweringStep,
  type AnswerPlace,
  type BackendHandle,
  type ClientCertificate,
  type Decision,
  type Exchange,
  type ExchangeError,
  type Needs,
  type PlanFacts,
  requestBody,
  requestBytes,
  responseBody,
  type Section,
  type SentToken,
} from "../../policies/exchange.ts"
import {
  type DirectAnswer,
  type Problem,
  type ProblemName,
  problem,
  Refused,
} from "../../policies/messages/answer.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"
import { QueryString } from "../../policies/messages/query-string.ts"
import type { RequestTrace } from "../../tracing/request-trace.ts"
import {
  type BindingSource,
  errorView,
  makeBindings,
  nothing,
  type RequestBindings,
  responseView,
} from "../generation/bindings.ts"
import type { Generation, LiveRoute } from "../generation/generation.ts"
import type { PathParameters } from "../routes/route-tree.ts"
import type { TunnelKeeper } from "../tunnels/tunnel-keeper.ts"
import type { AnswerStream, Waiting } from "./answer-stream.ts"
import type { BodyCopy } from "./body-copy.ts"
import { isGrpc } from "./grpc.ts"
import type { Intake } from "./intake.ts"
import { LiveBody } from "./live-body.ts"
import { LiveResponse } from "./live-response.ts"
import { readBody } from "./read-body.ts"
import type { Recording } from "./recording.ts"
import { RequestBody } from "./request-body.ts"
import { Variables } from "./variables.ts"

/** The request before its head is read, so that a refusal of the head can be logged like others. */
const nothingTakenIn: Intake = {
  path: "",
  query: "",
  authority: "",
  scheme: "http",
  ip: "",
  requestId: undefined,
  context: undefined,
  trusted: false,
  headers: [],
  cameBy: undefined,
  body: "none",
  sentLength: undefined,
  expectsContinue: false,
  wantsWebSocket: false,
  takesTrailers: false,
}

const noCookies: OwnCookies = new Map()

const noParameters: PathParameters = Object.freeze(plainObject<string>())

/** The state of one request and its response, as reading, responding and calling a backend need it. */
export class ExchangeState implements BindingSource {
  readonly request: IncomingRequest
  readonly reply: Reply
  readonly listener: ListenerState
  /** The client's connection, when it requests a WebSocket. */
  readonly upgrade: WaitingSocket | undefined
  tunnelKeeper: TunnelKeeper | undefined
  /** Bytes received from the client through a tunnel. */
  tunnelReceived = 0
  readonly generation: Generation
  /** The request is a call of gRPC. */
  isGrpc = false
  /** The `grpc-status` of its response; undefined: there was none yet. */
  grpcStatus: number | undefined
  /** The message of the problem for the client, if it has one of its own. */
  problemMessage: string | undefined
  readonly startedAtMs: number
  readonly started: number
  id: string
  /** Undefined: the request is not traced. */
  trace: RequestTrace | undefined
  /** Undefined: the request is not recorded. */
  recording: Recording | undefined
  /** Requests to backends, counted while the request is recorded. */
  attempts = 0
  method: string
  intake: Intake = nothingTakenIn
  route: LiveRoute | undefined
  parameters: PathParameters = noParameters
  headers = new HeaderList()
  ownCookies: OwnCookies = noCookies
  section: Section = "inbound"
  sentMethod: string | undefined
  rewritten: string | undefined
  host: string | undefined
  backend: BackendHandle | undefined
  backendQuery = ""
  subscriptionKey: string | undefined
  sentToken: SentToken | undefined
  certificate: ClientCertificate | undefined
  decision: Decision | undefined
  /** The step whose response ended a section. */
  answeredBy: AnsweringStep | undefined
  answerTrail: AnswerPlace[] = []
  /** Source place of the failure: `gateway.conf:41`. */
  failurePlace: string | undefined

  /** Field lines for every response. */
  answerLines: string[] = []
  compression: AnswerCompression | undefined
  problem: ProblemName | undefined
  /** Stable identifier of the cause, more precise than the problem. */
  reason: string | undefined
  cause: string | undefined
  status = 0
  target: string | undefined
  /** Path sent to the target, for the log; see `loggedPathOf`. */
  targetPath: string | undefined
  upstreamMs: number | undefined
  bytesSent = 0
  /** A copy of the response body is needed after the end. */
  keepsAnswer = false
  /** Copies of the body, begun before it is opened. */
  bodyCopies: BodyCopy[] | undefined
  /** The response of a step, or the problem, that was sent instead of the backend's response. */
  direct: DirectAnswer | undefined
  retried = false
  cut = false
  /** `100 Continue` was sent, or the client does not wait for it. */
  continued = true
  /** The head was refused, so the bytes after it on the connection cannot be parsed either. */
  refused = false
  /** The response is complete or the client has disconnected: nothing may be sent. */
  over = false
  /** Something failed: no more requests go to a backend. */
  failed = false
  protected readonly waiting: Waiting
  #caller: string | undefined
  #query: QueryString | undefined
  #bindings: RequestBindings | undefined
  #claims: Claims | undefined
  #subscriber: Subscriber | undefined
  #response: LiveResponse | undefined
  #requestBody: LiveBody | undefined
  #stream: RequestBody | undefined
  #variables: Variables | undefined
  #error: ExchangeError | undefined
  #releases: (() => void)[] | undefined
  #arrivals: (() => Promise<Problem | undefined>)[] | undefined

  /** State that every request needs; the rest is made when it is first read. */
  constructor(message: IncomingExchange, generation: Generation, waiting: Waiting, id: string) {
    this.request = message.request
    this.reply = message.reply
    this.upgrade = message.upgrade
    this.listener = message.listener
    this.generation = generation
    this.waiting = waiting
    this.startedAtMs = waiting.clock.now()
    this.started = waiting.clock.monotonic()
    this.id = id
    this.method = message.request.method ?? "GET"
  }

  /** Sets the values read from the head. */
  take(intake: Intake): void {
    this.intake = intake
    this.headers = new HeaderList(intake.headers)
    this.isGrpc = isGrpc(this.request, this.headers)
    this.continued = !intake.expectsContinue
    if (intake.requestId !== undefined) this.id = intake.requestId
    if (this.generation.oidc !== undefined) this.#takeOwnCookies()
  }

  /** Cookies of sessions open every route of their client, so no step, log or backend gets them, whatever route the request has. */
  #takeOwnCookies(): void {
    const { flat } = this.headers
    const cookies = flat.filter((_, at) => at % 2 === 1 && flat[at - 1] === "cookie").join("; ")
    if (!cookies.includes(ownCookiePrefix)) return
    const { own, rest } = splitCookies(cookies, ownCookiePrefix)
    this.ownCookies = own
    if (rest === undefined) this.headers.remove("cookie")
    else this.headers.set("cookie", rest)
  }

  /** The wall clock, in milliseconds. */
  get nowMs(): number {
    return this.waiting.clock.now()
  }

  /** The clock of `started`. */
  monotonic(): number {
    return this.waiting.clock.monotonic()
  }

  get gatewayName(): string {
    return this.generation.gatewayView.name
  }

  get facts(): PlanFacts {
    return this.generation.facts
  }

  get peer(): Exchange["peer"] {
    const { socket } = this.request
    const certificate = peerCertificateOf(socket)
    if (certificate === undefined) return undefined
    return { certificate, fault: certificate.faultBy(this.listener.transport.tls?.trustOf(socket)) }
  }

  get path(): string {
    return this.intake.path
  }

  get ip(): string {
    return this.intake.ip
  }

  get caller(): string {
    this.#caller ??= this.generation.rules.addresses.countedAs(this.intake.ip)
    return this.#caller
  }

  get authority(): string {
    return this.intake.authority
  }

  get scheme(): string {
    return this.intake.scheme
  }

  get sentLength(): number | undefined {
    return this.intake.sentLength
  }

  get originalQuery(): string {
    return this.intake.query
  }

  get originalTarget(): string {
    return originForm(this.request.url ?? "/", this.intake.authority) ?? "/"
  }

  get query(): QueryString {
    this.#query ??= new QueryString(this.intake.query)
    return this.#query
  }

  /** The query for the backend; it is parsed only when a step uses it. */
  get queryText(): string {
    return this.#query === undefined ? this.intake.query : this.#query.text
  }

  get variables(): Map<string, unknown> {
    if (this.#variables === undefined) {
      this.#variables = new Variables()
      if (this.#bindings !== undefined) this.#bindings.var = this.#variables.view
    }
    return this.#variables
  }

  /** The request body, for steps that read it. Without such a step the body is streamed and this is never made. */
  get requestBody(): LiveBody {
    this.#requestBody ??= new LiveBody({
      sender: "request",
      headers: this.headers,
      present: this.intake.body !== "none",
      bytesMax: this.generation.bufferBytesMax,
      valuesMax: this.generation.jsonValuesMax,
      read: () => this.#readBody(),
    })
    return this.#requestBody
  }

  async #readBody(): Promise<Buffer> {
    // There is only one stream of it; waiting for a second one would never end.
    if (this.reading)
      throw new Refused(
        problem("internal-error", {
          cause: "the body of the request was already sent once, and not kept to be sent again",
        }),
      )
    return readBody(this.openBody(Math.min(this.generation.bodyBytesMax, this.generation.bufferBytesMax)))
  }

  /** The body to send instead of the client's stream. */
  get outgoingBody(): Buffer | undefined {
    return this.#requestBody?.outgoing
  }

  /** Bytes of the client's body received so far. */
  get bytesReceived(): number {
    return (this.#stream?.received ?? 0) + this.tunnelReceived
  }

  /** Opens the client's body as a stream, which is possible only once. */
  openBody(bytesMax: number): RequestBody {
    const { patience, deadlines } = this.waiting
    // A call of gRPC may send its next message after any time; the timeout of the route limits it.
    const waiting = { deadlines, patience: this.isGrpc ? { ...patience, bodyBytesMin: 0 } : patience }
    this.#stream = new RequestBody(this.request, bytesMax, waiting, () => {
      if (!this.continued) this.reply.writeContinue()
      this.continued = true
    })
    this.#stream.copies = this.bodyCopies
    return this.#stream
  }

  /** Whether the client's body is being read. */
  get reading(): boolean {
    return this.#stream !== undefined
  }

  /** The rest of the client's body is not needed. */
  dropBody(): void {
    this.#stream?.destroy()
  }

  load(needs: Needs): Promise<void> | undefined {
    const first =
      (needs & requestBody) !== 0
        ? this.requestBody.load()
        : (needs & requestBytes) !== 0
          ? this.requestBody.loadBytes()
          : undefined
    const second = (needs & responseBody) === 0 ? undefined : this.#response?.body.load()
    if (first === undefined) return second
    return second === undefined ? first : Promise.all([first, second]).then(nothingMore)
  }

  /** Takes the head of the backend's response. `length`: Content-Length, -1 without one. */
  answered(body: AnswerStream, status: number, headers: HeaderList, length: number): void {
    const method = this.sentMethod ?? this.method
    const present =
      method !== "HEAD" && this.method !== "HEAD" && status !== 204 && status !== 304 && length !== 0
    const { bufferBytesMax: bytesMax, jsonValuesMax: valuesMax } = this.generation
    this.recording?.responded(this.backend?.name ?? "", status, headers.flat)
    this.response = LiveResponse.streamed({ status, headers }, { body, present, bytesMax, valuesMax })
  }

  /** The backend has accepted the upgrade. */
  upgraded(tunnel: AnswerStream, headers: HeaderList): void {
    this.response = LiveResponse.streamed(
      { status: 101, headers },
      { body: tunnel, present: true, bytesMax: 0 },
    )
  }

  /** What closes its WebSocket besides the two sides; null: it must not open. */
  get webSocket(): Route["websocket"] {
    const { route, waiting } = this
    if (route === undefined) return undefined
    return waiting.webSocketsOf === undefined ? route.plan.websocket : waiting.webSocketsOf(route)
  }

  answerWith(name: string, value: string): void {
    this.answerLines.push(name, value)
  }

  answerOnce(name: string, value: string): void {
    // Names and values alternate: a value equal to the name has an odd index.
    const at = this.answerLines.findIndex((each, index) => index % 2 === 0 && each === name)
    if (at < 0) this.answerLines.push(name, value)
    else this.answerLines[at + 1] = value
  }

  whenOver(release: () => void): void {
    if (this.over) release()
    else if (this.#releases === undefined) this.#releases = [release]
    else this.#releases.push(release)
  }

  whenAnswered(run: () => Promise<Problem | undefined>): void {
    this.#arrivals ??= []
    this.#arrivals.push(run)
  }

  /** Runs the callbacks for the backend's response; returns the first problem. */
  arrived(): Promise<Problem | undefined> | undefined {
    const arrivals = this.#arrivals
    if (arrivals === undefined) return undefined
    this.#arrivals = undefined
    return Promise.all(arrivals.map((run) => run())).then((found) => found.find((each) => each !== undefined))
  }

  keepAnswer(): void {
    this.keepsAnswer = true
  }

  /** Must be called once, at the end. */
  end(): void {
    this.over = true
    this.dropBody()
    if (this.#releases === undefined) return
    if (this.direct !== undefined) {
      const { headers, ...answer } = this.direct
      this.response = LiveResponse.whole(
        { ...answer, headers: new HeaderList([...headers]) },
        this.generation.jsonValuesMax,
      )
    }
    for (const release of this.#releases) release()
  }

  decided(decision: Decision): void {
    this.decision = decision
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

  get error(): ExchangeError | undefined {
    return this.#error
  }

  set error(error: ExchangeError | undefined) {
    this.#error = error
    if (this.#bindings !== undefined && error !== undefined) this.#bindings.error = errorView(error)
  }

  get response(): LiveResponse | undefined {
    return this.#response
  }

  set response(response: LiveResponse | undefined) {
    this.#response = response
    if (this.#bindings !== undefined && response !== undefined)
      this.#bindings.response = responseView(response)
  }

  /** What expressions can name, besides the request. */
  protected get named(): Generation["values"] {
    return this.generation.values
  }

  /** The variables of expressions, made at the first expression. */
  bindings(): Bindings {
    if (this.#bindings === undefined) {
      const bindings = makeBindings(this, this.route?.views, this.parameters, {
        values: this.named,
        gatewayView: this.generation.gatewayView,
      })
      this.#bindCaller(bindings)
      if (this.#response !== undefined) bindings.response = responseView(this.#response)
      if (this.#variables !== undefined) bindings.var = this.#variables.view
      if (this.#error !== undefined) bindings.error = errorView(this.#error)
      this.#bindings = bindings
    }
    return this.#bindings
  }

  #bindCaller(bindings: RequestBindings): void {
    const subscriber = this.#subscriber
    bindings.jwt = this.#claims ?? nothing
    bindings.subscription =
      subscriber === undefined ? nothing : { name: subscriber.name, product: subscriber.product ?? "" }
    bindings.product = subscriber === undefined ? nothing : { name: subscriber.product ?? "" }
  }
}

function nothingMore(): void {}

import { isGrpcMedia } from "../http/grpc.ts"
import type { IncomingRequest, Reply, Transport } from "../http/server/incoming.ts"
import { internalLimits, OwnNames, refusalOf } from "../http/server/internal-guard.ts"
import { type Listener, type ListenerSettings, openListener } from "../http/server/listener.ts"
import type { Address } from "../plan/resources.ts"
import type { Caller } from "./access.ts"
import { admit } from "./admission.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, bodyTooLarge, refusalError } from "./api-error.ts"
import { readBody } from "./body.ts"
import { fail, finish, type OpenRequest } from "./ending.ts"
import { beginTrace } from "./engine-span.ts"
import { outcomeOfError } from "./observed.ts"
import { isPreflight, originHeaders, preflightHeaders } from "./origin.ts"
import { pathOf } from "./request-target.ts"
import { type ApiExchange, ApiRequest, type ApiRoute } from "./route.ts"
import { Router } from "./router.ts"
import { routes } from "./routes.ts"
import { echoRequestId, type FailureForm, sendAnswer, sendError, sendRawError } from "./send-answer.ts"

/** Timeout for receiving a whole request. */
const requestArrivesMs = 15_000

const router = new Router(routes)
const noHeaders: AnswerHeaders = []

/** A request that was refused before its path was looked up. */
const unread = { method: "none", store: "", durationMs: undefined, work: undefined, question: undefined }

type Grpc = Pick<typeof import("./grpc/call.ts"), "takeCall" | "refuseCall">

let grpc: Grpc | undefined

/** gRPC and the descriptors of its services are loaded with the first call, because most processes serve none. */
function withGrpc(api: AuthzApi, reply: Reply, use: (grpc: Grpc) => void): void {
  if (grpc !== undefined) {
    use(grpc)
    return
  }
  loadGrpc()
    .then((loaded) => {
      grpc = loaded
      use(loaded)
    })
    .catch((error: unknown) => {
      api.logFault(error, "grpc")
      reply.destroy()
    })
}

async function loadGrpc(): Promise<Grpc> {
  const { takeCall, refuseCall } = await import("./grpc/call.ts")
  return { takeCall, refuseCall }
}

/** What to open. */
interface AuthzOptions {
  /** Shared by all listeners of a process, so that they have one cache of stores and one queue of writes. */
  readonly api: AuthzApi
  /** Addresses, each with a listener of its own; port 0 takes a free one. */
  readonly listen: readonly Address[]
  /** How clients reach these listeners (default: by plain HTTP). */
  readonly transport?: Transport | undefined
  readonly onHandshakeFailed?: ListenerSettings["onHandshakeFailed"] | undefined
  readonly onFlood?: ListenerSettings["onFlood"] | undefined
  /** Counts a connection from an address; undefined when it has too many. Absent: there is no limit. */
  readonly admit?: ListenerSettings["admit"]
  /** Called when a connection is closed before TLS and HTTP. */
  readonly onRefused?: ListenerSettings["onRefused"]
  /**
   * Whether to answer requests on connections to `local`, an address of this machine; while it returns false they get 503. Absent: always.
   */
  readonly serving?: ((local: string | undefined) => boolean) | undefined
  /** Listeners that give up their address when a new one needs it; absent: none. */
  readonly leaving?: readonly Listener[] | undefined
  /** Whether requests wait until the listener is activated, instead of getting 503 (default: false). */
  readonly awaitsActivation?: boolean | undefined
}

/** Open listeners. */
export interface AuthzListeners {
  /** In the order of `listen`, with the real ports. */
  readonly addresses: readonly Address[]
  readonly listeners: readonly Listener[]
  /** Accepts no new connections, answers requests on the open ones, and ends after `graceMs` at the latest (default: 0). */
  close(graceMs?: number): Promise<void>
}

/** Options of the engine's listener at an address with this host. */
function engineListener(
  api: AuthzApi,
  host: string,
  serving: (local: string | undefined) => boolean = () => true,
): ListenerSettings {
  return {
    limits: { ...internalLimits, requestMs: requestArrivesMs },
    service: {
      kind: "bare-handler",
      handle: (exchange) => {
        if (exchange.listener.transport.grpc === true)
          withGrpc(api, exchange.reply, ({ takeCall }) => takeCall(api, serving, exchange))
        else take(api, serving, exchange)
      },
    },
    guard: {
      names: new OwnNames(host, () => api.hosts),
      refuse: (request, response, refusal) => {
        const error = refusalError(refusal)
        if (request.isHttp2 === true && isGrpcMedia(request.headers["content-type"]))
          withGrpc(api, response, ({ refuseCall }) => refuseCall(response, error, api))
        else {
          echoRequestId(request, response)
          sendError(response, error, api)
        }
        api.observer?.ended({ ...unread, outcome: outcomeOfError(error) })
      },
    },
    answerRaw: (socket, fault) => sendRawError(socket, refusalError(refusalOf(fault))),
  }
}

function take(api: AuthzApi, serving: (local: string | undefined) => boolean, exchange: ApiExchange): void {
  const { request, reply: response } = exchange
  const asked = new ApiRequest(exchange)
  let headers = noHeaders
  try {
    echoRequestId(request, response)
    if (!serving(request.socket.localAddress))
      throw new ApiError("unavailable", "this listener waits for a new plan to run; try again shortly")
    headers = originHeaders(request, api.cors)
    if (isPreflight(request)) {
      const allowed = preflightHeaders(request, api.cors())
      sendAnswer(response, { status: 204, headers: allowed }, headers)
      return
    }
    receive(api, { asked, request, response, headers })
  } catch (error) {
    fail(api, { asked, response, headers }, error)
  }
}

interface Incoming extends OpenRequest {
  readonly request: IncomingRequest
}

function receive(api: AuthzApi, incoming: Incoming): void {
  const { asked, request } = incoming
  const match = router.find(request.method ?? "", pathOf(request))
  asked.route = match?.route
  asked.store = match?.route.ofDefaultStore ? (api.authzen().store ?? "") : (match?.store ?? "")
  asked.id = match?.id ?? ""
  beginTrace(api, asked)
  const refuse = (error: unknown) => fail(api, incoming, error, formOf(match?.route))
  let admitted: ReturnType<typeof admit>
  try {
    admitted = admit(api, match?.route.right ?? nowhere, asked.store, request.headers.authorization)
  } catch (error) {
    refuse(error)
    return
  }
  const readAs = (caller: Caller | undefined): void => {
    asked.caller = caller
    read(api, incoming)
  }
  if (admitted instanceof Promise) admitted.then(readAs).catch(refuse)
  else readAs(admitted)
}

const formOf = (route: ApiRoute | undefined): FailureForm => (route?.streams === true ? "stream" : "plain")

/** Only authenticated callers learn that a path does not exist. */
const nowhere = "caller"

function read(api: AuthzApi, incoming: Incoming): void {
  const { asked, request, response } = incoming
  const { route } = asked
  if (route === undefined)
    throw router.hasPath(pathOf(request))
      ? new ApiError("unimplemented", "Method Not Allowed")
      : new ApiError("undefined_endpoint", "Not Found")
  if (route.method === "GET" || route.method === "DELETE") {
    respond(api, route, incoming)
    return
  }
  const { bodyBytesMax } = api.limits()
  if (request.headers.expect !== undefined) response.writeContinue()
  readBody(request, bodyBytesMax, (bytes) => {
    if (bytes !== undefined) {
      asked.bytes = bytes
      respond(api, route, incoming)
      return
    }
    // The rest of the body is not read, so the connection must end.
    response.shouldKeepAlive = false
    fail(api, incoming, bodyTooLarge(bodyBytesMax))
    request.resume()
  })
}

/** Calls the resource. A response that is available at once is sent in the same turn of the event loop. */
function respond(api: AuthzApi, route: ApiRoute, incoming: OpenRequest): void {
  const { asked } = incoming
  let form: FailureForm = "plain"
  try {
    // A body that cannot be read fails before the stream begins.
    if (route.streams && asked.body !== undefined) form = "stream"
    const answer = route.handler(api, asked)
    if (answer instanceof Promise) settle(api, route, answer, incoming)
    else finish(api, incoming, answer)
  } catch (error) {
    fail(api, incoming, error, form)
  }
}

/** Waits for a response until the deadline; a later response is discarded. */
function settle(api: AuthzApi, route: ApiRoute, answer: Promise<ApiResponse>, incoming: OpenRequest): void {
  const { response } = incoming
  const refuse = (error: unknown) => {
    if (!response.headersSent) fail(api, incoming, error, formOf(route))
  }
  const late = () => refuse(new ApiError("deadline_exceeded", "Request Deadline Exceeded"))
  const timer = route.patient ? undefined : setTimeout(late, api.limits().requestMs)
  answer
    .then((given) => {
      if (!response.headersSent) finish(api, incoming, given)
    })
    .catch(refuse)
    .finally(() => clearTimeout(timer))
}

/**
 * Opens the HTTP API of the engine: OpenFGA's API and the additional routes. It authenticates callers when the plan requires it
 * (`AuthzParts.access`). Without authentication it belongs on an internal address.
 * @throws the system's error (`EADDRINUSE`, `EACCES` …, with `address` and `port`) when one address cannot be opened; then none is open
 */
export async function startAuthz(options: AuthzOptions): Promise<AuthzListeners> {
  const {
    api,
    serving,
    transport,
    onHandshakeFailed,
    onFlood,
    admit,
    onRefused,
    leaving = [],
    awaitsActivation = false,
  } = options
  const listeners: Listener[] = []
  const close = async (graceMs = 0) => {
    const closed = Promise.all(listeners.map((listener) => listener.close(graceMs)))
    api.watches.endClosing()
    await closed
  }
  try {
    for (const address of options.listen)
      listeners.push(
        await openListener(address, {
          ...engineListener(api, address.host, serving),
          ...{ transport, onHandshakeFailed, onFlood, admit, onRefused, leaving, awaitsActivation },
        }),
      )
  } catch (error) {
    await close()
    throw error
  }
  return { addresses: listeners.map(({ opened }) => opened.address), listeners, close }
}

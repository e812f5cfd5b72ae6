import type { IncomingHttpHeaders } from "node:http"
import { QuestionWork } from "../check/counts.ts"
import type { IncomingRequest, ListenerState, Reply } from "../http/server/incoming.ts"
import type { Address } from "../plan/resources.ts"
import type { RequestTrace } from "../tracing/request-trace.ts"
import type { Tracer } from "../tracing/tracer.ts"
import type { Caller } from "./access.ts"
import type { Right } from "./admission.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { parseBody } from "./body.ts"
import { asksForCamelCase, fieldNamesHeader, inSnakeCase, misspelled, snakeName } from "./field-names.ts"
import type { JsonFields } from "./fields.ts"
import type { AskedAbout, EngineOutcome, RequestOrigin } from "./observed.ts"
import { queryOf } from "./request-target.ts"

const noBytes: Buffer = Buffer.alloc(0)

/** A request with its response, and the listener that it came through. */
export interface ApiExchange {
  readonly request: IncomingRequest
  readonly reply: Reply
  readonly listener: ListenerState
}

/** The trace of a request, and the tracer that began it. */
interface EngineTrace {
  readonly trace: RequestTrace
  readonly tracer: Tracer
}

/** A call of gRPC: `package.Service`, its method, and its `grpc-status`. */
export interface EngineCall {
  readonly service: string | undefined
  readonly method: string | undefined
  readonly code: number
}

/** A request for the resources, and what its handler notes about it for metrics and logs. */
export class ApiRequest {
  /** Undefined until the path was looked up, and for an unknown path. */
  route: ApiRoute | undefined = undefined
  /** Decoded parts of the path; absent ones are empty. */
  store = ""
  id = ""
  readonly listener: ListenerState
  /** Set when the request is admitted; undefined where nobody has to authenticate. */
  caller: Caller | undefined = undefined
  /** The raw body; empty until it was read. */
  bytes = noBytes
  /** When it began, by `performance.now()`. */
  readonly startedMs = performance.now()
  /** The engine's work on it. */
  readonly work = new QuestionWork()
  /** Id of the model that answers, once that is known. */
  model: string | undefined = undefined
  /** Undefined: the request is not traced. */
  traced: EngineTrace | undefined = undefined
  /** What it asks about, once that is known. */
  question: AskedAbout | undefined = undefined
  /** How it ends, unless it fails. */
  outcome: EngineOutcome = "ok"
  readonly #request: IncomingRequest
  readonly #response: Reply

  constructor({ request, reply, listener }: ApiExchange) {
    this.listener = listener
    this.#request = request
    this.#response = reply
  }

  get httpMethod(): string {
    return this.#request.method ?? ""
  }

  /** The address from which the connection comes. */
  get clientAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  /** The path of its route, with the names of its parts. */
  get routePath(): string | undefined {
    return this.route?.path
  }

  /** The call of gRPC that it is; undefined: it is a request of HTTP. */
  get rpc(): EngineCall | undefined {
    return undefined
  }

  /** Its name in metrics and logs. */
  get name(): string {
    return this.route?.name ?? "none"
  }

  /** For logs. */
  get origin(): RequestOrigin {
    return this
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers
  }

  /** The server's address of the connection. An IPv4 address on a dual-stack listener has no `::ffff:` prefix. */
  get reached(): Address {
    const { localAddress = "", localPort = 0 } = this.#request.socket
    return { host: localAddress.replace(/^::ffff:(?=\d+\.)/, ""), port: localPort }
  }

  /** Whether the client has closed the connection and needs no response. */
  isGone(): boolean {
    return this.#response.destroyed
  }

  /** Calls back when the connection of the client has closed, or the response was sent. */
  whenGone(callback: () => void): void {
    this.#response.once("close", callback)
  }

  /**
   * The query's parameters, by their snake_case names. Parsed anew on each access.
   * @throws ApiError for camelCase names that the request did not ask for
   */
  get query(): URLSearchParams {
    const query = new URLSearchParams()
    for (const [name, value] of new URLSearchParams(queryOf(this.#request))) {
      const snake = snakeName(name)
      if (snake !== undefined && !this.#mayBeCamelCase) throw misspelled(name)
      query.append(snake ?? name, value)
    }
    return query
  }

  /**
   * The JSON object in the body, with snake_case fields where the request asked for camelCase. Parsed anew on each access.
   * @throws ApiError when the body is not an object
   */
  get body(): JsonFields {
    const body = parseBody(this.bytes)
    return this.#mayBeCamelCase ? (inSnakeCase(body) as JsonFields) : body
  }

  get #mayBeCamelCase(): boolean {
    return asksForCamelCase(this.headers[fieldNamesHeader])
  }
}

/**
 * One method of one resource. It throws `ApiError` or an error that `apiErrorOf` knows. It returns no promise when the response is
 * available at once.
 */
export type Handler = (api: AuthzApi, request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** A row of the table of routes. */
export interface ApiRoute {
  /** Its name in metrics and logs: that of OpenFGA's method where there is one. */
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** `{store}` and `{id}` match one part of the path each. */
  readonly path: string
  /** The right that it requires. */
  readonly right: Right
  readonly handler: Handler
  /** The path contains no store: it uses the default store (`AuthzParts.authzen`). */
  readonly ofDefaultStore?: true
  /** It responds with lines; its failures have the form of OpenFGA's streams. */
  readonly streams?: true
  /** It waits for changes, so its duration says nothing. */
  readonly waits?: true
  /** It has a deadline of its own and marks incomplete results; other routes end after `requestMs`. */
  readonly patient?: true
}

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { ListenerState } from "../http/server/incoming.ts"
import type { Address } from "../plan/resources.ts"
import type { Caller } from "./access.ts"
import type { Right } from "./admission.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { parseBody } from "./body.ts"
import { asksForCamelCase, fieldNamesHeader, inSnakeCase, misspelled, snakeName } from "./field-names.ts"
import type { JsonFields } from "./fields.ts"

const noBytes: Buffer = Buffer.alloc(0)

/** A request with its response, and the listener that it came through. */
export interface ApiExchange {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly listener: ListenerState
}

/** A request for the resources. `store` and `id` are decoded parts of the path; absent ones are empty. */
export class ApiRequest {
  readonly store: string
  readonly id: string
  readonly listener: ListenerState
  /** Set when the request is admitted; undefined where nobody has to authenticate. */
  caller: Caller | undefined = undefined
  /** The raw body; empty until it was read. */
  bytes = noBytes
  readonly #query: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(
    { store, id, query }: { readonly store: string; readonly id: string; readonly query: string },
    { request, reply, listener }: ApiExchange,
  ) {
    this.store = store
    this.id = id
    this.listener = listener
    this.#query = query
    this.#request = request
    this.#response = reply
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
    for (const [name, value] of new URLSearchParams(this.#query)) {
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
  /** It has a deadline of its own and marks incomplete results; other routes end after `requestMs`. */
  readonly patient?: true
}

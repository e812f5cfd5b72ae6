import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { Address } from "../plan/resources.ts"
import type { Right } from "./admission.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { parseBody } from "./body.ts"
import { asksForCamelCase, fieldNamesHeader, inSnakeCase, misspelled, snakeName } from "./field-names.ts"
import type { JsonFields } from "./fields.ts"

const noBytes: Buffer = Buffer.alloc(0)

/** A request as the resources see it. `store` and `id` are the path's parts, decoded; absent ones are empty. */
export class ApiRequest {
  readonly store: string
  readonly id: string
  /** The body as it came; empty until it has. */
  bytes = noBytes
  readonly #query: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(store: string, id: string, query: string, request: IncomingMessage, response: ServerResponse) {
    this.store = store
    this.id = id
    this.#query = query
    this.#request = request
    this.#response = response
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers
  }

  /** This end of the connection. An IPv4 address of a listener for both families is written without its prefix. */
  get reached(): Address {
    const { localAddress = "", localPort = 0 } = this.#request.socket
    return { host: localAddress.replace(/^::ffff:(?=\d+\.)/, ""), port: localPort }
  }

  /** Whether the client has gone: nobody waits for the answer. */
  isGone(): boolean {
    return this.#response.destroyed
  }

  /** The query's parameters, by their names in snake_case. Read anew each time it is asked for. @throws ApiError for camelCase that was not asked for. */
  get query(): URLSearchParams {
    const query = new URLSearchParams()
    for (const [name, value] of new URLSearchParams(this.#query)) {
      const snake = snakeName(name)
      if (snake !== undefined && !this.#mayBeCamelCase) throw misspelled(name)
      query.append(snake ?? name, value)
    }
    return query
  }

  /** The JSON object in the body, its fields in snake_case where camelCase was asked for. Read anew each time it is asked for. @throws ApiError when it is none. */
  get body(): JsonFields {
    const body = parseBody(this.bytes)
    return this.#mayBeCamelCase ? (inSnakeCase(body) as JsonFields) : body
  }

  get #mayBeCamelCase(): boolean {
    return asksForCamelCase(this.headers[fieldNamesHeader])
  }
}

/** One method of one resource. It throws `ApiError` and what `apiErrorOf` knows. What can be answered at once comes without a promise. */
export type Handler = (api: AuthzApi, request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** A line of the table of routes. */
export interface ApiRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** `{store}` and `{id}` stand for one part of the path each. */
  readonly path: string
  /** What it asks of its caller. */
  readonly right: Right
  readonly handler: Handler
  /** The path names no store: the default one is meant (`AuthzParts.authzen`). */
  readonly ofDefaultStore?: true
  /** Answers by lines; its failures have the form of OpenFGA's streams. */
  readonly streams?: true
  /** Has a deadline of its own and says what it did not reach; the others end with `requestMs`. */
  readonly patient?: true
}

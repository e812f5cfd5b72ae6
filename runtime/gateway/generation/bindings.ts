import { STATUS_CODES } from "node:http"
import { plainObject } from "../../expression/plain-object.ts"
import type { SecretKey } from "../../expression/secret-key.ts"
import { cookieValues } from "../../http/cookies.ts"
import type { ExchangeError, MessageBody, PendingResponse } from "../../policies/exchange.ts"
import { fieldText, type HeaderList } from "../../policies/messages/header-list.ts"
import { ownField } from "../../policies/messages/own-fields.ts"
import type { QueryString } from "../../policies/messages/query-string.ts"

/** The source of the values: the exchange. */
export interface BindingSource {
  readonly id: string
  readonly startedAtMs: number
  /** The wall clock now, in milliseconds. */
  readonly nowMs: number
  readonly method: string
  readonly path: string
  readonly ip: string
  readonly authority: string
  readonly host: string | undefined
  readonly sentLength: number | undefined
  readonly scheme: string
  readonly headers: HeaderList
  readonly query: QueryString
  readonly requestBody: MessageBody
  readonly response: PendingResponse | undefined
}

/** Values of a route that do not depend on the request. */
export interface RouteViews {
  readonly api: { readonly name: string; readonly version: string }
  readonly operation: { readonly name: string; readonly method: string; readonly path: string }
  readonly backend: { readonly name: string }
}

const noRoute: RouteViews = {
  api: { name: "", version: "" },
  operation: { name: "", method: "", path: "" },
  backend: { name: "" },
}

/** An object without fields: `has(jwt.sub)` is false. */
export const nothing: object = Object.freeze(plainObject())

/**
 * The values for expressions, in the shapes of runtime/expression/request-context.ts: plain data except for the clock, created at the first
 * expression of a request. `jwt`, `subscription`, `product`, `response`, `error` and `var` change during the request; the exchange updates them.
 */
export function makeBindings(
  source: BindingSource,
  views: RouteViews | undefined,
  parameters: Readonly<Record<string, string>>,
  generation: { readonly values: ReadonlyMap<string, string | SecretKey>; readonly gatewayView: object },
): RequestBindings {
  const bindings = new RequestBindings(source, views ?? noRoute, parameters, generation.gatewayView)
  for (const [name, value] of generation.values) bindings[name] = value
  return bindings
}

/**
 * The names in expressions, including named values. A class, because each object literal with a getter gets its own shape, which makes property
 * access slow.
 */
export class RequestBindings {
  [name: string]: unknown
  readonly #source: BindingSource
  readonly request: RequestView
  readonly path: Readonly<Record<string, string>>
  readonly api: RouteViews["api"]
  readonly operation: RouteViews["operation"]
  readonly backend: RouteViews["backend"]
  readonly gateway: object
  jwt = nothing
  subscription = nothing
  product = nothing
  response = nothing
  error = nothing
  var = nothing

  /** The variables of expressions. Objects are views: nothing is copied before an expression reads it. */
  constructor(
    source: BindingSource,
    { api, operation, backend }: RouteViews,
    parameters: Readonly<Record<string, string>>,
    gateway: object,
  ) {
    this.#source = source
    this.request = new RequestView(source)
    this.path = parameters
    this.api = api
    this.operation = operation
    this.backend = backend
    this.gateway = gateway
  }

  /** Read on each access, because steps may have changed it. */
  get query(): Readonly<Record<string, string>> {
    return this.#source.query.values()
  }

  get now(): Date {
    return new Date(this.#source.nowMs)
  }
}

/** The value of `response` in expressions. */
export function responseView(response: PendingResponse): object {
  return new ResponseView(response)
}

/** The value of `error` in expressions. */
export function errorView(error: ExchangeError): object {
  const { source, reason, message, section, status, scope, path, policyId: policy } = error
  return { source, reason, message, section, status, scope, path, policy }
}

/** `request` in expressions. */
class RequestView {
  readonly #source: BindingSource

  constructor(source: BindingSource) {
    this.#source = source
  }

  get method(): string {
    return this.#source.method
  }

  get path(): string {
    return this.#source.path
  }

  get id(): string {
    return this.#source.id
  }

  get time(): Date {
    return new Date(this.#source.startedAtMs)
  }

  get ip(): string {
    return this.#source.ip
  }

  get host(): string {
    return this.#source.authority.replace(/:\d+$/, "")
  }

  get scheme(): string {
    return this.#source.scheme
  }

  header(name: string): string {
    return ownField(this.#source, name) ?? headerText(this.#source.headers, name.toLowerCase())
  }

  get body(): unknown {
    return this.#source.requestBody.json()
  }

  get text(): string {
    return this.#source.requestBody.text()
  }

  headers(name: string): string[] {
    const own = ownField(this.#source, name)
    return own === undefined ? headerTexts(this.#source.headers, name.toLowerCase()) : [own]
  }

  query(name: string): string {
    return this.#source.query.get(name) ?? ""
  }

  queries(name: string): string[] {
    return this.#source.query.valuesOf(name) ?? []
  }

  cookie(name: string): string {
    return fieldText(cookieValues(this.#source.headers.get("cookie"), name)[0] ?? "")
  }
}

/** `response` in expressions. */
class ResponseView {
  readonly #response: PendingResponse

  constructor(response: PendingResponse) {
    this.#response = response
  }

  get status(): number {
    return this.#response.status
  }

  get reason(): string {
    const { reason, status } = this.#response
    return reason ?? STATUS_CODES[status] ?? ""
  }

  get body(): unknown {
    return this.#response.body.json()
  }

  get text(): string {
    return this.#response.body.text()
  }

  header(name: string): string {
    return headerText(this.#response.headers, name.toLowerCase())
  }

  headers(name: string): string[] {
    return headerTexts(this.#response.headers, name.toLowerCase())
  }
}

function headerText(headers: HeaderList, name: string): string {
  return fieldText(headers.get(name) ?? "")
}

/** The values of all lines with the name. */
function headerTexts({ flat }: HeaderList, name: string): string[] {
  return flat.flatMap((value, index) =>
    index % 2 === 1 && flat[index - 1] === name ? [fieldText(value)] : [],
  )
}

import type { JsonFields } from "../fields.ts"
import { type ApiExchange, ApiRequest, type EngineCall } from "../route.ts"
import type { GrpcMethod, PathFields } from "./methods.ts"

/** A call as the resources see it: a request whose body and query are the fields of its message. */
export class GrpcRequest extends ApiRequest {
  readonly #name: string
  readonly #path: string | undefined
  #fields: JsonFields = {}
  #isOver = false
  /** `grpc-status` of the call. */
  code = 0

  constructor(exchange: ApiExchange, method: GrpcMethod | undefined) {
    super(exchange)
    if (method?.kind === "resource") this.route = method.route
    this.#path = method?.path
    this.#name = method?.name ?? "none"
  }

  /** That of the route over HTTP, where there is one. */
  override get name(): string {
    return this.#name
  }

  override get routePath(): string | undefined {
    return this.#path
  }

  override get rpc(): EngineCall {
    const [, service, method] = /^\/(.+)\/([^/]+)$/.exec(this.#path ?? "") ?? []
    return { service, method, code: this.code }
  }

  /** Sets the message. */
  take(fields: JsonFields, { store, id }: PathFields): void {
    this.#fields = fields
    this.store = store
    this.id = id
  }

  /** The call has its status: the work on it may stop. */
  end(): void {
    this.#isOver = true
  }

  override isGone(): boolean {
    return this.#isOver || super.isGone()
  }

  override get body(): JsonFields {
    return this.#fields
  }

  override get query(): URLSearchParams {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(this.#fields)) query.append(name, String(value))
    return query
  }
}

import { Client } from "undici"

/**
 * A connection that its pool gives up after some time (option `clientTtl`). The pool writes `ttl` when a connection is made and asks for it at each
 * choice, with a look at the clock for every connection that has one: with dozens in use that is microseconds a request. So there is none until the
 * time is over.
 */
export class AgingClient extends Client {
  readonly #ageMs: number
  #aged = false
  #timer: NodeJS.Timeout | undefined

  constructor(origin: URL, options: Client.Options & { readonly ageMs: number }) {
    const { ageMs, ...rest } = options
    super(origin, rest)
    this.#ageMs = ageMs
  }

  get ttl(): number {
    return this.#aged ? 1 : 0
  }

  set ttl(_since: number) {
    clearTimeout(this.#timer)
    this.#aged = false
    this.#timer = setTimeout(() => {
      this.#aged = true
    }, this.#ageMs).unref()
  }
}

import { NoToken, type TokenSource } from "../../identity/token-client.ts"
import { noTokenProblem } from "../../policies/credentials/authentication.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { BackendSettings } from "../backends/backends.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"

/** What a request says of ourselves in Authorization: as its backend wants it, else as a step put it there. */
export class OwnAuthorization {
  readonly #exchange: ExchangeState
  readonly #backend: BackendSettings["authorization"]
  #source: TokenSource | undefined
  #token = ""
  #renewed = false
  /** In place of the field the request has; undefined: none. */
  value: string | undefined

  constructor(exchange: ExchangeState, backend: BackendSettings["authorization"]) {
    this.#exchange = exchange
    this.#backend = backend
    if (backend === undefined) {
      const { sentToken, headers } = exchange
      // A later step may have written something else.
      if (sentToken === undefined || headers.get("authorization") !== `Bearer ${sentToken.token}`) return
      this.#source = sentToken.source
      this.#token = sentToken.token
    } else if ("basic" in backend) this.value = backend.basic
    else this.#source = backend.tokens
  }

  /** Gets what is to be said; undefined when it is there at once. Resolves with what went wrong. */
  prepare(): Promise<Problem | undefined> | undefined {
    if (this.#source === undefined || (this.#backend === undefined && !this.#renewed)) return undefined
    const token = this.#source.token()
    if (typeof token !== "string") return token.then((late) => this.#take(late), failed)
    this.#take(token)
    return undefined
  }

  /** The backend answered 401. True: a fresh token can be had, and was not tried yet. */
  mayRenew(): boolean {
    if (this.#source === undefined) return false
    const fresh = this.#source.renew(this.#token)
    if (!fresh || this.#renewed) return false
    this.#renewed = true
    return true
  }

  #take(token: string): undefined {
    this.#token = token
    this.value = `Bearer ${token}`
    if (this.#backend !== undefined || this.#source === undefined) return
    this.#exchange.headers.set("authorization", this.value)
    this.#exchange.sentToken = { source: this.#source, token }
  }
}

function failed(error: unknown): Problem {
  return error instanceof NoToken
    ? noTokenProblem(error)
    : problem("internal-error", { cause: `a token: ${String(error)}` })
}

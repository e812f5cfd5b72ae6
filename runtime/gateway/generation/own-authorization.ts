import { NoToken, type TokenSource } from "../../identity/token-client.ts"
import { noTokenProblem } from "../../policies/credentials/authentication.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import type { BackendSettings } from "../backends/backend-settings.ts"
import type { ExchangeState } from "../exchange/exchange-state.ts"

/** The gateway's credentials in Authorization: those of the backend, otherwise those that a step set. */
export class OwnAuthorization {
  readonly #exchange: ExchangeState
  readonly #backend: BackendSettings["authorization"]
  #source: TokenSource | undefined
  #token = ""
  #renewed = false
  /** Replaces the field of the request; undefined: nothing replaces it. */
  value: string | undefined

  /** The gateway's own credential for a request: that of the backend, or a token that a step has fetched. */
  constructor(exchange: ExchangeState, backend: BackendSettings["authorization"]) {
    this.#exchange = exchange
    this.#backend = backend
    if (backend === undefined) {
      const { sentToken, headers } = exchange
      // A later step may have replaced the field.
      if (sentToken === undefined || headers.get("authorization") !== `Bearer ${sentToken.token}`) return
      this.#source = sentToken.source
      this.#token = sentToken.token
    } else if ("basic" in backend) this.value = backend.basic
    else this.#source = backend.tokens
  }

  /** Gets the credentials; undefined when they are already available. Resolves with a problem, if any. */
  prepare(): Promise<Problem | undefined> | undefined {
    if (this.#source === undefined || (this.#backend === undefined && !this.#renewed)) return undefined
    const token = this.#source.token()
    if (typeof token !== "string") return token.then((late) => this.#take(late), failed)
    this.#take(token)
    return undefined
  }

  /** The backend responded with 401. True: a new token is available and has not been tried. */
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

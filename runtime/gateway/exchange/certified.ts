/** An exchange whose connection was opened with a client certificate. */
export interface CertifiedExchange {
  /** Ends it when the certificate is no longer valid and something is still sent. */
  judge(): void
}

/** As often as changed files are read. */
const everyMs = 2_000

/** The exchanges that began with a verified client certificate. Requests are judged when they begin; those that last are judged again here. */
export class Certified {
  readonly #open = new Set<CertifiedExchange>()
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(judgedEveryMs = everyMs) {
    this.#everyMs = judgedEveryMs
  }

  add(exchange: CertifiedExchange): void {
    this.#open.add(exchange)
    this.#timer ??= setInterval(this.#judgeAll, this.#everyMs).unref()
  }

  delete(exchange: CertifiedExchange): void {
    this.#open.delete(exchange)
  }

  /** The timer ends with the last exchange, but not between two short ones. */
  readonly #judgeAll = (): void => {
    if (this.#open.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const exchange of [...this.#open]) exchange.judge()
  }
}

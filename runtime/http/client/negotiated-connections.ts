import type { AnswerReceiver, Connections, SentRequest } from "./connections.ts"
import { Http1Pool, type PoolSettings } from "./http1/pool.ts"
import { Http2Pool } from "./http2/pool.ts"

/** As for `Http1Pool`; `streamsMax`: the maximum number of streams on one connection of HTTP/2. */
export interface NegotiatedSettings extends PoolSettings {
  readonly streamsMax: number
}

/**
 * Connections to one origin over the version of HTTP that the server chooses in TLS (ALPN): HTTP/2 if it has it. After a server has chosen HTTP/1.1, all
 * requests go by HTTP/1.1 for as long as a connection would be used, and then it is asked again.
 */
export class NegotiatedConnections implements Connections {
  readonly #settings: NegotiatedSettings
  readonly #http2: Http2Pool
  #http1: Http1Pool | undefined
  #http1UntilMs = 0

  constructor(settings: NegotiatedSettings) {
    this.#settings = settings
    this.#http2 = new Http2Pool({
      ...settings,
      declined: (waiting) => {
        const http1 = this.#useHttp1()
        for (const { request, receiver } of waiting) http1.dispatch(request, receiver)
      },
    })
  }

  dispatch(request: SentRequest, receiver: AnswerReceiver): void {
    const http1 = this.#http1
    if (http1 !== undefined && performance.now() < this.#http1UntilMs) http1.dispatch(request, receiver)
    else this.#http2.dispatch(request, receiver)
  }

  /** A server may still choose HTTP/1.1 while requests wait for it. */
  async close(): Promise<void> {
    await this.#http2.close()
    await this.#http1?.close()
  }

  async destroy(): Promise<void> {
    await this.#http2.destroy()
    await this.#http1?.destroy()
  }

  #useHttp1(): Http1Pool {
    this.#http1UntilMs = performance.now() + this.#settings.ageMs
    this.#http1 ??= new Http1Pool(this.#settings)
    return this.#http1
  }
}

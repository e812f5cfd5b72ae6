import type { Finished } from "../observer.ts"
import type { PlayedConnection } from "./played-connection.ts"

/** What passed through a WebSocket. */
export interface PassedText {
  /** What the backend got. */
  readonly sent: string
  /** What the client got. */
  readonly received: string
}

/** A WebSocket that the gateway has opened between a client and a backend. Frames are not played, because the gateway does not read what passes. */
export class PlayedWebSocket {
  readonly #client: PlayedConnection
  readonly #backend: PlayedConnection
  readonly #end: () => Finished | undefined

  /** `end`: the facts at its end. */
  constructor(client: PlayedConnection, backend: PlayedConnection, end: () => Finished | undefined) {
    this.#client = client
    this.#backend = backend
    this.#end = end
  }

  get isOpen(): boolean {
    return this.#end() === undefined
  }

  /** Why the gateway closed it; undefined: it is open, or one side has ended it. */
  get cause(): string | undefined {
    return this.#end()?.cause
  }

  /** One side sends a text. */
  send(by: "client" | "backend", text: string): void {
    this.#of(by).arrive(Buffer.from(text))
  }

  /** One side closes it. */
  close(by: "client" | "backend"): void {
    this.#of(by).hangUp()
  }

  /** What has passed since the last call. */
  take(): PassedText {
    return { sent: this.#backend.take().toString("utf8"), received: this.#client.take().toString("utf8") }
  }

  #of(side: "client" | "backend"): PlayedConnection {
    return side === "client" ? this.#client : this.#backend
  }
}

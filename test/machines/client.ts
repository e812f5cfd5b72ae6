import { Agent, request } from "undici"

/** An answer, or its absence: status 0, and why. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly body: any
  /** The token of a write's commit. */
  readonly token: string | undefined
  /** From the request to the end of the answer. */
  readonly ms: number
}

/** What is asked; with `json` it is a POST unless `method` says otherwise. */
export interface Question {
  readonly method?: "GET" | "POST" | "PUT"
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** A body that is sent as it is. */
  readonly text?: string
}

/** Connections that stay open, as those of a service. Nothing is repeated. */
export class Client {
  readonly #agent: Agent

  constructor(connections = 8) {
    const timeouts = { headersTimeout: 20_000, bodyTimeout: 20_000 }
    this.#agent = new Agent({ connections, pipelining: 1, connect: { timeout: 3_000 }, ...timeouts })
  }

  async ask(url: string, { method, headers = {}, json, text }: Question = {}): Promise<Answer> {
    const startedMs = performance.now()
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
    try {
      const answer = await request(url, {
        ...{ dispatcher: this.#agent, method: method ?? (body === undefined ? "GET" : "POST") },
        headers: { ...(json === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body }),
      })
      const content = await answer.body.text()
      const isJson = String(answer.headers["content-type"]).includes("json")
      const token = answer.headers["sallyport-consistency-token"]
      return {
        status: answer.statusCode,
        body: isJson ? JSON.parse(content) : content,
        token: typeof token === "string" ? token : undefined,
        ms: performance.now() - startedMs,
      }
    } catch (error) {
      return { status: 0, body: String(error), token: undefined, ms: performance.now() - startedMs }
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

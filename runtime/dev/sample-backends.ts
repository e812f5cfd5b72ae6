import type { IncomingMessage, ServerResponse } from "node:http"
import { listen } from "./listener.ts"
import { readBody } from "./request-body.ts"
import { Collection, catalogItems, documents, ordersV1, ordersV2, type Resource } from "./sample-data.ts"
import { streamEvents } from "./sample-stream.ts"

/** Two running services to use as backends of a gateway. */
export interface SampleBackends {
  /** Orders, first version, e.g. `http://127.0.0.1:9001`. */
  readonly ordersUrl: string
  /** Orders, second version, and the catalog, e.g. `http://127.0.0.1:9002`. */
  readonly catalogUrl: string
  close(): Promise<void>
}

/** Options of the start; a port of 0 takes a free one. */
export interface SampleBackendsOptions {
  readonly host: string
  readonly ordersPort: number
  readonly catalogPort: number
}

const bodyBytesMax = 1024 * 1024

/**
 * Starts both. The field `request` of each response contains the method, path and headers that arrived, which shows what the gateway
 * changed. A path may begin with the API's prefix (`/orders/1`) or omit it (`/1`), because gateways do either. Any method and path below
 * `/echo` gets 200 and the request. Changes are kept until the process ends.
 * @throws {DevError} an address cannot be used
 */
export async function startSampleBackends(options: SampleBackendsOptions): Promise<SampleBackends> {
  const first = new Backend("orders-v1", {
    "": new Collection(ordersV1),
    documents: new Collection(documents),
  })
  const second = new Backend("orders-v2", {
    "": new Collection(ordersV2),
    items: new Collection(catalogItems),
  })
  const orders = await listen(
    "the sample backend of orders",
    options.host,
    options.ordersPort,
    () => first.listener,
  )
  try {
    const catalog = await listen(
      "the sample backend of the catalog",
      options.host,
      options.catalogPort,
      () => second.listener,
    )
    return {
      ordersUrl: orders.url,
      catalogUrl: catalog.url,
      close: async () => {
        await Promise.all([orders.close(), catalog.close()])
      },
    }
  } catch (error) {
    await orders.close()
    throw error
  }
}

class Backend {
  readonly #name: string
  /** By the first part of their path; orders have none. */
  readonly #collections: Readonly<Record<string, Collection>>

  constructor(name: string, collections: Readonly<Record<string, Collection>>) {
    this.#name = name
    this.#collections = collections
  }

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    // Only a client that closes the connection early makes this fail, and it needs no response.
    this.#answer(request, response).catch(() => response.destroy())
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path, query] = splitOnce(request.url ?? "/", "?")
    const words = path.split("/").filter((word) => word !== "")
    if (words[0] === "healthz") return this.#send(request, response, 200, { status: "ok" })
    if (words[0] === "echo") return this.#send(request, response, 200, {})
    if (words[0] === "orders" || words[0] === "catalog") words.shift()
    const name =
      words[0] !== undefined && Object.hasOwn(this.#collections, words[0]) ? (words.shift() as string) : ""
    const collection = this.#collections[name] as Collection
    const [id, verb, ...rest] = words
    if (rest.length > 0 || (verb !== undefined && verb !== "stream")) return this.#notFound(request, response)
    if (verb === "stream" || id === "stream")
      return streamEvents(response, new URLSearchParams(query), this.#name)
    if (id === undefined) return this.#onAll(request, response, collection)
    return this.#onOne(request, response, collection, id)
  }

  async #onAll(request: IncomingMessage, response: ServerResponse, collection: Collection): Promise<void> {
    if (request.method === "GET" || request.method === "HEAD")
      return this.#send(request, response, 200, { items: collection.all() })
    if (request.method !== "POST") return this.#notAllowed(request, response, "GET, HEAD, POST")
    const body = await readResource(request)
    if ("status" in body) return this.#send(request, response, body.status, { error: body.error })
    const made = collection.add(body.resource)
    return this.#send(request, response, 201, made, { location: `/${made.id}` })
  }

  async #onOne(
    request: IncomingMessage,
    response: ServerResponse,
    collection: Collection,
    id: string,
  ): Promise<void> {
    const known = collection.get(id)
    if (known === undefined) return this.#notFound(request, response)
    if (request.method === "GET" || request.method === "HEAD")
      return this.#send(request, response, 200, known)
    if (request.method === "DELETE") {
      collection.remove(id)
      response.writeHead(204).end()
      return
    }
    if (request.method !== "PUT") return this.#notAllowed(request, response, "GET, HEAD, PUT, DELETE")
    const body = await readResource(request)
    if ("status" in body) return this.#send(request, response, body.status, { error: body.error })
    return this.#send(request, response, 200, collection.replace(id, body.resource))
  }

  #notFound(request: IncomingMessage, response: ServerResponse): void {
    this.#send(request, response, 404, { error: "not found" })
  }

  #notAllowed(request: IncomingMessage, response: ServerResponse, allow: string): void {
    this.#send(request, response, 405, { error: "method not allowed" }, { allow })
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    body: object,
    headers: Record<string, string> = {},
  ): void {
    const seen = { method: request.method, path: request.url, headers: request.headers }
    const text = JSON.stringify({ ...body, backend: this.#name, request: seen })
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      server: `sample-${this.#name}`,
      ...headers,
    })
    response.end(request.method === "HEAD" ? undefined : text)
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

async function readResource(
  request: IncomingMessage,
): Promise<{ resource: Resource } | { status: number; error: string }> {
  const body = await readBody(request, bodyBytesMax)
  if (body === undefined) return { status: 413, error: `the body is longer than ${bodyBytesMax} bytes` }
  try {
    const value: unknown = JSON.parse(body.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { resource: value as Resource }
  } catch {
    // The response follows below.
  }
  return { status: 400, error: "the body is not a JSON object" }
}

import { type Exchange, localPath } from "../policies/exchange.ts"
import { joinQueries, QueryString } from "../policies/messages/query-string.ts"
import type { PolicyLists, PolicyUrl } from "./csharp/ports.ts"
import { serviceUrl } from "./place.ts"

/** `context.Request.OriginalUrl`: the URL in the client's request. */
export function askedUrl(exchange: Exchange): PolicyUrl {
  return new AskedUrl(exchange)
}

/**
 * `context.Request.Url`: the current URL of the request to the backend: its address, its base path, the path after that of the API or as rewritten by
 * policies, and the query. Without a backend it is the client's URL.
 */
export function sentUrl(exchange: Exchange): PolicyUrl {
  // The backend that a policy chose, else that of the route.
  const url = exchange.backend?.url ?? exchange.route?.backendUrl
  const { backendQuery, rewritten } = exchange
  const query =
    backendQuery === "" ? exchange.query : new QueryString(joinQueries(backendQuery, exchange.query.text))
  if (url === undefined) {
    const { scheme, host, port, path } = askedUrl(exchange)
    return new SentUrl({ scheme, host, port, path: rewritten ?? path }, query)
  }
  const { scheme, host, port, path: basePath } = serviceUrl(url)
  // A base path may end with a slash, and the local path begins with one.
  const path = `${basePath.replace(/\/+$/, "")}${localPath(exchange)}` || "/"
  return new SentUrl({ scheme, host, port, path }, query)
}

abstract class UrlOfRequest implements PolicyUrl {
  abstract readonly scheme: string
  abstract readonly host: string
  abstract readonly port: number
  abstract readonly path: string
  protected abstract pairs(): QueryString

  get queryString(): string {
    const { text } = this.pairs()
    return text === "" ? "" : `?${text}`
  }
  get query(): PolicyLists {
    return new Query(this.pairs())
  }
}

/** Each part is computed on access: most programs use only the path. */
class AskedUrl extends UrlOfRequest {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    super()
    this.#exchange = exchange
  }
  get scheme(): string {
    return this.#exchange.scheme
  }
  get host(): string {
    // The Host of the client; its port is a part of its own.
    return this.#exchange.authority.replace(/:\d+$/, "")
  }
  get port(): number {
    const port = /:(\d+)$/.exec(this.#exchange.authority)?.[1]
    return port === undefined ? (this.scheme === "https" ? 443 : 80) : Number(port)
  }
  get path(): string {
    return this.#exchange.path
  }
  protected pairs(): QueryString {
    return new QueryString(this.#exchange.originalQuery)
  }
}

class SentUrl extends UrlOfRequest {
  readonly scheme: string
  readonly host: string
  readonly port: number
  readonly path: string
  readonly #pairs: QueryString

  constructor({ scheme, host, port, path }: Place, pairs: QueryString) {
    super()
    this.scheme = scheme
    this.host = host
    this.port = port
    this.path = path
    this.#pairs = pairs
  }
  protected pairs(): QueryString {
    return this.#pairs
  }
}

type Place = Pick<PolicyUrl, "scheme" | "host" | "port" | "path">

class Query implements PolicyLists {
  readonly #query: QueryString

  constructor(query: QueryString) {
    this.#query = query
  }
  get(name: string): readonly string[] | undefined {
    return this.#query.valuesOf(name)
  }
  joined(name: string): string | undefined {
    const found = this.#query.valuesOf(name)
    // Several values of one parameter are joined by commas, as APIM does.
    return found === undefined || found.length === 1 ? found?.[0] : found.join(",")
  }
  *entries(): Iterable<readonly [string, readonly string[]]> {
    const names = new Set<string>()
    for (const [name] of this.#query.pairs()) {
      // Names of parameters are compared without letter case, and listed once.
      const folded = name.toUpperCase()
      if (!names.has(folded)) yield [name, this.#query.valuesOf(name) ?? []]
      names.add(folded)
    }
  }
}

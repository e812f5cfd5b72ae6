import type { PolicyLists, PolicyUrl } from "../csharp/ports.ts"
import { serviceUrl } from "./csharp-place.ts"
import type { Exchange } from "./exchange.ts"
import { joinQueries, QueryString } from "./query-string.ts"

/** `context.Request.OriginalUrl`: what the client asked for. */
export function askedUrl(exchange: Exchange): PolicyUrl {
  const { scheme, authority, path, originalQuery } = exchange
  const port = /:(\d+)$/.exec(authority)?.[1]
  return new RequestUrl(
    {
      scheme,
      host: authority.replace(/:\d+$/, ""),
      port: port === undefined ? (scheme === "https" ? 443 : 80) : Number(port),
      path,
    },
    () => new QueryString(originalQuery),
  )
}

/**
 * `context.Request.Url`: what the backend is asked, as it stands now: its address, its base path, the path behind that of the API or what policies made
 * of it, and the query. Where there is no backend it is what the client asked for.
 */
export function sentUrl(exchange: Exchange): PolicyUrl {
  const url = exchange.backend?.url ?? exchange.route?.backendUrl
  const { backendQuery, rewritten } = exchange
  const query =
    backendQuery === "" ? exchange.query : new QueryString(joinQueries(backendQuery, exchange.query.text))
  if (url === undefined) {
    const { scheme, host, port, path } = askedUrl(exchange)
    return new RequestUrl({ scheme, host, port, path: rewritten ?? path }, () => query)
  }
  const { scheme, host, port, path: basePath } = serviceUrl(url)
  const path = `${basePath.replace(/\/+$/, "")}${localPath(exchange)}` || "/"
  return new RequestUrl({ scheme, host, port, path }, () => query)
}

/** The path behind that of the backend's URL. */
export function localPath({ rewritten, path, route }: Exchange): string {
  return rewritten ?? path.slice((route?.plan.stripPrefix ?? "").replace(/\/$/, "").length)
}

class RequestUrl implements PolicyUrl {
  readonly scheme: string
  readonly host: string
  readonly port: number
  readonly path: string
  readonly #query: () => QueryString

  constructor(place: Pick<PolicyUrl, "scheme" | "host" | "port" | "path">, query: () => QueryString) {
    this.scheme = place.scheme
    this.host = place.host
    this.port = place.port
    this.path = place.path
    this.#query = query
  }
  get queryString(): string {
    const { text } = this.#query()
    return text === "" ? "" : `?${text}`
  }
  get query(): PolicyLists {
    return new Query(this.#query())
  }
}

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
    return found === undefined || found.length === 1 ? found?.[0] : found.join(",")
  }
  *entries(): Iterable<readonly [string, readonly string[]]> {
    const names = new Set<string>()
    for (const [name] of this.#query.pairs()) {
      const folded = name.toUpperCase()
      if (!names.has(folded)) yield [name, this.#query.valuesOf(name) ?? []]
      names.add(folded)
    }
  }
}

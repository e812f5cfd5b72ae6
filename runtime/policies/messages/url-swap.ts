const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" }

/** What would make a name or the segment of a path go on: the URL is another one then. A full stop at the end of a sentence is none of it. */
const goesOn = String.raw`(?!\.*[\w~%@:+=-])`

/**
 * Puts one URL in the place of others wherever they stand in a text, with all that follows them: `http://backend:9001/base/orders/1` becomes `https://api.example/v1/orders/1`. Scheme and
 * host count in any letter case, the port also where it is left out as the scheme's own; `\/`, as some write slashes in JSON, is a slash.
 */
export class UrlSwap {
  readonly #sought: RegExp
  readonly #put: string

  /** URLs without query; a slash at the end means nothing. */
  constructor(sought: readonly string[], put: string) {
    // The longest first: one may be the beginning of another.
    const patterns = [...new Set(sought)].sort((a, b) => b.length - a.length).map(patternOf)
    this.#sought = new RegExp(`(?<![\\w.+-])(?:${patterns.join("|")})${goesOn}`, "g")
    this.#put = put.replace(/\/+$/, "")
  }

  in(text: string): string {
    return text.replace(this.#sought, (found) =>
      found.includes("\\/") ? this.#put.replaceAll("/", "\\/") : this.#put,
    )
  }
}

/** The path alone is told from others by its letter case. */
function patternOf(url: string): string {
  const [, scheme = "", authority = "", path = ""] = /^([a-z]+):\/\/([^/]*)(.*)$/i.exec(url) ?? []
  const named = scheme.toLowerCase()
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? []
  const own = defaultPorts[named]
  const ports = port === undefined || port === own ? `(?::${own})?` : `:${port}`
  const slash = String.raw`\\?/`
  const below = path
    .replace(/\/+$/, "")
    .split("/")
    .map((segment) => segment.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(slash)
  return `${anyCase(named)}:${slash}${slash}${anyCase(host)}${ports}${below}`
}

function anyCase(text: string): string {
  return [...text]
    .map((each) =>
      /[a-z]/i.test(each) ? `[${each.toLowerCase()}${each.toUpperCase()}]` : each.replace(/[.[\]]/, "\\$&"),
    )
    .join("")
}

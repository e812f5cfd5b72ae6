import { type Match, type Matchable, Routes } from "./routes.ts"

/** What has to be known of a route that is served on some hosts only. */
export interface Hosted extends Matchable {
  /** Names in lower case, `*.example.com` for all below; undefined: every host. */
  readonly hosts: readonly string[] | undefined
}

/**
 * The routes of one plan by host: those of the host itself, then those of the longest pattern it fits, then those of every host. What a host has for other
 * methods, or what only looks like a path of its own, is answered there and not by a less specific host: that would be a way around its protection.
 */
export class HostRoutes<R extends Hosted> {
  readonly #exact = new Map<string, Routes<R>>()
  /** By what follows the `*`, the longest first. */
  #patterns: [suffix: string, routes: Routes<R>][] = []
  readonly #every = new Routes<R>()

  /** @throws Error when two routes are the same on a host. */
  add(route: R): void {
    if (route.hosts === undefined) this.#every.add(route)
    for (const host of route.hosts ?? []) this.#of(host).add(route)
  }

  /** `authority`: the Host of the request as it was sent, perhaps with a port. */
  find(method: string, path: string, authority: string): Match<R> {
    if (this.#exact.size > 0 || this.#patterns.length > 0) {
      const host = hostOf(authority)
      for (const routes of this.#for(host)) {
        const match = routes.find(method, path)
        if (match.kind !== "none" || match.alike) return match
      }
    }
    return this.#every.find(method, path)
  }

  #for(host: string): Routes<R>[] {
    const found = this.#exact.get(host)
    const patterns = this.#patterns.filter(([suffix]) => host.length > suffix.length && host.endsWith(suffix))
    return [...(found === undefined ? [] : [found]), ...patterns.map(([, routes]) => routes)]
  }

  #of(host: string): Routes<R> {
    if (!host.startsWith("*")) {
      const routes = this.#exact.get(host) ?? new Routes<R>()
      this.#exact.set(host, routes)
      return routes
    }
    const suffix = host.slice(1)
    const known = this.#patterns.find(([each]) => each === suffix)
    if (known !== undefined) return known[1]
    const routes = new Routes<R>()
    this.#patterns = [...this.#patterns, [suffix, routes] as [string, Routes<R>]].sort(
      ([a], [b]) => b.length - a.length,
    )
    return routes
  }
}

/** RFC 9110 §4.2.3: case means nothing, the port is another matter, a dot at the end is the root of the same name. */
function hostOf(authority: string): string {
  const host = authority.startsWith("[")
    ? authority.slice(0, authority.indexOf("]") + 1)
    : authority.replace(/:\d*$/, "")
  return host.toLowerCase().replace(/\.$/, "")
}

import type { PathForms } from "../../plan/resources.ts"
import { formsOf, passesAll, readingsOf } from "./path-readings.ts"
import type { Matchable } from "./route-tree.ts"
import { type HostMatch, type Match, Routes } from "./routes.ts"

/** What matching needs to know about a route with hosts. */
export interface Hosted extends Matchable {
  /** Names in lower case, `*.example.com` for all subdomains; undefined: every host. */
  readonly hosts: readonly string[] | undefined
}

/**
 * The routes of one plan by host. Those of the exact host are tried first, then those of the longest matching pattern, then those of every host. When
 * a host has the path for other methods, or only a look-alike of it, the search ends there: a less specific host must not bypass its protection.
 */
export class HostRoutes<R extends Hosted> {
  readonly #exact = new Map<string, Routes<R>>()
  /** By the part after the `*`, the longest first. */
  #patterns: [suffix: string, routes: Routes<R>][] = []
  readonly #every = new Routes<R>()
  #forms = noForms

  /** Path forms that at least one route passes. */
  get forms(): PathForms {
    return this.#forms
  }

  /** @throws Error when two routes on a host are equal */
  add(route: R): void {
    if (route.passes !== undefined) this.#forms = { ...this.#forms, ...route.passes }
    if (route.hosts === undefined) this.#every.add(route)
    for (const host of route.hosts ?? []) this.#of(host).add(route)
  }

  /** `authority`: the Host field as sent, optionally with a port. */
  find(method: string, path: string, authority: string): HostMatch<R> {
    const match = this.#find(method, path, authority)
    const forms = this.#forms === noForms ? noForms : formsOf(path)
    return Object.keys(forms).length === 0 ? match : this.#judge(match, forms, method, path, authority)
  }

  /** A path that servers read in different ways matches only when its route passes these forms and no reading leads to another route. */
  #judge(match: Match<R>, forms: PathForms, method: string, path: string, authority: string): HostMatch<R> {
    if (match.kind !== "found" || !passesAll(match.route.passes, forms))
      return { kind: "unread", cause: `no route allows the ${formWords(forms)} of the path` }
    const { route, parameters } = match
    const tables = [...this.#for(hostOf(authority)), this.#every]
    const readings = readingsOf(path, route.passes ?? noForms)
    if (readings === undefined)
      return {
        kind: "unread",
        cause: `the ${formWords(forms)} of the path could hide dot segments or an empty segment`,
      }
    for (const reading of readings)
      if (tables.some((table) => table.strays(reading, method, route, parameters)))
        return {
          kind: "unread",
          cause: `a backend could read it as \`${reading}\`, which is another route or is protected otherwise`,
        }
    return match
  }

  /** Exact hosts come first, then patterns from the longest to the shortest, then routes for every host. */
  #find(method: string, path: string, authority: string): Match<R> {
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

  /** The routes of a host or pattern. */
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

const noForms: PathForms = {}

function formWords({ encodedSlash, pathParameters }: PathForms): string {
  if (encodedSlash) return "encoded slash"
  return pathParameters ? "`;`" : "empty segment"
}

/** RFC 9110 §4.2.3: case is ignored, the port is removed, and so is a dot at the end (the DNS root). */
function hostOf(authority: string): string {
  const host = authority.startsWith("[")
    ? authority.slice(0, authority.indexOf("]") + 1)
    : authority.replace(/:\d*$/, "")
  return host.toLowerCase().replace(/\.$/, "")
}

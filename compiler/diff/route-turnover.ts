import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { asksPermission, credentialsOf } from "../../runtime/plan/steps.ts"
import {
  breaking,
  closes,
  type Finding,
  joined,
  neutral,
  opens,
  type RiskAssessment,
} from "../analysis/finding.ts"
import { listWords, routeWords } from "../analysis/words.ts"
import { nameOf } from "./auth-changes.ts"
import type { Change } from "./change.ts"
import type { ListComparison } from "./compare-lists.ts"
import type { RouteDraft } from "./gather.ts"
import { guardsOf, type Known, RouteCover } from "./route-cover.ts"
import { servedOtherwise } from "./route-fields.ts"
import type { StepWords } from "./step-words.ts"

/**
 * Compares added and removed routes with the routes that serve the same requests: who can call the new ones, and which routes take the
 * requests of the removed ones.
 */
export class RouteTurnover {
  readonly #old: StepWords
  readonly #next: StepWords
  readonly #lists: ListComparison
  readonly #coverBefore: RouteCover
  readonly #coverAfter: RouteCover
  #methodsAfter: ReadonlyMap<string, string[]> | undefined

  constructor(old: StepWords, next: StepWords, lists: ListComparison) {
    this.#lists = lists
    this.#old = old
    this.#next = next
    this.#coverBefore = new RouteCover(old.body.routes)
    this.#coverAfter = new RouteCover(next.body.routes)
  }

  removed(keys: readonly string[]): RouteDraft[] {
    const unitOf = unitsOf(keys, this.#old.body, this.#next.body)
    return keys.flatMap((key) => {
      const route = this.#old.body.routes[key]
      if (route === undefined) return []
      return [draft("removed", key, route, unitOf(route), joined(this.#loss(route)))]
    })
  }

  added(keys: readonly string[]): RouteDraft[] {
    const unitOf = unitsOf(keys, this.#next.body, this.#old.body)
    return keys.flatMap((key) => {
      const route = this.#next.body.routes[key]
      if (route === undefined) return []
      return [draft("added", key, route, unitOf(route), joined(this.#addition(route)))]
    })
  }

  #loss(route: Route): Finding[] {
    const heirs = this.heirsOf(route)
    if (this.#coverAfter.of(route) !== undefined) return heirs
    return [breaking(heirs.length > 0 ? "the rest of them matches no route" : this.#end(route)), ...heirs]
  }

  /** What happens to the requests of a removed route that less specific routes now take. */
  heirsOf(route: Route): Finding[] {
    const heir = this.#coverAfter.of(route)
    return [
      ...(heir === undefined ? [] : [this.#heir(route, heir)]),
      ...this.#coverAfter.behind(route).flatMap((each) => {
        const found = this.#isRefused(route, each) ? undefined : this.#opened(route, each.route)
        return found === undefined
          ? []
          : [opens(`\`${routeWords(each.key)}\` now serves some of these requests${found}`)]
      }),
    ]
  }

  /** What happens to the requests of a removed route that another one now serves. */
  #heir(route: Route, heir: Known): Finding {
    if (this.#isRefused(route, heir)) return breaking(this.#end(route))
    const taken = `\`${routeWords(heir.key)}\` now serves these requests`
    const found = this.#opened(route, heir.route)
    if (found !== undefined) return opens(`${taken}${found}`)
    return this.#differences(route, heir.route).length === 0
      ? neutral(`${taken} and does the same`)
      : breaking(taken)
  }

  /**
   * A more specific route may have the same path with other methods. Then a less specific route takes the requests only if both have equal
   * protection.
   */
  #isRefused(route: Route, heir: Known): boolean {
    const guards = guardsOf(heir.route, this.#next).join()
    return this.#coverAfter
      .sharing(route, heir.route)
      .some((each) => guardsOf(each.route, this.#next).join() !== guards)
  }

  /** What another route opens for requests it takes, as the end of a sentence; undefined if it opens nothing. */
  #opened(before: Route, after: Route): string | undefined {
    const lost = lostGuards(guardsOf(before, this.#old), guardsOf(after, this.#next))
    if (lost !== "") return `, without ${lost}`
    const found = this.#differences(before, after).find(({ risk }) => risk === "opens")
    return found === undefined ? undefined : `: ${found.why}`
  }

  /** The differences for requests that were served by one route and are now served by another. */
  #differences(before: Route, after: Route): Finding[] {
    return [...servedOtherwise(before, after), ...this.#lists.compareRoutes(before, after)]
  }

  /** Other methods of the same path may still be served. */
  #end({ path }: Route): string {
    const served = this.#methods().get(path) ?? []
    return served.length === 0
      ? "these requests now match no route and get 404 or 405"
      : `on this path only ${listWords(served.sort())} is served`
  }

  /** The methods of each path, computed at the first question. */
  #methods(): ReadonlyMap<string, string[]> {
    if (this.#methodsAfter !== undefined) return this.#methodsAfter
    const methods = new Map<string, string[]>()
    for (const { path, method } of Object.values(this.#next.body.routes)) {
      const known = methods.get(path)
      if (known === undefined) methods.set(path, [method])
      else known.push(method)
    }
    this.#methodsAfter = methods
    return methods
  }

  /** A new route. One that takes requests of another route opens when it has fewer guards. */
  #addition(route: Route): Finding[] {
    const callers = this.#callers(route)
    const earlier = this.#coverBefore.of(route)
    if (earlier === undefined) return [opens(callers), ...this.#takenPartly(route)]
    const taken = `it now serves these requests instead of \`${routeWords(earlier.key)}\``
    const lost = lostGuards(guardsOf(earlier.route, this.#old), guardsOf(route, this.#next))
    if (lost !== "") return [opens(`${taken}, without ${lost}; ${callers}`), ...this.#takenPartly(route)]
    return [this.#taking(taken, earlier.route, route), ...this.#takenPartly(route)]
  }

  #taking(taken: string, before: Route, after: Route): Finding {
    const found = joined(this.#differences(before, after)).reasons[0]
    if (found === undefined || found.risk === "neutral") return neutral(taken)
    return lostGuards(guardsOf(after, this.#next), guardsOf(before, this.#old)) !== "" &&
      found.risk !== "opens"
      ? closes(`${taken} and has more checks`)
      : { risk: found.risk, why: `${taken}: ${found.why}` }
  }

  /** What an existing route opens by taking requests from other routes. */
  takenFrom(route: Route): Finding[] {
    const earlier = this.#coverBefore.of(route)
    const found = earlier === undefined ? undefined : this.#opened(earlier.route, route)
    return [
      ...(earlier === undefined || found === undefined
        ? []
        : [opens(`it now serves requests of \`${routeWords(earlier.key)}\`${found}`)]),
      ...this.#takenPartly(route),
    ]
  }

  /** What a route opens by taking some of the requests of other routes. */
  #takenPartly(route: Route): Finding[] {
    return this.#coverBefore.behind(route).flatMap((each) => {
      const found = this.#opened(each.route, route)
      return found === undefined
        ? []
        : [opens(`it now serves requests of \`${routeWords(each.key)}\`${found}`)]
    })
  }

  /** Who can call a new route. */
  #callers({ sections }: Route): string {
    const { steps } = this.#next.body
    const found = sections.inbound.flatMap((id) => steps[id] ?? [])
    const names = found.flatMap((step) => credentialsOf(step, (id) => steps[id]).map(nameOf))
    const asked = found.some(asksPermission) ? ", if `require` allows them" : ""
    const who =
      names.length === 0
        ? "every client may call"
        : `callers with ${listWords(names).replace(" and ", " or ")} may call`
    return `${who}${asked}`
  }
}

interface Unit {
  readonly subject: Change["subject"]
  readonly words: string
}

/**
 * The unit that was added or removed: an API, a version of it, or single routes. Single routes get their words when their number is known.
 */
function unitsOf(keys: readonly string[], here: PlanBody, there: PlanBody): (route: Route) => Unit {
  const moving = new Set(keys)
  const staying = Object.entries(here.routes).filter(([key]) => !moving.has(key))
  const known = [...staying.map(([, route]) => route), ...Object.values(there.routes)]
  const apis = new Set(known.map(({ api }) => api))
  const versions = new Set(known.map(({ api, version }) => JSON.stringify([api, version])))
  return ({ api, version }) => {
    if (!apis.has(api)) return { subject: { kind: "api", name: api }, words: `api ${api}` }
    if (version !== null && !versions.has(JSON.stringify([api, version])))
      return { subject: { kind: "version", name: version }, words: `version ${version}` }
    return { subject: { kind: "route", name: "" }, words: "" }
  }
}

/** The change of a whole route. */
function draft(
  action: "added" | "removed",
  key: string,
  route: Route,
  { subject, words }: Unit,
  verdict: RiskAssessment,
): RouteDraft {
  const sides = action === "added" ? { before: undefined, after: words } : { before: words, after: undefined }
  const change = { action, subject, path: `routes.${key}`, ...sides, ...verdict }
  return { route: key, api: route.api, version: route.version, change }
}

/** The checks of the first list that the second does not have, in words; empty if there are none. */
function lostGuards(before: readonly string[], after: readonly string[]): string {
  return listWords(before.filter((guard) => !after.includes(guard)).map((guard) => `\`${guard}\``))
}

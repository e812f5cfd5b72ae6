import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { breaking, closes, type Finding, joined, neutral, opens, type Verdict } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { listWords, routeWords } from "../analysis/words.ts"
import { isAuth, nameOf } from "./auth-changes.ts"
import type { Change } from "./change.ts"
import type { RouteDraft } from "./gather.ts"
import { guardsOf, RouteCover } from "./route-cover.ts"
import type { StepWords } from "./step-words.ts"

/** Routes that come and go: who may call the new ones, and who answers the requests of the old ones. */
export class RouteTurnover {
  readonly #old: StepWords
  readonly #next: StepWords
  readonly #coverBefore: RouteCover
  readonly #coverAfter: RouteCover
  #methodsAfter: ReadonlyMap<string, string[]> | undefined

  constructor(old: StepWords, next: StepWords) {
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
      const heir = this.heirOf(route)
      const verdict = joined(heir.length > 0 ? heir : [breaking(this.#end(route))])
      return [draft("removed", key, route, unitOf(route), verdict)]
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

  /** What becomes of the requests of a route that is gone, when a less specific one takes them. */
  heirOf(route: Route): Finding[] {
    const heir = this.#coverAfter.of(route)
    if (heir === undefined) return []
    const lost = lostGuards(guardsOf(route, this.#old), guardsOf(heir.route, this.#next))
    if (same(route.sections, heir.route.sections))
      return [neutral(`\`${routeWords(heir.key)}\` takes these requests and does the same`)]
    return [
      lost.length > 0
        ? opens(`\`${routeWords(heir.key)}\` takes these requests, without ${lost}`)
        : breaking(`\`${routeWords(heir.key)}\` takes these requests`),
    ]
  }

  /** Other methods of the same path may be served. */
  #end({ path }: Route): string {
    const served = this.#methods().get(path) ?? []
    return served.length === 0
      ? "these requests are not answered any more"
      : `of this path only ${listWords(served.sort())} is served`
  }

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

  #addition(route: Route): Finding[] {
    const callers = this.#callers(route)
    const earlier = this.#coverBefore.of(route)
    if (earlier === undefined) return [opens(callers)]
    const [old, next] = [guardsOf(earlier.route, this.#old), guardsOf(route, this.#next)]
    const lost = lostGuards(old, next)
    const taken = `it takes these requests from \`${routeWords(earlier.key)}\``
    if (lost !== "") return [opens(`${taken}, without ${lost}; ${callers}`)]
    return [lostGuards(next, old) === "" ? neutral(taken) : closes(`${taken} and asks for more`)]
  }

  /** Who may call a new route. */
  #callers({ sections }: Route): string {
    const { steps } = this.#next.body
    const found = sections.inbound.flatMap((id) => steps[id] ?? [])
    const ways = found.flatMap((step) =>
      step.kind === "any-of" ? step.steps.flatMap((id) => steps[id] ?? []) : [step],
    )
    const names = ways.flatMap((step) => (isAuth(step) && step.kind !== "any-of" ? [nameOf(step)] : []))
    const asked = found.some(({ kind }) => kind === "require") ? ", as far as `require` lets them" : ""
    const who =
      names.length === 0
        ? "anybody may call"
        : `who has ${listWords(names).replace(" and ", " or ")} may call`
    return `${who}${asked}`
  }
}

interface Unit {
  readonly subject: Change["subject"]
  readonly words: string
}

/** What comes or goes as a whole: an API, a version of it, or single routes, which get their words when it is known how many they are. */
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

function draft(
  action: "added" | "removed",
  key: string,
  route: Route,
  { subject, words }: Unit,
  verdict: Verdict,
): RouteDraft {
  const sides = action === "added" ? { before: undefined, after: words } : { before: words, after: undefined }
  const change = { action, subject, path: `routes.${key}`, ...sides, ...verdict }
  return { route: key, api: route.api, version: route.version, change }
}

/** The guards of the first list that the second lacks, in words; empty when there are none. */
function lostGuards(before: readonly string[], after: readonly string[]): string {
  return listWords(before.filter((guard) => !after.includes(guard)).map((guard) => `\`${guard}\``))
}

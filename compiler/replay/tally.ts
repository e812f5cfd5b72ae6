import type { OpenRecord } from "../../runtime/record/read-record.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import type { RequestOutcome } from "../request-compare/outcome.ts"
import type { Counted, NotReplayed, Replay, ReplayExample, ReplayGroup, Treated } from "./replay.ts"

/** Counts requests and callers. */
class Counter {
  requests = 0
  readonly #callers = new Set<string>()

  add({ caller }: RecordedRequest): void {
    this.requests += 1
    this.#callers.add(caller)
  }

  get counted(): Counted {
    return { requests: this.requests, callers: this.#callers.size }
  }
}

interface Group {
  readonly first: Extract<Treated, { readonly is: "different" }>
  readonly counter: Counter
  readonly routes: Map<string, number>
  readonly example: ReplayExample
}

/** Collects what became of the requests. */
export class ReplayTally {
  readonly #recorded = new Counter()
  readonly #differing = new Counter()
  readonly #blast = new Counter()
  readonly #routes = new Map<string, Counter>()
  readonly #groups = new Map<string, Group>()
  readonly #left = new Map<string, number>()
  #unchanged = 0
  #sent = 0
  #ofOtherPlans = 0
  #fromMs = Number.POSITIVE_INFINITY
  #toMs = Number.NEGATIVE_INFINITY

  add(request: RecordedRequest, treated: Treated): void {
    this.#recorded.add(request)
    this.#fromMs = Math.min(this.#fromMs, request.atMs)
    this.#toMs = Math.max(this.#toMs, request.atMs)
    if (treated.isOfOtherPlan) this.#ofOtherPlans += 1
    if (treated.is === "unchanged") {
      this.#unchanged += 1
      return
    }
    this.#blast.add(request)
    counterOf(this.#routes, treated.route).add(request)
    if (treated.is === "left") {
      this.#left.set(treated.reason, (this.#left.get(treated.reason) ?? 0) + 1)
      return
    }
    this.#sent += 1
    if (treated.is === "different") this.#different(request, treated)
  }

  #different(request: RecordedRequest, treated: Group["first"]): void {
    this.#differing.add(request)
    const { effect, before, after, facts, route } = treated
    const names = before.words === after.words ? facts.map(({ name }) => name) : []
    const key = JSON.stringify([effect, shownOf(before), shownOf(after), names])
    let group = this.#groups.get(key)
    if (group === undefined) {
      const { method, host, target, atMs, caller } = request
      const example = { method, host, target, atMs, caller, facts }
      group = { first: treated, counter: new Counter(), routes: new Map(), example }
      this.#groups.set(key, group)
    }
    group.counter.add(request)
    group.routes.set(route, (group.routes.get(route) ?? 0) + 1)
  }

  result(segments: OpenRecord["endings"]): Replay {
    const routes = [...this.#routes].map(([route, { counted }]) => ({ route, ...counted }))
    return {
      recorded: this.#recorded.counted,
      period: this.#recorded.requests === 0 ? undefined : { fromMs: this.#fromMs, toMs: this.#toMs },
      ...{ unchanged: this.#unchanged, sent: this.#sent },
      blast: { ...this.#blast.counted, routes: routes.sort(byRequests) },
      differing: this.#differing.counted,
      groups: [...this.#groups.values()].map(groupOf).sort(byEffect),
      notReplayed: [...this.#left]
        .map(([reason, requests]): NotReplayed => ({ reason, requests }))
        .sort(byRequests),
      ofOtherPlans: this.#ofOtherPlans,
      segments: { ...segments },
    }
  }
}

function counterOf(counters: Map<string, Counter>, key: string): Counter {
  let counter = counters.get(key)
  if (counter === undefined) {
    counter = new Counter()
    counters.set(key, counter)
  }
  return counter
}

function shownOf({ kind, words, by }: RequestOutcome): Pick<RequestOutcome, "kind" | "words" | "by"> {
  return { kind, words, by }
}

function groupOf({ first, counter, routes, example }: Group): ReplayGroup {
  const { effect, before, after, facts } = first
  return {
    ...counter.counted,
    ...{ effect, before: shownOf(before), after: shownOf(after) },
    facts: before.words === after.words ? facts.map(({ name }) => name) : [],
    routes: new Map([...routes].sort(([, a], [, b]) => b - a)),
    example,
  }
}

/** The order of equal ones is that of their first requests. */
function byRequests(a: { readonly requests: number }, b: { readonly requests: number }): number {
  return b.requests - a.requests
}

const effects: readonly ReplayGroup["effect"][] = ["opens", "closes", "changes"]

function byEffect(a: ReplayGroup, b: ReplayGroup): number {
  return effects.indexOf(a.effect) - effects.indexOf(b.effect) || byRequests(a, b)
}

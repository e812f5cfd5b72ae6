import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { factsOf, isGuard, isRelation, kindFacts, type Step, type StepId } from "../../runtime/plan/steps.ts"
import { type StepPlace, usesOf } from "./step-uses.ts"

/** What coverage counts. */
export type CoverageKind = "routes" | "steps" | "conditions" | "relations"

/** In the order in which results show them. */
export const coverageKinds: readonly CoverageKind[] = ["routes", "steps", "conditions", "relations"]

/** Something that no test showed: at these routes. */
export interface CoverageGap {
  readonly kind: CoverageKind
  /** `no request passes`, `rate-limit never refuses`, `when is never true`. */
  readonly what: string
  readonly place: string
  readonly routes: readonly string[]
}

/** How much of a plan its tests show. */
export interface GatewayCoverage {
  /** Path of the gateway.conf. */
  readonly config: string
  readonly counts: Readonly<Record<CoverageKind, { readonly all: number; readonly shown: number }>>
  readonly gaps: readonly CoverageGap[]
}

/** Rounded down: 100 only when nothing is missing. */
export function gatewayPercent({ counts }: GatewayCoverage): number {
  const sum = (of: "all" | "shown") => coverageKinds.reduce((total, kind) => total + counts[kind][of], 0)
  const all = sum("all")
  return all === 0 ? 100 : Math.floor((sum("shown") / all) * 100)
}

/** One thing to show, at one route or for a line. */
interface Unit {
  readonly kind: CoverageKind
  readonly what: string
  readonly place: string
  readonly route: string
  /** Key of the step that it is about; undefined: of none. */
  readonly step: string | undefined
  isShown: boolean
}

/**
 * Collects what the requests of tests show of a plan: for each route a request that passes and a refusal by each of its guards; each step; both sides of
 * each condition; for each relation that is asked for, a yes and a no.
 */
export class CoverageCollector {
  readonly #plan: Plan
  /** Path of the gateway.conf. */
  readonly config: string
  readonly #units = new Map<string, Unit>()
  /** By route and step. */
  readonly #uses = new Map<string, StepPlace[]>()

  constructor(config: string, plan: Plan) {
    this.config = config
    this.#plan = plan
    for (const [route, { websocket }] of Object.entries(plan.plan.routes)) {
      const place = plan.origins[`routes.${route}`] ?? ""
      this.#unit(`${route} passes`, {
        kind: "routes",
        what: "no request passes",
        place,
        route,
        step: undefined,
      })
      if (websocket === undefined) continue
      const own = { place: plan.origins[`routes.${route}.websocket`] ?? place, route, step: undefined }
      const what = websocket === null ? "`websocket off` never refuses" : "no WebSocket opens"
      this.#unit(`${route} websocket`, { ...own, kind: "routes", what })
    }
    for (const use of usesOf(plan)) {
      const key = keyOf(use.route, use.id)
      const same = this.#uses.get(key)
      if (same === undefined) this.#uses.set(key, [use])
      else same.push(use)
      if (use.place !== "") this.#expect(use)
    }
  }

  /** Notes what a request shows. */
  add({ finished, steps, decisions, webSocket }: Passage): void {
    const { route, problem, answeredBy } = finished
    if (route === undefined) return
    if (problem === undefined) this.#show(`${route} passes`)
    if (webSocket !== undefined || problem === "not-implemented") this.#show(`${route} websocket`)
    if (answeredBy !== undefined)
      for (const place of answeredBy.place.split(" or ")) this.#show(`${route} ends ${place}`)
    const ran = new Set(steps.map(({ id }) => id))
    for (const { id, outcome } of steps)
      for (const use of this.#uses.get(keyOf(route, id)) ?? []) {
        this.#show(stepKey(use))
        if (isCondition(use.step) && outcome !== "failed") this.#show(conditionKey(use, isTrue(use, ran)))
        if (!isRelation(use.step)) continue
        const { relation } = use.step
        for (const decision of decisions)
          if (decision.relation === relation && decision.allowed !== undefined)
            this.#show(relationKey(use, decision.allowed))
      }
  }

  result(): GatewayCoverage {
    const counts = Object.fromEntries(
      coverageKinds.map((kind) => {
        const units = [...this.#units.values()].filter((unit) => unit.kind === kind)
        return [kind, { all: units.length, shown: units.filter(({ isShown }) => isShown).length }]
      }),
    ) as GatewayCoverage["counts"]
    return { config: this.config, counts, gaps: this.#gaps() }
  }

  /** Gaps of the same line are one. */
  #gaps(): CoverageGap[] {
    const gaps = new Map<string, CoverageGap & { readonly routes: string[] }>()
    for (const { kind, what, place, route, step, isShown } of this.#units.values()) {
      // That a step never refuses follows from its never running.
      const isIdle = kind !== "steps" && step !== undefined && this.#units.get(step)?.isShown === false
      if (isShown || isIdle) continue
      const key = `${kind} ${what} ${place}`
      const gap = gaps.get(key)
      if (gap === undefined) gaps.set(key, { kind, what, place, routes: [route] })
      else gap.routes.push(route)
    }
    const order = (gap: CoverageGap) => coverageKinds.indexOf(gap.kind)
    return [...gaps.values()].sort((a, b) => order(a) - order(b) || byPlace(a.place, b.place))
  }

  #expect(use: StepPlace): void {
    const { step, place, route, isPart } = use
    const { kind } = step
    const of = { place, route, step: stepKey(use) }
    this.#unit(of.step, { ...of, kind: "steps", what: `${kind} never runs` })
    const ends = factsOf(step).ends ?? []
    const isAnswer = kindFacts(kind).role === "answer"
    if (!isPart && (isAnswer || (isGuard(step) && ends.length > 0))) {
      const what = `${kind} never ${isAnswer ? "responds" : "refuses"}`
      this.#unit(`${route} ends ${place}`, { ...of, kind: "routes", what })
    }
    if (isCondition(step))
      for (const side of [true, false])
        this.#unit(conditionKey(use, side), { ...of, kind: "conditions", what: `\`when\` is never ${side}` })
    if (!isRelation(step) || kind === "grant" || step.store === undefined) return
    for (const allowed of [true, false]) {
      const what = `\`${step.relation}\` is never ${allowed ? "allowed" : "denied"}`
      this.#unit(relationKey(use, allowed), { ...of, kind: "relations", what })
    }
  }

  #unit(key: string, unit: Omit<Unit, "isShown">): void {
    if (!this.#units.has(key)) this.#units.set(key, { ...unit, isShown: false })
  }

  #show(key: string): void {
    const unit = this.#units.get(key)
    if (unit !== undefined) unit.isShown = true
  }
}

function keyOf(route: string, id: StepId): string {
  return `${route} ${id}`
}

function stepKey({ step, place }: StepPlace): string {
  return `step ${step.kind} ${place}`
}

function conditionKey({ place }: StepPlace, side: boolean): string {
  return `condition ${place} ${side}`
}

function relationKey({ step, place }: StepPlace, allowed: boolean): string {
  return `relation ${"relation" in step ? step.relation : ""} ${place} ${allowed}`
}

/** A step that runs one of two lists, by a test. */
function isCondition(
  step: Step,
): step is Step & { readonly matched: readonly StepId[]; readonly otherwise: readonly StepId[] } {
  return "matched" in step && "otherwise" in step
}

/** Whether a condition held: then the first of its steps ran. An empty list of steps leaves only the other list to tell. */
function isTrue({ step }: StepPlace, ran: ReadonlySet<StepId>): boolean {
  if (!isCondition(step)) return false
  const [first] = step.matched
  if (first !== undefined) return ran.has(first)
  const [other] = step.otherwise
  return other === undefined || !ran.has(other)
}

/** By file, then by line as a number. */
function byPlace(a: string, b: string): number {
  const [fileA = "", lineA = "0"] = a.split(":")
  const [fileB = "", lineB = "0"] = b.split(":")
  return fileA === fileB ? Number(lineA) - Number(lineB) : fileA < fileB ? -1 : 1
}

import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import {
  asksPermission,
  type BlockStep,
  factsOf,
  holdsBlocks,
  isAuth,
  isLimit,
  isSharing,
  type NestedSteps,
  nestedSteps,
  type Step,
  type StepId,
} from "../../runtime/plan/steps.ts"
import { type Finding, joined, neutral, type RiskAssessment } from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { SchemaComparison } from "../analysis/schema-comparison.ts"
import { listWords } from "../analysis/words.ts"
import { blockTextOf } from "../gateway/step-texts.ts"
import { align } from "./align.ts"
import { type Difference, withBesides } from "./beside-rules.ts"
import type { SubjectKind } from "./change.ts"
import { matchSteps, type StepPair } from "./match-steps.ts"
import { compareSteps, effectsOfAdding, effectsOfRemoving } from "./step-effects.ts"
import { answersBefore, type OrderContext, orderChange, seenAfterEnd } from "./step-order.ts"
import type { StepWords } from "./step-words.ts"

export const sections = ["inbound", "backend", "outbound", "onError"] as const
/** The keywords of the sections. */
export const sectionWords = {
  inbound: "inbound",
  backend: "backend",
  outbound: "outbound",
  onError: "on-error",
}

/** A difference between two lists of steps, independent of the route. */
export interface StepDraft {
  readonly action: "added" | "removed" | "changed"
  readonly kind: SubjectKind
  readonly before: string | undefined
  readonly after: string | undefined
  readonly verdict: RiskAssessment
  /** `inbound`, `outbound, when (response.status == 404)`. */
  readonly within: string
  /** `inbound.3.matched.0`: the path in the new list, or in the old list for a removed step. */
  readonly path: string
}

interface Place {
  readonly within: string
  readonly path: string
  readonly renamed: ReadonlyMap<string, string>
  readonly around: OrderContext
}

/** The route whose lists are compared. `renamed` maps old names of path parameters to new ones. */
interface RouteOfLists {
  readonly renamed?: ReadonlyMap<string, string>
  readonly routes?: { readonly before: Route; readonly after: Route }
}

/** Compares lists of steps of two plans. Lists that many routes share are compared once. */
export class ListComparison {
  readonly #old: StepWords
  readonly #next: StepWords
  readonly #schemas: SchemaComparison
  readonly #known = new Map<string, readonly StepDraft[]>()

  /** `origins`: where the parts of the second plan are written, as far as known. */
  constructor(old: StepWords, next: StepWords, origins: Readonly<Record<string, string>> = {}) {
    this.#old = old
    this.#next = next
    this.#schemas = new SchemaComparison(old.body, next.body, origins)
  }

  /**
   * The differences in a section of a route. Without the route, assume that its other sections read everything that a section leaves when
   * it ends early.
   */
  compare(
    section: string,
    before: readonly StepId[],
    after: readonly StepId[],
    { renamed, routes }: RouteOfLists = {},
  ): readonly StepDraft[] {
    // Ids are digests of contents: equal ids are equal steps with everything inside them. Most routes end here.
    if (before.join() === after.join()) return []
    const seen: OrderContext["seenAfter"] =
      routes === undefined
        ? "everything"
        : seenAfterEnd([
            [routes.before, this.#old.body.steps],
            [routes.after, this.#next.body.steps],
          ])
    const names = renamed ?? new Map<string, string>()
    // A preflight is an OPTIONS request, so removing `cors` also changes who answers those.
    const takesOptions = routes === undefined || ["OPTIONS", "*"].includes(routes.after.method)
    const key = `${takesOptions}|${section}|${before.join()}|${after.join()}|${[...names].join()}|${JSON.stringify(seen)}`
    let drafts = this.#known.get(key)
    if (drafts === undefined) {
      const around = { section, seenAfter: seen, beside: false, takesOptions }
      drafts = this.#compare({ within: section, path: section, renamed: names, around }, before, after)
      this.#known.set(key, drafts)
    }
    return drafts
  }

  /** The differences in all sections for requests that were served by one route and are now served by another. */
  compareRoutes(before: Route, after: Route): Finding[] {
    return sections.flatMap((section) =>
      this.compare(sectionWords[section], before.sections[section], after.sections[section], {
        routes: { before, after },
      })
        // The outbound half of `cors` has no risk of its own; `inbound` reports the statement.
        .filter((draft) => section === "inbound" || !this.isSharing(draft, before, after))
        .flatMap(({ verdict }) => verdict.reasons),
    )
  }

  /**
   * Whether a difference is in the `cors` step before outbound statements. It belongs to the same statement as the inbound step and is
   * reported with that.
   */
  isSharing({ action, path }: StepDraft, before: Route, after: Route): boolean {
    const at = /^outbound\.(\d+)$/.exec(path)?.[1]
    if (at === undefined) return false
    const [words, route] = action === "removed" ? [this.#old, before] : [this.#next, after]
    return isSharing(words.body.steps[route.sections.outbound[Number(at)] ?? ""])
  }

  /** Compares two lists of steps: paired steps that changed, then removed and added ones. Equal lists end at once, which most are. */
  #compare(place: Place, before: readonly StepId[], after: readonly StepId[]): StepDraft[] {
    if (before.join() === after.join()) return []
    const match = matchSteps(before, after, this.#old.body.steps, this.#next.body.steps)
    const oldAt = (at: number) => this.#old.body.steps[before[at] ?? ""]
    const nextAt = (at: number) => this.#next.body.steps[after[at] ?? ""]
    const drafts: StepDraft[] = []
    for (const pair of match.pairs) {
      const [old, next] = [oldAt(pair.before), nextAt(pair.after)]
      // A pair that stays has equal ids, so it has no difference.
      if (!pair.stays && old !== undefined && next !== undefined)
        drafts.push(...this.#pair(place, before, after, match.pairs, pair))
    }
    for (const at of match.removed) {
      const step = oldAt(at)
      if (step !== undefined)
        drafts.push(this.#removed(place, step, at, stayed(match.unwrapped, "before", at, after)))
    }
    for (const at of match.added) {
      const step = nextAt(at)
      if (step !== undefined)
        drafts.push(this.#added(place, step, at, after, stayed(match.wrapped, "after", at, before)))
    }
    for (const each of match.wrapped) {
      const [old, next] = [oldAt(each.before), nextAt(each.after)]
      if (old !== undefined && holdsBlocks(next)) drafts.push(this.#wrapped(place, old, next, each.after))
    }
    for (const each of match.unwrapped) {
      const [old, next] = [oldAt(each.before), nextAt(each.after)]
      if (holdsBlocks(old) && next !== undefined) drafts.push(this.#unwrapped(place, old, next, each.after))
    }
    return drafts
  }

  /** `stay`: steps inside it that are kept. */
  #removed({ within, path, around }: Place, step: Step, at: number, stay: readonly StepId[]): StepDraft {
    // What stays inside a removed block is not gone: only the condition around it is.
    const left = without(this.#old.body.steps, stay)
    const was = { step, steps: left }
    return {
      action: "removed",
      kind: kindOf(step),
      before: this.#old.ofStep(step),
      after: undefined,
      verdict: this.#joined(effectsOfRemoving(step, left, around.takesOptions), {
        gone: [was],
        come: [],
        changed: [was],
      }),
      within,
      path: `${path}.${at}`,
    }
  }

  /** `stay`: steps inside it that existed before. */
  #added(
    { within, path }: Place,
    step: Step,
    at: number,
    after: readonly StepId[],
    stay: readonly StepId[],
  ): StepDraft {
    const { steps } = this.#next.body
    const got = without(steps, stay)
    // A step that always answers hides the steps behind it, which is a finding of the new step.
    const behind = after.slice(at + 1).flatMap((id) => steps[id] ?? [])
    const early = answersBefore(step, behind, (each) => this.#next.ofStep(each), steps)
    return {
      action: "added",
      kind: kindOf(step),
      before: undefined,
      after: this.#next.ofStep(step),
      verdict: this.#joined([...effectsOfAdding(step, got), ...early], {
        gone: [],
        come: [{ step, steps: got }],
        changed: [{ step, steps: got }],
      }),
      within,
      path: `${path}.${at}`,
    }
  }

  /** A step that is now inside of a block: as before, but under a condition. */
  #wrapped(place: Place, old: Step, next: BlockStep, at: number): StepDraft {
    const was = { step: old, steps: this.#old.body.steps }
    // The old step as removed: the block states under which condition that is now the case.
    const removed = effectsOfRemoving(old, was.steps)
    const verdict = this.#joined(blockTextOf(next).wrapping(next, removed), {
      gone: [was],
      come: [{ step: next, steps: this.#next.body.steps, alone: true }],
      changed: [was],
    })
    return this.#changed(place, old, next, at, verdict)
  }

  /** A step that is no longer inside of a block. */
  #unwrapped(place: Place, old: BlockStep, next: Step, at: number): StepDraft {
    const is = { step: next, steps: this.#next.body.steps }
    const added = effectsOfAdding(next, is.steps)
    const verdict = this.#joined(blockTextOf(old).unwrapping(old, added), {
      gone: [{ step: old, steps: this.#old.body.steps, alone: true }],
      come: [is],
      changed: [is],
    })
    return this.#changed(place, old, next, at, verdict)
  }

  /** The change of a step with the texts of both plans. */
  #changed({ within, path }: Place, old: Step, next: Step, at: number, verdict: RiskAssessment): StepDraft {
    return {
      action: "changed",
      kind: kindOf(next),
      before: this.#old.ofStep(old),
      after: this.#next.ofStep(next),
      verdict,
      within,
      path: `${path}.${at}`,
    }
  }

  /** A step that changed, or has another position among the others. */
  #pair(
    place: Place,
    before: readonly StepId[],
    after: readonly StepId[],
    pairs: readonly StepPair[],
    pair: StepPair,
  ): StepDraft[] {
    const old = this.#old.body.steps[before[pair.before] ?? ""] as Step
    const next = this.#next.body.steps[after[pair.after] ?? ""] as Step
    const passed = this.#passed(place, after, pairs, pair)
    const passing = passed.flatMap(({ findings }) => findings)
    // The same step in another position: only the order can have an effect.
    if (before[pair.before] === after[pair.after]) {
      const words = this.#next.ofStep(next)
      const others = listWords(passed.map(({ id }) => `\`${this.#next.of(id)}\``)) || "others"
      const wasFirst = passed[0]?.wasBehind !== true
      const findings =
        passing.length > 0 ? passing : [neutral("it has another position among identical steps")]
      // Not joined with findings of the steps: they are unchanged, and their order alone is judged.
      const draft = this.#changed(place, old, next, pair.after, joined(findings))
      return [
        {
          ...draft,
          before: `${words} ${wasFirst ? "before" : "after"} ${others}`,
          after: `${words} ${wasFirst ? "after" : "before"} ${others}`,
        },
      ]
    }
    // A neutral order need not be said where the step itself changed; a risky one must.
    const worse = passing.filter(({ risk }) => risk !== "neutral")
    const holds = holdsBlocks(old) && holdsBlocks(next) && old.kind === next.kind
    const was = withParameters(old, place.renamed)
    // A block whose condition did not change has no finding of its own: the differences inside are reported there.
    const own = holdsBlocks(was) && holds && sameButInside(was, next) ? [] : this.#own(was, next)
    const found = [...own, ...worse]
    return [
      ...(holds ? this.#inside(place, pair.after, old, next) : []),
      ...(found.length === 0 ? [] : [this.#changed(place, old, next, pair.after, joined(found))]),
    ]
  }

  #own(was: Step, next: Step): Finding[] {
    if (same(was, next)) return [neutral("it means the same with the new names of the parameters")]
    const found = compareSteps(was, next, this.#old.body, this.#next.body, this.#schemas)
    const old = { step: was, steps: this.#old.body.steps, alone: true }
    const is = { step: next, steps: this.#next.body.steps, alone: true }
    return withBesides(found, { gone: [old], come: [is], changed: [old, is] }, is.steps)
  }

  #joined(findings: readonly Finding[], difference: Difference): RiskAssessment {
    return joined(withBesides(findings, difference, this.#next.body.steps))
  }

  /** The lists inside of a block. Steps that are repeated or run concurrently are observed differently, so their order matters more. */
  #inside(
    { within, path, renamed, around }: Place,
    at: number,
    old: BlockStep,
    next: BlockStep,
  ): StepDraft[] {
    const { repeats } = factsOf(next)
    const own: OrderContext =
      repeats === undefined
        ? around
        : // Within `retry` a later iteration sees what an earlier one left, so every place counts as read.
          { ...around, seenAfter: "everything", beside: around.beside || repeats === "beside" }
    return insidePairs(old, next).flatMap(({ place, words, before, after }) =>
      this.#compare(
        { within: `${within}, ${words}`, path: `${path}.${at}.${place}`, renamed, around: own },
        before,
        after,
      ),
    )
  }

  /** The steps that a pair changed order with, and what that means. */
  #passed(
    { around }: Place,
    after: readonly StepId[],
    pairs: readonly StepPair[],
    pair: StepPair,
  ): { readonly id: StepId; readonly wasBehind: boolean; readonly findings: readonly Finding[] }[] {
    const { steps } = this.#next.body
    const own = after[pair.after] ?? ""
    return (
      pairs
        // Pairs that changed sides: before each other in one list and after in the other.
        .filter((other) => other.before < pair.before !== other.after < pair.after && other !== pair)
        .sort((a, b) => a.after - b.after)
        .flatMap((other) => {
          const id = after[other.after] ?? ""
          const wasBehind = other.before < pair.before
          const [first, second] = wasBehind ? [id, own] : [own, id]
          const words = { first: this.#next.of(first), second: this.#next.of(second) }
          const [a, b] = [steps[first], steps[second]]
          if (a === undefined || b === undefined) return []
          return [{ id, wasBehind, findings: orderChange(a, b, words, steps, around) }]
        })
    )
  }
}

function kindOf(step: Step): SubjectKind {
  if (isAuth(step)) return "auth"
  // A limit that contains blocks is compared like other steps with blocks.
  if (isLimit(step) && !holdsBlocks(step)) return "limit"
  return asksPermission(step) ? "require" : "step"
}

/** Steps that moved into or out of the step at a position. */
function stayed(
  pairs: readonly StepPair[],
  side: "before" | "after",
  at: number,
  ids: readonly StepId[],
): StepId[] {
  const other = side === "before" ? "after" : "before"
  return pairs.flatMap((pair) => (pair[side] === at ? (ids[pair[other]] ?? []) : []))
}

/** A step with renamed path parameters. C# code finds parameters by text, so it is not changed. */
function withParameters(step: Step, renamed: ReadonlyMap<string, string>): Step {
  if (renamed.size === 0) return step
  const names = [...renamed.keys()].join("|")
  const use = new RegExp(`(?<![\\w.])path\\.(${names})(?!\\w)`, "g")
  // Through JSON, because the names occur in texts and expressions of any depth. Claims and variables have another prefix.
  return JSON.parse(JSON.stringify(step).replace(use, (_, name: string) => `path.${renamed.get(name)}`))
}

function without(steps: PlanBody["steps"], ids: readonly StepId[]): PlanBody["steps"] {
  if (ids.length === 0) return steps
  return Object.fromEntries(Object.entries(steps).filter(([id]) => !ids.includes(id)))
}

/** A list inside of a step, before and after. `place` is the field that contains it: `matched`, `branches.1`. */
interface InsidePair {
  readonly place: string
  /** Its position in words: `else of when (…)`. */
  readonly words: string
  readonly before: readonly StepId[]
  readonly after: readonly StepId[]
}

/** The lists of two steps of one kind. Branches of `parallel` have no names: equal branches are paired first, then the others in order. */
function insidePairs(old: BlockStep, next: BlockStep): InsidePair[] {
  const [before, after] = [nestedSteps(old), nestedSteps(next)]
  // Blocks of other kinds have named lists, which correspond by their position.
  if (next.kind !== "parallel")
    return after.map(({ place, steps }, at) => ({
      place,
      words: blockTextOf(next).place(next, place),
      before: before[at]?.steps ?? [],
      after: steps,
    }))
  const keys = (lists: readonly NestedSteps[]) => lists.map(({ steps }) => steps.join())
  const equal = align(keys(before), keys(after))
  const rest = (lists: readonly NestedSteps[], side: 0 | 1) =>
    lists.filter((_, at) => !equal.some((pair) => pair[side] === at))
  const [gone, come] = [rest(before, 0), rest(after, 1)]
  return Array.from({ length: Math.max(gone.length, come.length) }, (_, at) => {
    const place = (come[at] ?? gone[at])?.place ?? ""
    return {
      place,
      words: blockTextOf(next).place(next, place),
      before: gone[at]?.steps ?? [],
      after: come[at]?.steps ?? [],
    }
  })
}

/** Whether two steps are equal except for the steps inside them. */
function sameButInside(old: BlockStep, next: BlockStep): boolean {
  return same(withoutLists(old), withoutLists(next))
}

function withoutLists(step: BlockStep): object {
  const lists = new Set(nestedSteps(step).map(({ place }) => place.split(".")[0]))
  return Object.fromEntries(Object.entries(step).filter(([name]) => !lists.has(name)))
}

import { factsOf, isAnswer, isCredential, isSend, type Step } from "../../runtime/plan/steps.ts"
import type { Own } from "./callers-value.ts"
import { ownBehind, ownCredential } from "./own-values.ts"
import type { Used } from "./site.ts"

/** A path through the steps without a guard, and its turns, e.g. the `when` at a place whose condition does not hold. */
export interface WayAround {
  readonly turns: readonly string[]
  /** The end of the path: the step that sends the request, or answers it from the cache or with the response of a request that the document sent. */
  readonly end: Used
}

/** A request that no step has changed. */
export const untouched: Own = new Map()

/** A request that `origin` may have changed completely. */
export function touched(origin: string): Own {
  return new Map(["header *", "query *", "variable *", "body", "path"].map((place) => [place, origin]))
}

/**
 * Searches for a path through the steps to the backend without a guard. Conditions are not evaluated: each branch is a path. Steps that may be
 * skipped (inside `cache-value`) are not guards. Of parallel branches, one guard is enough when all branches must succeed; otherwise each
 * branch needs one. A guard counts only when it judges input of the caller, because a credential of the document itself is the same for all
 * callers.
 *
 * @param stepOf returns the step with an id.
 * @param own the parts of the request that are not the caller's before the first step.
 */
export function wayAround(
  steps: readonly Used[],
  stepOf: (id: string) => Step | undefined,
  own: Own = untouched,
): WayAround | undefined {
  return new Search(stepOf).find(steps, own)
}

/** A path without a guard so far, and the parts that are the document's own there. */
interface Way {
  readonly turns: readonly string[]
  readonly own: Own
}

/** Above this number, the paths are merged into one: a part that is the document's own on any of them is its own on the merged path. */
const waysMax = 32

/** Searches for a path without a guard; the first one that is found is enough. */
class Search {
  readonly #stepOf: (id: string) => Step | undefined
  #found: WayAround | undefined

  constructor(stepOf: (id: string) => Step | undefined) {
    this.#stepOf = stepOf
  }

  find(steps: readonly Used[], own: Own): WayAround | undefined {
    this.#walk(steps, [{ turns: [], own }])
    return this.#found
  }

  /** The paths that leave the list without a guard. */
  #walk(steps: readonly Used[], ways: readonly Way[]): readonly Way[] {
    let left = ways
    for (const step of steps) {
      if (left.length === 0 || this.#found !== undefined) return []
      left = distinct(left.flatMap((way) => this.#step(step, way)))
    }
    return left
  }

  /** One step on one path: it ends the path, guards it, or changes what is known. */
  #step(used: Used, way: Way): readonly Way[] {
    const step = this.#stepOf(used.id)
    if (step === undefined) return [way]
    if (isAnswer(step)) {
      // A text of the document is public anyway; the response of another service is not.
      if (step.from !== undefined) this.#found ??= { turns: way.turns, end: used }
      return []
    }
    if (isSend(step) || factsOf(step).ends?.includes("found") === true) {
      this.#found ??= { turns: way.turns, end: used }
      return isSend(step) ? [] : [way]
    }
    if (!isCredential(step) && !isSecretCheck(step)) return this.#inside(used, step, way)
    const owner = ownCredential(step, way.own, used.origin)
    if (owner === undefined) return []
    const turn = `the \`${step.kind}\` of ${used.origin} checks a value that ${owner === used.origin ? "the document itself contains" : `${owner} has set`}`
    return [{ turns: [...way.turns, turn], own: ownBehind(step, way.own, used.origin) }]
  }

  /** Steps inside of another one. Conditions are not evaluated, so both branches are followed. */
  #inside(used: Used, step: Step, way: Way): readonly Way[] {
    const inside = (name: string): readonly Used[] => used.inside[name] ?? []
    const own = ownBehind(step, way.own, used.origin)
    const behind = { turns: way.turns, own }
    switch (step.kind) {
      case "when": {
        const turn = (word: string): Way => ({
          turns: [...way.turns, `the \`when\` of ${used.origin} ${word}`],
          own,
        })
        return [
          ...this.#walk(inside("matched"), [turn("holds")]),
          ...this.#walk(inside("otherwise"), [turn("is false")]),
        ]
      }
      case "any-of":
        return inside("steps").flatMap((each) => this.#walk([each], [way]))
      case "parallel":
        return this.#parallel(used, step.until === "all", way)
      case "cache-value": {
        const made = this.#walk(inside("steps"), [behind])
        return [{ turns: way.turns, own: union([behind, ...made]) }]
      }
      case "retry": {
        // Changes of one iteration are visible in the next.
        const once = this.#walk(inside("steps"), [behind])
        return [...once, ...this.#walk(inside("steps"), once)]
      }
      default:
        return this.#walk(inside("steps"), [behind])
    }
  }

  /** In `wait`, `all` needs one guarded branch, `any` needs all of them guarded. */
  #parallel({ inside }: Used, all: boolean, way: Way): readonly Way[] {
    const branches = Object.values(inside)
    // Branches run concurrently: each may see the changes of the others.
    const own = branches.reduce((before, branch) => this.#spoiled(branch, before), way.own)
    const ways = branches.map((branch) => this.#walk(branch, [{ turns: way.turns, own }]))
    if (!all) return ways.flat()
    const open = ways.flat()
    const turns = open.find((each) => each.turns.length > way.turns.length)?.turns ?? way.turns
    return ways.some((left) => left.length === 0) ? [] : [{ turns, own: union(open) }]
  }

  /** The parts that are the document's own when any of the steps, or of the steps inside them, may have run. */
  #spoiled(steps: readonly Used[], before: Own): Own {
    return steps.reduce((own, used) => {
      const step = this.#stepOf(used.id)
      const behind = step === undefined ? own : ownBehind(step, own, used.origin)
      const nested = Object.values(used.inside).reduce((at, list) => this.#spoiled(list, at), behind)
      return union([{ own }, { own: nested }])
    }, before)
  }
}

function union(ways: readonly { readonly own: Own }[]): Own {
  return new Map(ways.flatMap(({ own }) => [...own]))
}

/** Keeps one path for each state. */
function distinct(ways: readonly Way[]): readonly Way[] {
  if (ways.length < 2) return ways
  const found = new Map<string, Way>()
  for (const way of ways) {
    const state = [...way.own.keys()].sort().join("\n")
    if (!found.has(state)) found.set(state, way)
  }
  const left = [...found.values()]
  return left.length <= waysMax ? left : [{ turns: left[0]?.turns ?? [], own: union(left) }]
}

/** Whether the step compares a header with secrets of gateway.conf only. */
function isSecretCheck(step: Step): boolean {
  if (step.kind !== "check-header") return false
  return step.values.length > 0 && step.values.every((value) => JSON.stringify(value).includes('{"secret":'))
}

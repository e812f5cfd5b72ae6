import type { Used } from "./site.ts"

/** A step as far as the proof looks at it. */
interface SeenStep {
  readonly kind: string
}

/** Proofs of who calls: a request that passes one is nobody's guess. */
const guards: ReadonlySet<string> = new Set(["validate-jwt", "validate-key", "introspect", "basic-auth"])

/** A way through steps that no guard stands in: its turns, e.g. `when` at a place, whose condition does not hold. */
export interface WayAround {
  readonly turns: readonly string[]
  /** What it leads to: the step that sends the request, or answers it from the cache or with what a request of the document's own brought. */
  readonly end: Used
}

/**
 * Looks for a way through the steps to the backend that passes no guard. Conditions are not looked into: each branch is a way. Steps that may not
 * run at all (those of `cache-value`) guard nothing; of branches that run side by side one guard is enough where all must end well, else each must
 * have one.
 *
 * @param stepOf the step of an id.
 */
export function wayAround(
  steps: readonly Used[],
  stepOf: (id: string) => SeenStep | undefined,
): WayAround | undefined {
  return new Search(stepOf).find(steps)
}

type Turns = readonly string[]

class Search {
  readonly #stepOf: (id: string) => SeenStep | undefined
  #found: WayAround | undefined

  constructor(stepOf: (id: string) => SeenStep | undefined) {
    this.#stepOf = stepOf
  }

  find(steps: readonly Used[]): WayAround | undefined {
    this.#walk(steps, [])
    return this.#found
  }

  /** The turns of a way that leaves the list without a guard; undefined when there is none. */
  #walk(steps: readonly Used[], turns: Turns | undefined): Turns | undefined {
    let way = turns
    for (const step of steps) {
      if (way === undefined || this.#found !== undefined) return undefined
      way = this.#step(step, way)
    }
    return way
  }

  #step(used: Used, way: Turns): Turns | undefined {
    const step = this.#stepOf(used.id)
    const inside = (name: string): readonly Used[] => used.inside[name] ?? []
    const kind = step?.kind ?? ""
    if (kind === "respond") {
      // The document's own words are for everybody; another's response is not.
      if (step !== undefined && "from" in step && step.from !== undefined)
        this.#found ??= { turns: way, end: used }
      return undefined
    }
    if ((guards.has(kind) && !readsOwnToken(step)) || isSecretCheck(step)) return undefined
    if (kind === "any-of") {
      const open = inside("steps").find((each) => this.#walk([each], way) !== undefined)
      return open === undefined ? undefined : way
    }
    if (kind === "forward" || kind === "cache-lookup") {
      this.#found ??= { turns: way, end: used }
      return kind === "forward" ? undefined : way
    }
    if (kind === "when") {
      const matched = this.#walk(inside("matched"), [...way, `the \`when\` of ${used.origin} holds`])
      const otherwise = this.#walk(inside("otherwise"), [
        ...way,
        `the \`when\` of ${used.origin} does not hold`,
      ])
      return matched ?? otherwise
    }
    if (kind === "parallel") return this.#parallel(used, step, way)
    if (kind === "cache-value") this.#walk(inside("steps"), way)
    else if (inside("steps").length > 0) return this.#walk(inside("steps"), way)
    return way
  }

  #parallel({ inside }: Used, step: SeenStep | undefined, way: Turns): Turns | undefined {
    const ways = Object.values(inside).map((branch) => this.#walk(branch, way))
    const all = step !== undefined && "until" in step && step.until === "all"
    if (all) return ways.includes(undefined) ? undefined : way
    return ways.find((each) => each !== undefined)
  }
}

/** A token that is the same for every caller says nothing about any. */
function readsOwnToken(step: SeenStep | undefined): boolean {
  if (step === undefined || !("from" in step)) return false
  const { from } = step
  if (typeof from !== "object" || from === null || !("text" in from)) return false
  return !JSON.stringify(from.text).includes('"expression":')
}

/** A header that must be a secret of gateway.conf. */
function isSecretCheck(step: SeenStep | undefined): boolean {
  if (step?.kind !== "check-header" || !("values" in step) || !Array.isArray(step.values)) return false
  const values: readonly unknown[] = step.values
  return values.length > 0 && values.every((value) => JSON.stringify(value).includes('{"secret":'))
}

/** The most tuples of one repair. */
export const editsMax = 3

/** Best ones kept per node. */
const keptMax = 8
/** Of those that are one tuple only so many more are told at the end. */
const aloneMax = 64

/** One more tuple counts more than any distance; a tuple of the user itself is preferred to another for its group, that to a new place of the object. */
export const costs = {
  edit: 10_000,
  hop: 10,
  conditioned: 40,
  wildcard: 120,
  userset: 60,
  from: 90,
  remove: 20,
}

/** One tuple written or deleted. `slot` is of the plan. */
export interface Edit {
  readonly id: number
  readonly adds: boolean
  readonly object: number
  readonly slot: number
  readonly other: number
  /** The same for all edits of one tuple's key. */
  readonly key: string
}

/** A set of edits that may turn a deny into an allow, in order of their ids. The smaller the cost, the more likely it is what somebody meant. */
export interface Repair {
  readonly edits: readonly Edit[]
  readonly cost: number
}

/**
 * How something may come about: the best repairs, and every edit that is enough alone, as a set of bits by id. Where two things have to come about, the tuple that gives both may be far for either: among a few of
 * each it would be missed.
 */
export interface Ways {
  readonly best: readonly Repair[]
  readonly alone: bigint
}

/** What has come about needs nothing: any edit will do. */
export const already: Ways = { best: [{ edits: [], cost: 0 }], alone: -1n }
export const impossible: Ways = { best: [], alone: 0n }

/** Puts ways together. */
export class WaySets {
  /** Something was left out because there was too much. */
  cut = false
  /** By edit: as a repair of its own, where it costs least. */
  readonly #single: Repair[] = []

  /** A repair of one edit; `cost` beside that of any edit. */
  one(edit: Edit, cost: number): Ways {
    const known = this.#single[edit.id]
    const made: Repair = { edits: [edit], cost: costs.edit + cost }
    if (known === undefined || known.cost > made.cost) this.#single[edit.id] = made
    return { best: [made], alone: 1n << BigInt(edit.id) }
  }

  either(ways: readonly Ways[]): Ways {
    if (ways.length === 1) return ways[0] as Ways
    let alone = 0n
    const found: Repair[] = []
    for (const way of ways) {
      alone |= way.alone
      found.push(...way.best)
    }
    return { best: this.#best(found), alone }
  }

  both(one: Ways, two: Ways): Ways {
    if (one === already) return two
    if (two === already) return one
    const alone = one.alone & two.alone
    const found = this.#singles(alone, keptMax)
    for (const first of one.best)
      for (const second of two.best) {
        const joined = join(first, second)
        if (joined !== undefined) found.push(joined)
        else this.cut = true
      }
    return { best: this.#best(found), alone }
  }

  /** The best, and what is enough alone but was not among them; the best first. */
  told({ best, alone }: Ways): readonly Repair[] {
    const known = new Set(best.map(({ edits }) => keyOf(edits)))
    const others = this.#singles(alone, aloneMax + keptMax).filter(({ edits }) => !known.has(keyOf(edits)))
    return [...best, ...others].sort((a, b) => a.cost - b.cost)
  }

  #singles(alone: bigint, max: number): Repair[] {
    if (alone <= 0n) return []
    const digits = alone.toString(2)
    const found: Repair[] = []
    for (let at = digits.indexOf("1"); at >= 0; at = digits.indexOf("1", at + 1)) {
      const single = this.#single[digits.length - 1 - at]
      if (single !== undefined) found.push(single)
    }
    if (found.length <= max) return found
    this.cut = true
    return found.sort((a, b) => a.cost - b.cost).slice(0, max)
  }

  #best(found: readonly Repair[]): readonly Repair[] {
    const byKey = new Map<string, Repair>()
    for (const repair of found) {
      const key = keyOf(repair.edits)
      const known = byKey.get(key)
      if (known === undefined || known.cost > repair.cost) byKey.set(key, repair)
    }
    const sorted = [...byKey.values()].sort((a, b) => a.cost - b.cost)
    if (sorted.length <= keptMax) return sorted
    this.cut = true
    return sorted.slice(0, keptMax)
  }
}

/** The same edits have the same key. */
export function keyOf(edits: readonly Edit[]): string {
  return edits.map(({ id }) => id).join()
}

/** Undefined when it would be too many, or two of one key. */
export function join(one: Repair, two: Repair): Repair | undefined {
  const edits = [...new Set([...one.edits, ...two.edits])].sort((a, b) => a.id - b.id)
  if (edits.length > editsMax || new Set(edits.map(({ key }) => key)).size < edits.length) return undefined
  // Common edits are paid for once.
  const twice = one.edits.length + two.edits.length - edits.length
  return { edits, cost: one.cost + two.cost - twice * costs.edit }
}

export function sameWays(one: Ways, two: Ways): boolean {
  return (
    one.alone === two.alone &&
    one.best.length === two.best.length &&
    one.best.every(
      (repair, at) =>
        repair.cost === two.best[at]?.cost && keyOf(repair.edits) === keyOf(two.best[at]?.edits ?? []),
    )
  )
}

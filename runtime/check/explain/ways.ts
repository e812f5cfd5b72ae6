/** Maximum tuples of one repair. */
export const editsMax = 3

/** Best repairs kept per node. */
const keptMax = 8

/**
 * One more tuple costs more than any distance. A tuple of the user itself is preferred to one of its group, and that to a new place of the
 * object.
 */
export const costs = {
  edit: 10_000,
  hop: 10,
  conditioned: 40,
  wildcard: 120,
  userset: 60,
  from: 90,
  remove: 20,
}

/** One tuple to write or delete. `slot` is a slot of the plan. */
export interface Edit {
  readonly id: number
  readonly adds: boolean
  readonly object: number
  readonly slot: number
  readonly other: number
  /** Equal for all edits of one tuple's key. */
  readonly key: string
}

/** A set of edits that may turn a deny into an allow, in order of their ids. A lower cost means that it is more likely the intended one. */
export interface Repair {
  readonly edits: readonly Edit[]
  readonly cost: number
}

/** A node that is already true needs nothing. */
export const already: readonly Repair[] = [{ edits: [], cost: 0 }]

/** Combines repairs and keeps the best. */
export class Ways {
  /** Something was omitted because there was too much. */
  cut = false

  /** The best repairs that achieve both. */
  both(one: readonly Repair[], two: readonly Repair[]): readonly Repair[] {
    if (one === already) return two
    if (two === already) return one
    const found: Repair[] = []
    for (const first of one)
      for (const second of two) {
        const joined = join(first, second)
        if (joined !== undefined) found.push(joined)
        else this.cut = true
      }
    return this.best(found)
  }

  best(found: readonly Repair[]): readonly Repair[] {
    const sorted = distinct(found)
    if (sorted.length <= keptMax) return sorted
    this.cut = true
    return sorted.slice(0, keptMax)
  }
}

/** Each set of edits once, best first. */
export function distinct(found: readonly Repair[]): readonly Repair[] {
  const byKey = new Map<string, Repair>()
  for (const repair of found) {
    const key = keyOf(repair.edits)
    const known = byKey.get(key)
    if (known === undefined || known.cost > repair.cost) byKey.set(key, repair)
  }
  return [...byKey.values()].sort((a, b) => a.cost - b.cost)
}

/** Equal for equal sets of edits. */
export function keyOf(edits: readonly Edit[]): string {
  return edits.map(({ id }) => id).join()
}

/** Undefined when there would be too many edits, or two with one key. */
export function join(one: Repair, two: Repair): Repair | undefined {
  const edits = [...new Set([...one.edits, ...two.edits])].sort((a, b) => a.id - b.id)
  if (edits.length > editsMax || new Set(edits.map(({ key }) => key)).size < edits.length) return undefined
  // Count the cost of common edits only once.
  const twice = one.edits.length + two.edits.length - edits.length
  return { edits, cost: one.cost + two.cost - twice * costs.edit }
}

export function sameRepairs(one: readonly Repair[], two: readonly Repair[]): boolean {
  return (
    one.length === two.length &&
    one.every(
      (repair, at) => repair.cost === two[at]?.cost && keyOf(repair.edits) === keyOf(two[at]?.edits ?? []),
    )
  )
}

/** An item that refers to others by their keys. */
interface Referring {
  readonly key: string
  readonly references: ReadonlySet<string>
}

interface Visit<Item> {
  readonly item: Item
  readonly index: number
  low: number
  open: boolean
}

/**
 * The strongly connected components reachable from `start`; each comes after all components it refers to (Tarjan 1972, with an explicit stack,
 * because chains of references may be long). Skips keys in `done` and unknown keys.
 */
export function components<Item extends Referring>(
  items: ReadonlyMap<string, Item>,
  start: string,
  done: ReadonlyMap<string, unknown>,
): Item[][] {
  const visits = new Map<string, Visit<Item>>()
  const open: Visit<Item>[] = []
  const groups: Item[][] = []
  const way: { readonly visit: Visit<Item>; readonly next: Iterator<string> }[] = []
  const enter = (key: string): Visit<Item> | undefined => {
    const item = items.get(key)
    if (item === undefined || done.has(key)) return undefined
    const visit = { item, index: visits.size, low: visits.size, open: true }
    visits.set(key, visit)
    open.push(visit)
    way.push({ visit, next: item.references[Symbol.iterator]() })
    return visit
  }
  enter(start)
  for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
    const { visit } = top
    const { value: key, done: finished } = top.next.next()
    if (finished !== true) {
      const known = visits.get(key)
      if (known === undefined) enter(key)
      else if (known.open) visit.low = Math.min(visit.low, known.index)
      continue
    }
    way.pop()
    const above = way.at(-1)?.visit
    if (above !== undefined) above.low = Math.min(above.low, visit.low)
    if (visit.low === visit.index) groups.push(close(visit, open))
  }
  return groups
}

/** Takes a finished component from the stack (Tarjan's algorithm). */
function close<Item>(root: Visit<Item>, open: Visit<Item>[]): Item[] {
  const group: Item[] = []
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    visit.open = false
    group.push(visit.item)
    if (visit === root) break
  }
  return group
}

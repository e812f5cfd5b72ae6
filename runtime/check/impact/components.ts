import { IntBuffer } from "./int-buffer.ts"

/** Nodes visited between two yields of undefined. */
const visitsAtOnce = 4_096

/**
 * Strongly connected components of a graph by Tarjan's algorithm, with a stack of its own; each after those that it reads. The kids of a node are
 * `kids[at] >> 1` from `starts[node]` on. Yields undefined now and then, so that others can run.
 */
export function* componentsOf(
  count: number,
  starts: Int32Array,
  kids: Int32Array,
): Generator<readonly number[] | undefined> {
  const numbers = new Int32Array(count)
  const lows = new Int32Array(count)
  const open = new IntBuffer()
  // Of a node that is entered: the position of its next kid.
  const next = new Int32Array(count)
  const path = new IntBuffer()
  let found = 0
  let visits = 0
  const enter = (node: number): void => {
    numbers[node] = ++found
    lows[node] = found
    next[node] = starts[node] as number
    open.push(node)
    path.push(node)
  }
  for (let start = 0; start < count; start++) {
    if (numbers[start] !== 0) continue
    enter(start)
    while (path.length > 0) {
      if (++visits % visitsAtOnce === 0) yield undefined
      const node = path.array[path.length - 1] as number
      const at = next[node] as number
      if (at < (starts[node + 1] as number)) {
        next[node] = at + 1
        const kid = (kids[at] as number) >> 1
        if (numbers[kid] === 0) enter(kid)
        // A closed node has the greatest number.
        else if ((numbers[kid] as number) < (lows[node] as number)) lows[node] = numbers[kid] as number
        continue
      }
      path.length--
      const above = path.array[path.length - 1]
      if (above !== undefined && path.length > 0 && (lows[node] as number) < (lows[above] as number))
        lows[above] = lows[node] as number
      if (lows[node] !== numbers[node]) continue
      const members: number[] = []
      for (let member = -1; member !== node; ) {
        member = open.array[--open.length] as number
        numbers[member] = 0x7fff_ffff
        members.push(member)
      }
      yield members
    }
  }
}

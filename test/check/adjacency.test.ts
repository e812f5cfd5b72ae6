import { describe, expect, test } from "vitest"
import { Adjacency, none } from "../../runtime/check/graph/adjacency.ts"
import { Graph } from "../../runtime/check/graph/graph.ts"
import { NameArena } from "../../runtime/check/graph/names.ts"
import { Random } from "../naive/random.ts"

/** What an id has in a slot, by the public reading functions. */
function ids(adjacency: Adjacency, id: number, slot: number): number[] {
  const value = adjacency.find(id, slot)
  if (value === none) return []
  if (value >= 0) return [value]
  const { array, start, end } = adjacency.stretch(value)
  return [...array.subarray(start, end)]
}

const sorted = (set: ReadonlySet<number>) => [...set].sort((a, b) => a - b)

const same = (one: ArrayLike<number>, other: readonly number[]) =>
  one.length === other.length && other.every((id, at) => one[at] === id)

describe("adjacency", () => {
  test("holds what sets hold, through random inserts and removals", () => {
    const random = new Random(7)
    const adjacency = new Adjacency()
    const model = new Map<string, Set<number>>()
    let wrong = 0
    for (let round = 0; round < 200_000; round++) {
      const id = random.below(40)
      const slot = random.below(12)
      const other = random.below(round % 3 === 0 ? 6 : 400)
      const key = `${id}/${slot}`
      const set = model.get(key) ?? new Set<number>()
      model.set(key, set)
      if (random.below(100) < 52) {
        if (adjacency.insert(id, slot, other) === set.has(other)) wrong++
        set.add(other)
      } else if (adjacency.remove(id, slot, other) !== set.delete(other)) wrong++
    }
    expect(wrong).toBe(0)
    for (const [key, set] of model) {
      const [id = 0, slot = 0] = key.split("/").map(Number)
      const sorted = [...set].sort((a, b) => a - b)
      expect(ids(adjacency, id, slot)).toEqual(sorted)
      const value = adjacency.find(id, slot)
      for (let other = 0; other < 400; other++)
        if (value !== none && adjacency.has(value, other) !== set.has(other)) wrong++
    }
    expect(wrong).toBe(0)
  })

  test("keeps what somebody may be reading until it is reclaimed", () => {
    let wrong = 0
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed)
      const adjacency = new Adjacency()
      const model = new Map<string, Set<number>>()
      /** Lists as they were when somebody began to read them, with what was retired since. */
      let readers: { array: Int32Array; start: number; ids: number[] }[] = []
      let retired: (readonly number[])[] = []
      for (let round = 0; round < 600; round++) {
        const id = random.below(6)
        const slot = random.below(5)
        const other = random.below(8)
        const set = model.get(`${id}/${slot}`) ?? new Set<number>()
        model.set(`${id}/${slot}`, set)
        adjacency.lists.shared = readers.length > 0
        if (random.chance(55)) {
          adjacency.insert(id, slot, other)
          set.add(other)
        } else {
          adjacency.remove(id, slot, other)
          set.delete(other)
        }
        if (random.chance(10)) {
          adjacency.lists.shared = false
          adjacency.drop(9, 1)
          for (let at = 0; at < 5; at++) adjacency.insert(9, 1, random.below(40))
        }
        retired.push(adjacency.lists.takeRetired())
        for (const { array, start, ids: seen } of readers)
          if (!same(array.subarray(start, start + seen.length), seen)) wrong++
        if (random.chance(5)) {
          for (const each of retired) adjacency.lists.reclaim(each)
          retired = []
          readers = []
        }
        const value = adjacency.find(id, slot)
        if (value < 0 && random.chance(30)) {
          const { array, start, end } = adjacency.stretch(value)
          readers.push({ array, start, ids: [...array.subarray(start, end)] })
        }
        if (!same(ids(adjacency, id, slot), sorted(set))) wrong++
      }
      for (const [key, set] of model) {
        const [id = 0, slot = 0] = key.split("/").map(Number)
        if (!same(ids(adjacency, id, slot), sorted(set))) wrong++
      }
    }
    expect(wrong).toBe(0)
  })

  test("gives its memory back, whatever sizes came and went", () => {
    const random = new Random(5)
    const adjacency = new Adjacency()
    const empty = adjacency.bytes
    let most = 0
    for (const objects of [400_000, 6_000]) {
      const inserted: [number, number, number][] = []
      for (let at = 0; at < 400_000; at++) {
        const entry: [number, number, number] = [random.below(objects), random.below(8), random.below(1e6)]
        if (adjacency.insert(...entry)) inserted.push(entry)
      }
      most = Math.max(most, adjacency.reservedBytes)
      for (const entry of inserted) adjacency.remove(...entry)
      expect(adjacency.bytes).toBe(empty)
    }
    // The column by id (two chunks of 1 MB) and the pool's first chunk stay.
    expect(most).toBeGreaterThanOrEqual(10 * 2 ** 20)
    expect(adjacency.reservedBytes).toBe(6 * 2 ** 20)
  })

  test("lists beyond a chunk's classes grow and shrink back", () => {
    const adjacency = new Adjacency()
    const count = 100_000
    for (let other = 0; other < count; other++) adjacency.insert(3, 5, (other * 7919) % count)
    expect(ids(adjacency, 3, 5)).toEqual(Array.from({ length: count }, (_, at) => at))
    for (let other = 2; other < count; other++) adjacency.remove(3, 5, other)
    expect(ids(adjacency, 3, 5)).toEqual([0, 1])
    adjacency.remove(3, 5, 0)
    expect(adjacency.find(3, 5)).toBe(1)
    adjacency.remove(3, 5, 1)
    expect(adjacency.find(3, 5)).toBe(none)
  })

  test("bulk loading sorts and drops repetitions", () => {
    const graph = new Graph()
    const load = (object: string, subject: string) =>
      graph.loadRows(`${object}\t${subject}\tviewer\t\t\t\n`, 0, 1)
    for (let round = 0; round < 3; round++)
      for (let other = 70_000; other > 0; other--) load("doc:0", `user:${other}`)
    for (const other of [9, 4, 4, 9]) load("doc:1", `user:${other}`)
    for (const _ of graph.finishLoad());
    const { id: slot } = graph.slot("doc", "viewer", "user", "", "")
    const subjects = (object: string) => {
      const found = ids(graph.forward, graph.names.find(object), slot)
      expect(found).toEqual([...found].sort((a, b) => a - b))
      return found.map((id) => graph.names.text(id)).sort()
    }
    expect(subjects("doc:0")).toEqual(Array.from({ length: 70_000 }, (_, at) => `user:${at + 1}`).sort())
    expect(subjects("doc:1")).toEqual(["user:4", "user:9"])
    expect(ids(graph.reverse, graph.names.find("user:9"), slot)).toHaveLength(2)
  })
})

describe("names", () => {
  test("gives every name one id, ASCII or not, and the name back", () => {
    const names = new NameArena()
    const texts = Array.from({ length: 120_000 }, (_, at) =>
      at % 10 === 0 ? `résumé:${at}` : at % 10 === 1 ? `doc:${"x".repeat(at % 500)}${at}` : `user:${at}`,
    )
    expect(texts.filter((text, at) => names.intern(text) !== at)).toEqual([])
    expect(texts.filter((text, at) => names.find(text) !== at || names.text(at) !== text)).toEqual([])
    expect(names.intern("user:2")).toBe(2)
    for (const unknown of ["user:", "user:20000000", "résumé:1", "resume:0", ""])
      expect(names.find(unknown)).toBe(-1)
  })

  test("finds two at once with their marks, or says that it is not so easy", () => {
    const names = new NameArena((name) => (7919 * name.length) & 0xff_ffff)
    const texts = Array.from({ length: 100_000 }, (_, at) => `user:${at}`)
    for (const text of texts) names.intern(text)
    names.intern("résumé:1")
    const one = { id: -2, mark: 0 }
    const other = { id: -2, mark: 0 }
    const found = texts.filter(
      (text, at) =>
        names.findBoth(text, texts[99_999 - at] ?? "", one, other) &&
        one.id === at &&
        one.mark === 7919 * text.length &&
        other.id === 99_999 - at &&
        names.mark(other.id) === other.mark,
    )
    // Of two names with one hash only the first is found so.
    expect(found.length).toBeGreaterThan(99_900)
    one.id = -2
    for (const hard of ["user:100000", "user:", "", "résumé:1", "user:é"]) {
      expect(names.findBoth(hard, "user:1", one, other)).toBe(false)
      expect(names.findBoth("user:1", hard, one, other)).toBe(false)
    }
    expect(one.id).toBe(-2)
  })

  test("gives ids and bytes of released names to others", () => {
    const names = new NameArena((name) => name.length)
    const found = { id: -1, mark: -1 }
    const random = new Random(3)
    const held = new Map<string, number>()
    let most = 0
    let wrong = 0
    for (let round = 0; round < 60_000; round++) {
      const name = `${"éxyz"[round % 4]}:${"n".repeat(random.below(30))}${random.below(3_000)}`
      const id = held.get(name)
      if (id === undefined) {
        const given = names.intern(name)
        held.set(name, given)
      } else {
        if (names.find(name) !== id || names.mark(id) !== name.length || !names.isLinked(id)) wrong++
        if (names.findBoth(name, name, found, found) && found.id !== id) wrong++
        names.unlink(id)
        if (names.find(name) !== -1 || names.text(id) !== name || names.isLinked(id)) wrong++
        if (names.findBoth(name, name, found, found)) wrong++
        names.release(id)
        if (names.isLinked(id)) wrong++
        held.delete(name)
      }
      most = Math.max(most, held.size)
    }
    for (const [name, id] of held) if (names.find(name) !== id || names.text(id) !== name) wrong++
    expect(wrong).toBe(0)
    expect(new Set(held.values()).size).toBe(held.size)
    expect(names.idsEnd).toBe(most)
    // Half of a chunk may be dead: twice the names, and what the hash needs.
    expect(names.reservedBytes).toBeLessThan(4 * names.bytes)
  })

  test("refuses a name its record cannot hold", () => {
    expect(() => new NameArena().intern("x".repeat(70_000))).toThrow(RangeError)
    expect(() => new NameArena(() => 0x100_0000).intern("x")).toThrow(RangeError)
  })
})

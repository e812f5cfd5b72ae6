import { describe, expect, test } from "vitest"
import { Adjacency } from "../../runtime/check/graph/adjacency.ts"
import { BulkLoad } from "../../runtime/check/graph/bulk-load.ts"
import { Contexts } from "../../runtime/check/graph/contexts.ts"
import { Graph } from "../../runtime/check/graph/graph.ts"
import { IntPool } from "../../runtime/check/graph/int-pool.ts"
import { NameArena } from "../../runtime/check/graph/names.ts"
import { Slots } from "../../runtime/check/graph/slots.ts"
import { packRows, type TupleRow } from "../../runtime/check/ports.ts"
import { Random } from "../naive/random.ts"

/** Parts of a graph, with their numbers. */
interface Parts {
  readonly names: NameArena
  readonly slots: Graph["slots"]
  readonly forward: Adjacency
  readonly reverse: Adjacency
  readonly context: (object: number, slot: number, subject: number) => unknown
}

function loaded(rows: readonly TupleRow[], rowsAtOnce: number, passMin: number): Parts {
  const slots = new Slots()
  const names = new NameArena((name) => slots.markOf(name))
  const [contexts, forward, reverse] = [new Contexts(), new Adjacency(), new Adjacency()]
  const load = new BulkLoad({ names, slots, contexts, forward, reverse })
  const text = packRows(rows)
  for (let at = 0; at < text.length; ) at = load.take(text, at, rowsAtOnce)
  for (const _ of load.finish(passMin));
  const context = (object: number, slot: number, subject: number) => contexts.get(object, slot, subject)
  return { names, slots: slots.all, forward, reverse, context }
}

/** All tuples as texts, as seen from one end; the lists must be sorted and free of repetitions. */
function seen(parts: Parts, direction: "forward" | "reverse"): string[] {
  const { names, slots } = parts
  const adjacency = parts[direction]
  const found: string[] = []
  for (let id = 0; id < names.idsEnd; id++)
    adjacency.eachSlot(id, (slot, value) => {
      const { array, start, end } =
        value >= 0 ? { array: Int32Array.of(value), start: 0, end: 1 } : adjacency.stretch(value)
      const others = [...array.subarray(start, end)]
      if (others.some((other, at) => at > 0 && other <= (others[at - 1] ?? 0))) found.push("not sorted")
      const { relation, subjectRelation, condition } = slots[slot] ?? {}
      for (const other of others) {
        const [object, subject] = direction === "forward" ? [id, other] : [other, id]
        const context = JSON.stringify(parts.context(object, slot, subject) ?? null)
        found.push(
          `${names.text(object)} ${relation} ${names.text(subject)} ${subjectRelation} ${condition} ${context}`,
        )
      }
    })
  return found.sort()
}

function written(rows: readonly TupleRow[]): Parts {
  const graph = new Graph()
  for (const row of rows) graph.write(row)
  const { names, slots, forward, reverse } = graph
  return { names, slots, forward, reverse, context: (...place) => graph.context(...place) }
}

/** Few objects have most tuples, so that lists have all lengths. The key of a tuple is in one row only, or in rows that are equal. */
function randomRows(random: Random, count: number, objects: number): TupleRow[] {
  return Array.from({ length: count }, (): TupleRow => {
    const object = `doc:${random.below(1 + random.below(objects))}`
    const subject = `${random.below(3) === 0 ? "grüppe" : "user"}:${random.below(6_000)}`
    const kind = random.below(10)
    if (kind === 0) return [object, "viewer", "user:*", "", "", ""]
    if (kind === 1) return [object, "viewer", subject, "member", "", ""]
    if (kind === 2) return [object, "owner", subject, "", "late", `{"until":"${subject}"}`]
    if (kind === 3) return [object, "owner", `${subject}x`, "", "late", ""]
    return [object, "viewer", subject, "", "", ""]
  })
}

describe("a load in bulk", () => {
  test.each([
    { count: 0, objects: 1, rowsAtOnce: 1, passMin: 1 },
    { count: 3_000, objects: 500, rowsAtOnce: 7, passMin: 100 },
    { count: 3_000, objects: 3, rowsAtOnce: 1_000, passMin: 1 << 20 },
    { count: 90_000, objects: 4, rowsAtOnce: 256, passMin: 10_000 },
  ])("contains what written tuples contain: $count rows, passes of $passMin", (shape) => {
    const rows = randomRows(new Random(shape.count + shape.objects), shape.count, shape.objects)
    const [bulk, single] = [loaded(rows, shape.rowsAtOnce, shape.passMin), written(rows)]
    const expected = seen(single, "forward")
    expect(seen(single, "reverse")).toEqual(expected)
    expect(seen(bulk, "forward")).toEqual(expected)
    expect(seen(bulk, "reverse")).toEqual(expected)
  })

  test.each(["doc:1\tuser:1", "doc:1\tuser:1\tviewer\t\t\n", "doc:1\tuser:1\tviewer\t\t\t\t{}\n"])(
    "refuses a row without six columns: %j",
    (text) => {
      expect(() => new Graph().loadRows(text, 0, 1)).toThrow(RangeError)
    },
  )
})

describe("addresses", () => {
  test("names beyond the last place are refused, and found to be near before", () => {
    const names = new NameArena(undefined, 10)
    const fill = () => {
      for (let at = 0; ; at++) {
        const near = names.isNearlyFull
        try {
          names.intern(`user:${"x".repeat(1_000)}${at}`)
        } catch (error) {
          return { near, error, count: at }
        }
      }
    }
    expect(names.isNearlyFull).toBe(false)
    const { near, error, count } = fill()
    expect(near).toBe(true)
    expect(error).toBeInstanceOf(RangeError)
    expect(names.find(`user:${"x".repeat(1_000)}${count - 1}`)).toBe(count - 1)
  })

  test("lists beyond the last address are refused, and found to be near before", () => {
    const pool = new IntPool(3)
    expect(pool.isNearlyFull).toBe(false)
    const fill = () => {
      for (;;) pool.allocate(65_536)
    }
    expect(fill).toThrow(RangeError)
    expect(pool.isNearlyFull).toBe(true)
  })
})

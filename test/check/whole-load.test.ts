import { expect, test } from "vitest"
import { type LoadedBatch, packRows, type TupleRow } from "../../runtime/check/ports.ts"
import { loadWhole } from "../../runtime/check/stores/whole-load.ts"
import { commit, MemorySource } from "./memory-source.ts"

const rowCount = 12_800
/** Time that the load takes between two readings of the clock. */
const ownMs = 0.125

/** A source whose store comes in one batch. */
class OneBatch extends MemorySource {
  override async load(_: string, onBatch: LoadedBatch) {
    const row = (_: unknown, at: number): TupleRow => [`doc:${at}`, "viewer", "user:ann", "", "", ""]
    await onBatch(packRows(Array.from({ length: rowCount }, row)))
    return commit(0)
  }
}

/** How often a load lets others run, which take so long each time. */
async function turnsOf(isBusy: boolean, othersMs: number): Promise<number> {
  let now = 0
  let turns = 0
  let size = 0
  await loadWhole({
    source: new OneBatch(),
    storeId: "store",
    now: () => {
      now += ownMs
      return now
    },
    turn: async () => {
      now += othersMs
      turns++
    },
    isBusy: () => isBusy,
    onGrown: () => undefined,
    known: () => 0,
    onLoaded: (graph) => {
      size = graph.names.count
    },
  })
  expect(size).toBe(rowCount + 1)
  return turns
}

test("a load takes 2 ms at a time while no question is in progress, and a few rows while one is", async () => {
  const alone = await turnsOf(false, 0)
  expect(alone).toBeGreaterThan(0)
  expect(alone).toBeLessThan(10)
  expect(await turnsOf(true, 0)).toBeGreaterThan(100)
})

test("a load gets a part of the time, however much the questions take", async () => {
  expect(await turnsOf(true, 5)).toBeLessThan(30)
  expect(await turnsOf(true, 100)).toBeLessThan(10)
})

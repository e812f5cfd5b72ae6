import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import type { Commit, LoadedBatch, PageBatch, PageKey } from "../../runtime/check/ports.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user]
type doc
  relations
    define viewer: [user, group#member]
`)

/** A source that answers nothing until it is let. */
class HeldSource extends MemorySource {
  readonly #held: (() => void)[] = []
  holding = true

  async #wait(): Promise<void> {
    if (this.holding) await new Promise<void>((resolve) => this.#held.push(resolve))
  }

  letGo(): void {
    this.holding = false
    for (const resolve of this.#held.splice(0)) resolve()
  }

  override async load(store: string, onBatch: LoadedBatch): Promise<Commit> {
    await this.#wait()
    return super.load(store, onBatch)
  }

  override async newest(store: string): Promise<Commit> {
    await this.#wait()
    return super.newest(store)
  }

  override async pages(store: string, keys: readonly PageKey[]): Promise<PageBatch> {
    await this.#wait()
    return super.pages(store, keys)
  }
}

const check = { user: "user:ann", relation: "viewer", object: "doc:1" }
const late = { code: "deadline_exceeded" }

function engineOver(options: EngineOptions = {}): { engine: Engine; source: HeldSource } {
  const source = new HeldSource()
  source.write(tupleOf("doc:1 viewer group:1#member"), tupleOf("group:1 member user:ann"))
  return { engine: new Engine(source, { pollMs: 0, deadlineMs: 25, ...options }), source }
}

/** From here on a busy machine has all the time it needs: only what was asked while the source held back is late. */
function giveTime(engine: Engine, memoryBytes = 1e9): void {
  engine.bound({ depthMax: 25, deadlineMs: 300_000, memoryBytes })
}

test("a question is refused at its deadline while the store is loaded, and the load goes on for the next", async () => {
  const { engine, source } = engineOver()
  const list = (own: { deadlineMs?: number } = {}) =>
    listObjects(model, { user: "user:ann", relation: "viewer", type: "doc", ...own }, engine.bounds)
  await expect(engine.check("store", model, check)).rejects.toMatchObject(late)
  await expect(engine.ask("store", list({ deadlineMs: 30 }))).rejects.toMatchObject(late)
  giveTime(engine)
  source.letGo()
  expect(await engine.ask("store", list())).toMatchObject({ objects: ["doc:1"] })
  expect(source.asked.load).toBe(1)
  engine.close()
})

test("the same while a page is read; what the question held goes when the source has answered", async () => {
  const afterAll: number[] = []
  for (const refused of [0, 3]) {
    const { engine, source } = engineOver({ paged: true })
    source.holding = false
    await engine.warm("store")
    source.holding = true
    const asked = Array.from({ length: refused }, () => engine.check("store", model, check))
    for (const outcome of asked) await expect(outcome).rejects.toMatchObject(late)
    giveTime(engine)
    source.letGo()
    expect(await engine.check("store", model, check)).toMatchObject({ allowed: true })
    // Nothing is pinned any more: all pages may go.
    giveTime(engine, 1)
    afterAll.push(engine.memoryBytes)
    engine.close()
  }
  expect(afterAll[1]).toBe(afterAll[0])
})

test("the same while the newest revision is learned", async () => {
  const { engine, source } = engineOver()
  source.holding = false
  await engine.warm("store")
  source.holding = true
  const newest = () => engine.check("store", model, { ...check, consistency: "higher-consistency" })
  await expect(newest()).rejects.toMatchObject(late)
  giveTime(engine)
  source.letGo()
  expect(await newest()).toMatchObject({ allowed: true })
  engine.close()
})

import { afterEach, describe, expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import type { CheckError } from "../../runtime/check/ports.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { MemorySource } from "./memory-source.ts"

const engines: Engine[] = []
afterEach(() => {
  for (const engine of engines.splice(0)) engine.close()
})

async function engineOver(options: EngineOptions): Promise<Engine> {
  const engine = new Engine(new MemorySource(), { pollMs: 0, ...options })
  engines.push(engine)
  await engine.warm("store")
  return engine
}

test("a question has a long first part, but not where another took all of its own a moment ago", async () => {
  let now = 0
  const engine = await engineOver({ now: () => now })
  /** Works until others must have their turn, and says after how many milliseconds that was. */
  const busy = (): EngineWork<number> => {
    let taken = 0
    return {
      steps: 0,
      begin: () => undefined,
      run: (isLate) => {
        const from = now
        while (!isLate()) now += 0.25
        taken = now - from
        return { kind: "done" }
      },
      answer: () => taken,
      release: () => undefined,
    }
  }
  expect(engine.ask("store", busy())).toBe(1)
  expect(engine.ask("store", busy())).toBe(0.25)
  now += 99
  expect(engine.ask("store", busy())).toBe(0.25)
  now += 100
  expect(engine.ask("store", busy())).toBe(1)
})

describe("questions that wait", () => {
  /** The turns of the event loop in which eight questions of so many steps ended, which all wait for their second slice. */
  async function turnsOf(steps: number): Promise<ReadonlySet<number>> {
    const engine = await engineOver({})
    let turn = 0
    let ended = false
    const count = () => {
      turn++
      if (!ended) setImmediate(count)
    }
    const turns = Array.from({ length: 8 }, async () => {
      let slices = 0
      return engine.ask("store", {
        steps,
        begin: () => undefined,
        run: () => ({ kind: slices++ === 0 ? "suspended" : "done" }) as const,
        answer: () => turn,
        release: () => undefined,
      })
    })
    setImmediate(count)
    const all = await Promise.all(turns)
    ended = true
    return new Set(all)
  }

  test("share a turn when they are short", async () => {
    expect((await turnsOf(10)).size).toBe(1)
  })

  test("have a turn each when they are not", async () => {
    expect((await turnsOf(1_000)).size).toBe(8)
  })
})

describe("long questions", () => {
  /** An engine by whose clock only work takes time, and work that takes so much. */
  async function busyEngine(deadlineMs: number) {
    let now = 0
    const engine = await engineOver({ now: () => now, deadlineMs })
    const ask = async (ms: number): Promise<number | string> => {
      let left = ms
      const work: EngineWork<number> = {
        steps: 0,
        begin: () => undefined,
        run: (isLate) => {
          for (; left > 0; left--) {
            if (isLate()) return { kind: "suspended" }
            now += 1
          }
          return { kind: "done" }
        },
        answer: () => now,
        release: () => undefined,
      }
      try {
        return await engine.ask("store", work)
      } catch (error) {
        return (error as CheckError).code
      }
    }
    return { ask, now: () => now }
  }

  test("end one after the other; one whose turn can't come in time hears so before its deadline", async () => {
    const { ask, now } = await busyEngine(3_000)
    expect(await ask(700)).toBeTypeOf("number")
    const from = now()
    const ended = await Promise.all(Array.from({ length: 12 }, () => ask(700)))
    const answered = ended.filter((each) => typeof each === "number")
    expect(answered.length).toBeGreaterThanOrEqual(2)
    expect(answered).toEqual([...answered].sort((one, other) => one - other))
    expect(ended.slice(answered.length)).toEqual(
      Array.from({ length: 12 - answered.length }, () => "resource_exhausted"),
    )
    expect(now() - from).toBeLessThan(3_000)
    expect(await ask(700)).toBeTypeOf("number")
  })

  test("do not keep short ones from ending, and are not refused for those", async () => {
    const { ask, now } = await busyEngine(3_000)
    expect(await ask(60)).toBeTypeOf("number")
    const from = now()
    const long = [ask(1_000), ask(1_000)]
    const short = await Promise.all(Array.from({ length: 5 }, () => ask(20)))
    for (const at of short) expect(Number(at) - from).toBeLessThan(400)
    for (const each of await Promise.all(long)) expect(each).toBeTypeOf("number")
  })
})

import fc from "fast-check"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { Taken } from "../../runtime/limits/limiter.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import type { MachineTaken, ParentCalls, WorkerCalls } from "../../runtime/workers/calls.ts"
import { Channel } from "../../runtime/workers/channel.ts"
import { LimitDesk } from "../../runtime/workers/limit-desk.ts"
import { MachineLimiter } from "../../runtime/workers/machine-limiter.ts"
import { isLong } from "../support/random-run.ts"

const periodSeconds = 60
const runs = isLong ? 2_000 : 60

/** Messages of one direction that were sent and not received. */
class Wire {
  #receive: (message: unknown) => void = () => undefined
  readonly #sent: unknown[] = []
  received = 0

  readonly out = { send: (message: unknown) => void this.#sent.push(structuredClone(message)) }
  readonly in = {
    onMessage: (receive: (message: unknown) => void) => {
      this.#receive = receive
    },
  }

  get isEmpty(): boolean {
    return this.#sent.length === 0
  }

  deliver(): void {
    if (this.isEmpty) return
    this.received += 1
    this.#receive(this.#sent.shift())
  }

  lose(): void {
    this.#sent.length = 0
  }
}

interface Terms {
  readonly key: string
  readonly max: number
  readonly amount: number
}

interface Worker {
  readonly limiter: MachineLimiter
  readonly toParent: Wire
  readonly toWorker: Wire
  report(): void
  /** As the parent sees its end. */
  end(): void
  /** As the worker sees the end of its parent. */
  parentEnds(): void
}

/** A parent and its workers, with the messages between them under the control of a test. */
class Scene {
  nowMs = 1_000
  /** Called with each decision of the parent, in their order. */
  onDecision: (terms: Terms, taken: Taken) => void = () => undefined
  readonly workers: Worker[]
  readonly #desk: LimitDesk

  constructor(count: number) {
    const now = () => this.nowMs
    this.#desk = new LimitDesk(createMemoryLimiter({ now }), count, now)
    this.workers = Array.from({ length: count }, () => this.start())
  }

  start(): Worker {
    const [toParent, toWorker] = [new Wire(), new Wire()]
    const above = new Channel<WorkerCalls, ParentCalls>({ ...toWorker.out, ...toParent.in })
    const below = new Channel<ParentCalls, WorkerCalls>({ ...toParent.out, ...toWorker.in })
    const desk = this.#desk.open(above)
    const { calls } = desk
    const take: typeof calls.take = (counter, key, max, seconds, amount) => {
      const decided = (taken: MachineTaken) => {
        const [allowed, remaining, resetMs] = taken
        const resetSeconds = Math.max(1, Math.ceil(resetMs / 1000))
        this.onDecision({ key, max, amount }, { allowed: allowed === 1, remaining, resetSeconds })
        return taken
      }
      const taken = calls.take(counter, key, max, seconds, amount)
      return taken instanceof Promise ? taken.then(decided) : decided(taken)
    }
    above.serve({ ...calls, take } as ParentCalls)
    let due: (() => void) | undefined
    const limiter = new MachineLimiter(below, createMemoryLimiter(), {
      now: () => this.nowMs,
      later: (report) => {
        due = report
        return () => undefined
      },
    })
    below.serve(limiter.calls as unknown as WorkerCalls)
    return {
      ...{ limiter, toParent, toWorker },
      report() {
        due?.()
        due = undefined
      },
      end() {
        above.close()
        desk.ended()
      },
      parentEnds: () => below.close(),
    }
  }

  /** Ends a worker by a kill; another one takes its place. `isRead`: the parent reads the messages that it had sent, after its end. */
  kill(at: number, isRead: boolean): void {
    const killed = this.workers[at] as Worker
    killed.toWorker.lose()
    killed.end()
    while (isRead && !killed.toParent.isEmpty) killed.toParent.deliver()
    this.workers[at] = this.start()
  }

  /** Sends calls to a worker and returns how many passed. */
  async send(at: number, key: string, calls: number, max: number): Promise<number> {
    const { limiter } = this.workers[at] as Worker
    const taken = Array.from({ length: calls }, () => limiter.take("c", key, max, periodSeconds))
    await this.drain()
    return (await Promise.all(taken)).filter(({ allowed }) => allowed).length
  }

  /** Delivers all messages, also those sent because of others. */
  async drain(): Promise<void> {
    for (;;) {
      await sent()
      const full = this.workers
        .flatMap(({ toParent, toWorker }) => [toParent, toWorker])
        .filter((wire) => !wire.isEmpty)
      if (full.length === 0) return
      for (const wire of full) wire.deliver()
    }
  }
}

/** Channels send at the end of a turn of the event loop; what a received message causes is sent in the next one. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const call = (workers: number, limits: readonly number[]) =>
  fc.record({
    kind: fc.constant("call" as const),
    worker: fc.nat(workers - 1),
    key: fc.constantFrom("a", "a", "a", "b"),
    times: fc.constantFrom(1, 1, 1, 3, 12),
    amount: fc.constantFrom(1, 1, 1, 1, 0, 2, 7),
    max: fc.constantFrom(...limits),
  })
const deliver = (workers: number) =>
  fc.record({ kind: fc.constant("deliver" as const), worker: fc.nat(workers - 1), up: fc.boolean() })
const report = (workers: number) =>
  fc.record({ kind: fc.constant("report" as const), worker: fc.nat(workers - 1) })
const pass = fc.record({
  kind: fc.constant("pass" as const),
  ms: fc.constantFrom(1, 40, 700, 3_000, 20_000, 59_000, 60_000, 61_000, 130_000),
})
const kill = (workers: number) =>
  fc.record({ kind: fc.constant("kill" as const), worker: fc.nat(workers - 1), isRead: fc.boolean() })

const schedule = (limits: readonly number[], withKills: boolean) =>
  fc.integer({ min: 1, max: 4 }).chain((workers) =>
    fc.record({
      workers: fc.constant(workers),
      steps: fc.array(
        fc.oneof(
          { arbitrary: call(workers, limits), weight: 8 },
          { arbitrary: deliver(workers), weight: 6 },
          { arbitrary: report(workers), weight: 2 },
          { arbitrary: pass, weight: 2 },
          { arbitrary: kill(workers), weight: withKills ? 1 : 0 },
        ),
        { maxLength: 120 },
      ),
    }),
  )

beforeEach(() => {
  // Nobody waits in vain in these tests, however slowly they run.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([100, 64, 40, 3, 1_000_000])(
  "workers let the same calls pass as one exact counter: a limit of %i",
  async (limit) => {
    await fc.assert(
      fc.asyncProperty(schedule([limit], false), async ({ workers, steps }) => {
        const scene = new Scene(workers)
        const exact = createMemoryLimiter({ now: () => scene.nowMs })
        const wrong: unknown[] = []
        const check = ({ key, max, amount }: Terms, taken: Taken) => {
          const wanted = exact.take("c", key, max, periodSeconds, amount)
          const isSame = taken.allowed || taken.resetSeconds === wanted.resetSeconds
          const isPossible =
            taken.remaining >= 0 && taken.remaining <= max && taken.resetSeconds <= periodSeconds
          if (taken.allowed !== wanted.allowed || !isSame || !isPossible)
            wrong.push({ key, max, amount, taken, wanted })
        }
        scene.onDecision = check
        const calls: Promise<unknown>[] = []
        for (const step of steps) {
          if (step.kind === "call")
            for (let time = 0; time < step.times; time++) {
              const { limiter } = scene.workers[step.worker] as Worker
              const taken = limiter.take("c", step.key, step.max, periodSeconds, step.amount)
              if (taken instanceof Promise) calls.push(taken)
              else check(step, taken)
            }
          else if (step.kind === "deliver") {
            const { toParent, toWorker } = scene.workers[step.worker] as Worker
            ;(step.up ? toParent : toWorker).deliver()
          } else if (step.kind === "report") scene.workers[step.worker]?.report()
          else if (step.kind === "pass") {
            // Messages take no time by this clock; so each call is counted when it passes.
            for (const worker of scene.workers) worker.report()
            await scene.drain()
            scene.nowMs += step.ms
          }
          await sent()
          expect(wrong).toEqual([])
        }
        await scene.drain()
        await Promise.all(calls)
        expect(wrong).toEqual([])
      }),
      { numRuns: runs },
    )
  },
)

test.each([[100], [64], [17, 40], [40, 400]])(
  "workers never let more calls pass than a limit of %i, although reports are late, workers are killed, and the limit changes",
  async (...limits) => {
    await fc.assert(
      fc.asyncProperty(schedule(limits, true), async ({ workers, steps }) => {
        const scene = new Scene(workers)
        const passed: { readonly terms: Terms; readonly atMs: number }[] = []
        const answered = (terms: Terms, { allowed }: Taken) => {
          if (allowed) passed.push({ terms, atMs: scene.nowMs })
        }
        for (const step of steps) {
          const worker = "worker" in step ? (scene.workers[step.worker] as Worker) : undefined
          if (step.kind === "call")
            for (let time = 0; time < step.times; time++) {
              const taken = worker?.limiter.take("c", step.key, step.max, periodSeconds, step.amount) as Taken
              if (taken instanceof Promise) void taken.then((late) => answered(step, late))
              else answered(step, taken)
            }
          else if (step.kind === "deliver") (step.up ? worker?.toParent : worker?.toWorker)?.deliver()
          else if (step.kind === "report") worker?.report()
          else if (step.kind === "kill") scene.kill(step.worker, step.isRead)
          else {
            // A call of which the parent has decided passes then, and not later.
            await scene.drain()
            scene.nowMs += step.ms
          }
          await sent()
        }
        await scene.drain()
        // Calls with a smaller limit may pass before those with a larger one.
        for (const limit of limits)
          for (const { terms, atMs } of passed) {
            const inWindow = passed.filter(
              (each) =>
                each.terms.key === terms.key &&
                each.terms.max <= limit &&
                each.atMs <= atMs &&
                each.atMs > atMs - periodSeconds * 1000,
            )
            const total = inWindow.reduce((sum, each) => sum + each.terms.amount, 0)
            expect(total).toBeLessThanOrEqual(limit)
          }
      }),
      { numRuns: runs },
    )
  },
)

test("calls far from the limit pass at once, and one message reports those of many keys", async () => {
  const scene = new Scene(2)
  await scene.send(0, "first", 1, 100)
  const { limiter, toParent, report } = scene.workers[0] as Worker
  const before = toParent.received
  for (let key = 0; key < 500; key++)
    expect(limiter.take("c", `key ${key}`, 100, periodSeconds)).toEqual({
      ...{ allowed: true, remaining: 99, resetSeconds: 60 },
    })
  report()
  await scene.drain()
  expect(toParent.received - before).toBe(1)
  expect(await scene.send(1, "key 7", 100, 100)).toBe(99)
})

test("after a report a worker knows what others let pass", async () => {
  const scene = new Scene(2)
  expect([await scene.send(0, "k", 1, 100), await scene.send(1, "k", 50, 100)]).toEqual([1, 50])
  const { limiter, report } = scene.workers[0] as Worker
  // It has not heard of them yet.
  expect(limiter.take("c", "k", 100, periodSeconds)).toMatchObject({ remaining: 99 })
  report()
  await scene.drain()
  scene.nowMs += 10_000
  expect(limiter.take("c", "k", 100, periodSeconds)).toEqual({
    allowed: true,
    remaining: 47,
    resetSeconds: 50,
  })
})

test("a caller far above the limit is refused without a message until a call can pass", async () => {
  const scene = new Scene(2)
  expect(await scene.send(0, "k", 101, 100)).toBe(100)
  const { limiter, toParent } = scene.workers[0] as Worker
  const before = toParent.received
  for (const [afterMs, resetSeconds] of [
    [0, 60],
    [59_000, 1],
  ] as const) {
    scene.nowMs += afterMs
    expect(limiter.take("c", "k", 100, periodSeconds)).toEqual({ allowed: false, remaining: 0, resetSeconds })
  }
  expect(toParent.received).toBe(before)
  scene.nowMs += 1_000
  expect(await scene.send(0, "k", 101, 100)).toBe(100)
})

test("a key whose calls have left the window gets advances again", async () => {
  const scene = new Scene(2)
  expect(await scene.send(0, "k", 101, 100)).toBe(100)
  scene.nowMs += 61_000
  expect(await scene.send(0, "k", 1, 100)).toBe(1)
  expect(scene.workers[1]?.limiter.take("c", "k", 100, periodSeconds)).toBeInstanceOf(Promise)
  await scene.drain()
  expect(scene.workers[0]?.limiter.take("c", "k", 100, periodSeconds)).toMatchObject({ allowed: true })
})

test.each([true, false])(
  "what a killed worker may have let pass counts for a period; its last messages are read: %s",
  async (isRead) => {
    const scene = new Scene(2)
    expect(await scene.send(0, "k", 1, 100)).toBe(1)
    // 100 ÷ 8 ÷ 2 workers.
    for (let time = 0; time < 6; time++)
      expect(scene.workers[0]?.limiter.take("c", "k", 100, periodSeconds)).toMatchObject({ allowed: true })
    if (isRead) scene.workers[0]?.report()
    await sent()
    scene.kill(0, isRead)
    const passed = (await scene.send(1, "k", 200, 100)) + (await scene.send(0, "k", 200, 100))
    // Reported and still reserved, because the parent cannot know that nothing else passed.
    expect(passed).toBe(isRead ? 87 : 93)
    scene.nowMs += 60_001
    expect((await scene.send(1, "k", 50, 100)) + (await scene.send(0, "k", 200, 100))).toBe(100)
  },
)

test("a limit that becomes smaller holds at once, and nothing passes in advance for a period", async () => {
  const scene = new Scene(2)
  expect(await scene.send(0, "k", 38, 400)).toBe(38)
  scene.nowMs += 11_000
  for (const worker of [0, 1, 0, 1]) expect(await scene.send(worker, "other", 1, 40)).toBe(1)
  expect((await scene.send(0, "k", 5, 40)) + (await scene.send(1, "k", 5, 40))).toBe(2)
  scene.nowMs += 72_000
  for (const worker of [0, 1]) expect(await scene.send(worker, "other", 1, 40)).toBe(1)
  expect(scene.workers[1]?.limiter.take("c", "new", 40, periodSeconds)).toMatchObject({ allowed: true })
})

test("calls wait a second for a worker that does not reply, then its allowance counts as used", async () => {
  const scene = new Scene(2)
  for (const worker of [0, 1]) expect(await scene.send(worker, "other", 1, 100)).toBe(1)
  const { limiter, toParent, toWorker } = scene.workers[0] as Worker
  const taken = Array.from({ length: 120 }, () => limiter.take("c", "k", 100, periodSeconds))
  const turns = async () => {
    for (let turn = 0; turn < 8; turn++) {
      await sent()
      toParent.deliver()
      toWorker.deliver()
    }
  }
  await turns()
  vi.advanceTimersByTime(1_000)
  await turns()
  expect((await Promise.all(taken)).filter(({ allowed }) => allowed)).toHaveLength(94)
  // It replies, and has let nothing pass.
  expect(await scene.send(1, "k", 20, 100)).toBe(6)
})

test("a worker whose parent has ended counts on its own", async () => {
  const scene = new Scene(1)
  expect(await scene.send(0, "k", 5, 100)).toBe(5)
  const { limiter, report, parentEnds } = scene.workers[0] as Worker
  void limiter.take("c", "k", 100, periodSeconds)
  parentEnds()
  report()
  await sent()
  expect(await limiter.take("c", "k", 100, periodSeconds)).toMatchObject({ allowed: true, remaining: 99 })
  expect(await limiter.take("c", "k", 100, periodSeconds)).toMatchObject({ allowed: true, remaining: 98 })
})

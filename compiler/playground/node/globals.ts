import { Buffer } from "./buffer.ts"

// What Node.js has as globals. Loaded before anything that was written for Node.js.

/** A timer of Node.js is an object; `unref` has no meaning where no process waits for timers. */
class Timer {
  readonly id: number

  constructor(id: number) {
    this.id = id
  }

  unref(): this {
    return this
  }

  ref(): this {
    return this
  }

  [Symbol.toPrimitive](): number {
    return this.id
  }
}

/** A message is delivered after the microtasks and without the delay of browsers' timers. */
const turns = new MessageChannel()
const waiting: (() => void)[] = []
turns.port1.onmessage = () => waiting.shift()?.()

function setImmediate(run: (...values: unknown[]) => void, ...values: unknown[]): void {
  waiting.push(() => run(...values))
  turns.port2.postMessage(undefined)
}

const { setTimeout: after, setInterval: every, clearTimeout: forget } = globalThis
const numberOf = (timer: unknown): number | undefined =>
  timer instanceof Timer ? timer.id : (timer as number | undefined)

const process = {
  argv: [],
  env: {},
  hrtime: Object.assign(
    () => {
      const nowMs = performance.now()
      return [Math.floor(nowMs / 1000), Math.floor((nowMs % 1000) * 1e6)]
    },
    { bigint: () => BigInt(Math.floor(performance.now() * 1e6)) },
  ),
  nextTick: (run: (...values: unknown[]) => void, ...values: unknown[]) =>
    queueMicrotask(() => run(...values)),
  pid: 1,
  platform: "browser",
  version: "",
  versions: {},
}

type Handler = (...values: unknown[]) => void

Object.assign(globalThis, {
  ...{ Buffer, process, setImmediate },
  setTimeout: (run: Handler, ms?: number, ...values: unknown[]) =>
    new Timer(after(run, ms, ...values) as never),
  setInterval: (run: Handler, ms?: number, ...values: unknown[]) =>
    new Timer(every(run, ms, ...values) as never),
  clearTimeout: (timer: unknown) => forget(numberOf(timer)),
  clearInterval: (timer: unknown) => forget(numberOf(timer)),
})

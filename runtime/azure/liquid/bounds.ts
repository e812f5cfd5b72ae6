import { type Context, type Emitter, type Liquid, type Template, toValue } from "liquidjs"

/** `this` in a filter; see liquidjs. */
export interface FilterScope {
  readonly context: Context
}

type Handler = (this: FilterScope, ...values: unknown[]) => unknown

/** Filters that accept lists or any value unconverted, by either of their names. For other filters, values are converted to text. */
const keepLists: ReadonlySet<string> = new Set([
  ...["join", "last", "first", "reverse", "sort", "sortnatural", "size", "map", "sum", "compact", "concat"],
  ...["push", "unshift", "pop", "shift", "slice", "where", "reject", "whereexp", "rejectexp", "groupby"],
  ...["groupbyexp", "has", "hasexp", "findindex", "findindexexp", "find", "findexp", "uniq", "sample"],
  ...["arraytosentencestring", "default", "json", "jsonify", "inspect", "date", "raw"],
])

/** Limits on the characters and items that a rendering creates: in total, and in one operation, which blocks the process. */
export const madeMax = 4_000_000
const madeAtOnceMax = 500_000
/** Limit on the work of a rendering in units: a character or an item is one unit, a step of a template `unitsOfStep`. */
export const workMax = 20_000_000
const unitsOfStep = 20
/** After this much work, other requests are served. */
export const workOfTurn = 100_000

/** The output and work of a rendering so far. It replaces the limits of liquidjs. */
export class Work {
  #made = 0
  #done = 0
  #turn = 0

  /** Charges for characters or items. liquidjs calls it before it creates them. */
  use(count: unknown): void {
    const made = Number(count)
    if (!(made > 0)) return
    if (made > madeAtOnceMax)
      throw new Error(`it creates more than ${madeAtOnceMax} characters or items in one step`)
    this.#made += made
    if (this.#made > madeMax) throw new Error(`it creates more than ${madeMax} characters and items`)
    this.pay(made)
  }

  /** Charges for a step; liquidjs calls it between parts of a template. */
  check(): void {
    this.pay(unitsOfStep)
  }

  pay(units: number): void {
    this.#done += units
    this.#turn += units
    if (this.#done > workMax) throw new Error("it takes too many steps")
  }

  /** Whether this turn of the event loop has done enough work; if so, a new one starts. */
  endsTurn(): boolean {
    if (this.#turn < workOfTurn) return false
    this.#turn = 0
    return true
  }
}

/** The work of the rendering in which a filter runs. */
export function workOf({ renderLimit }: Context): Work {
  return renderLimit as unknown as Work
}

/** Counts everything that a rendering creates: output like the results of filters, and each filter as a step. liquidjs counts only parts of a template. */
export function boundRendering(engine: Liquid): void {
  const { renderer } = engine
  const render = renderer.renderTemplates
  renderer.renderTemplates = function* (templates: Template[], context: Context, emitter?: Emitter) {
    return (yield* render.call(
      renderer,
      templates,
      context,
      emitter ?? new CountingEmitter(context),
    )) as never
  } as typeof render
  for (const [name, filter] of Object.entries(engine.filters)) {
    const handler = (typeof filter === "function" ? filter : filter.handler) as Handler
    const counted = counting(handler, keepLists.has(name.replaceAll("_", "").toLowerCase()))
    engine.filters[name] = (
      typeof filter === "function" ? counted : { ...filter, handler: counted }
    ) as typeof filter
  }
}

function counting(handler: Handler, keepsLists: boolean): Handler {
  return function (...values) {
    workOf(this.context).check()
    const given = keepsLists
      ? values
      : values.map((each) => (Array.isArray(each) ? textOf(each, this.context) : each))
    return handler.apply(this, given)
  }
}

class CountingEmitter implements Emitter {
  buffer = ""
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  write(value: unknown): void {
    const text = Array.isArray(value) ? textOf(value, this.#context) : shown(value)
    if (!Array.isArray(value)) this.#context.memoryLimit.use(text.length)
    this.buffer += text
  }
}

/** The text of a list in a template: its items without separators. Counted during construction, because a long text can occur in it many times. */
function textOf(list: readonly unknown[], context: Context): string {
  let made = ""
  for (const item of list) {
    const value: unknown = toValue(item)
    const text = Array.isArray(value) ? textOf(value, context) : shown(value)
    if (!Array.isArray(value)) context.memoryLimit.use(text.length)
    made += text
  }
  return made
}

function shown(value: unknown): string {
  const plain: unknown = toValue(value)
  return plain === undefined || plain === null ? "" : String(plain)
}

/**
 * Runs the nested generators of liquidjs and counts each of their steps; filters over lists and property paths run in such steps. A rendering with too
 * much work for one turn of the event loop continues in the next one.
 */
export function runInTurns(started: unknown, work: Work, turn: () => Promise<void>): unknown {
  const running: Generator<unknown, unknown, unknown>[] = []
  let value = started
  let hasFailed = false
  return goOn()

  function goOn(): unknown {
    for (;;) {
      if (!hasFailed && isGenerator(value)) {
        running.push(value)
        value = undefined
      }
      const inner = running.at(-1)
      if (inner === undefined && hasFailed) throw value
      if (inner === undefined) return value
      step(inner)
      if (work.endsTurn()) return turn().then(goOn)
    }
  }

  function step(inner: Generator<unknown, unknown, unknown>): void {
    try {
      if (!hasFailed) work.check()
      // An error goes back to the waiting generator, so that the message contains its place in the template.
      const next = hasFailed ? inner.throw(value) : inner.next(value)
      hasFailed = false
      value = next.value
      if (next.done === true) running.pop()
    } catch (error) {
      running.pop()
      hasFailed = true
      value = error
    }
  }
}

function isGenerator(value: unknown): value is Generator<unknown, unknown, unknown> {
  if (typeof value !== "object" || value === null) return false
  const { next, throw: fail } = value as Partial<Generator>
  return typeof next === "function" && typeof fail === "function"
}

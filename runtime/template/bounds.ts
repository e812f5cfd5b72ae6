import { type Context, type Emitter, type Liquid, type Template, toValue } from "liquidjs"

/** What a filter is called with as `this`; see liquidjs. */
export interface FilterScope {
  readonly context: Context
}

type Handler = (this: FilterScope, ...values: unknown[]) => unknown

/** Filters that take lists as lists, or anything as what it is, by either of their names; what others get is read as text. */
const keepLists: ReadonlySet<string> = new Set([
  ...["join", "last", "first", "reverse", "sort", "sortnatural", "size", "map", "sum", "compact", "concat"],
  ...["push", "unshift", "pop", "shift", "slice", "where", "reject", "whereexp", "rejectexp", "groupby"],
  ...["groupbyexp", "has", "hasexp", "findindex", "findindexexp", "find", "findexp", "uniq", "sample"],
  ...["arraytosentencestring", "default", "json", "jsonify", "inspect", "date", "raw"],
])

/** Fails when the time of the rendering is over. */
export function checkTime({ renderLimit }: Context): void {
  renderLimit.check(performance.now())
}

/**
 * Lets nothing be made that is not counted: what templates write counts like what filters make, and before each filter it is asked whether there is time left. liquidjs
 * asks between parts of a template only.
 */
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
    checkTime(this.context)
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

/** What templates show of a list: its items one behind the other. Counted while it is made: the same long text may be in it many times. */
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
 * Runs what liquidjs gives as generators inside of each other, and asks between their steps whether there is time left: filters that look at each item of a list, and paths of
 * properties, take theirs in such steps.
 */
export function runInTime(started: unknown, inTime: () => void): unknown {
  let steps = 0
  return drive(started)

  function drive(running: unknown): unknown {
    if (!isGenerator(running)) return running
    let given: unknown
    let failed = false
    for (;;) {
      const { done, value } = failed ? running.throw(given) : running.next(given)
      if (done === true) return drive(value)
      failed = false
      try {
        steps += 1
        if (steps % stepsPerLook === 0) inTime()
        given = drive(value)
      } catch (error) {
        // Given back, so that it is told with its place in the template.
        failed = true
        given = error
      }
    }
  }
}

const stepsPerLook = 256

function isGenerator(value: unknown): value is Generator<unknown, unknown, unknown> {
  if (typeof value !== "object" || value === null) return false
  const { next, throw: fail } = value as Partial<Generator>
  return typeof next === "function" && typeof fail === "function"
}

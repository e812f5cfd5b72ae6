import { createHmac } from "node:crypto"
import type { DecidedItem, EndedRequest, EngineOutcome, RequestOrigin } from "../authz/observed.ts"
import { LoadError } from "../gateway/generation/load-error.ts"
import { type Outside, resolveReferences } from "../gateway/generation/references.ts"
import type { EngineLogPlan } from "../plan/authz.ts"
import type { Plan } from "../plan/plan.ts"
import type { Log } from "../telemetry/log.ts"
import { parseTraceparent } from "../tracing/trace-context.ts"
import { LogBudget } from "./log-budget.ts"
import { SlowQuestions, typeOf } from "./slow-questions.ts"

/** Lines at once, and each second: more would slow down the process that answers. */
const rate = { burst: 2_000, perSecond: 1_000 }
/** Methods with a single check. Those of batches come by `decided`. */
const checkMethods: ReadonlySet<string> = new Set(["Check", "Evaluation", "Require"])
/** Ends of a check that are its result, and not a failure before it. */
const results: ReadonlySet<EngineOutcome> = new Set(["allowed", "denied", "undecided"])

interface Settings {
  readonly plan: EngineLogPlan
  /** Key of the hashes of users. */
  readonly key: string | undefined
}

/** Where a request came from, and which answer it got, as fields of a line. */
interface Circumstances {
  readonly origin: RequestOrigin | undefined
  readonly sent: readonly string[] | undefined
  readonly revision: number | undefined
  readonly trace: { readonly traceId: string } | undefined
}

/**
 * The log of the engine, as `authz { log }` of the running plan wants it: requests, decisions, slow questions. Without it, only slow questions have
 * lines. A request that gets no line costs two comparisons. Lines above the rate are counted, and the next one contains their number.
 */
export class EngineLog {
  readonly #log: Log
  readonly #slow: SlowQuestions
  readonly #budget: LogBudget
  readonly #random: () => number
  #settings: Settings | undefined

  /** `log`: for requests and decisions; `faults`: for slow questions. `now`: milliseconds of a monotonic clock. */
  constructor(log: Log, faults: Log, now?: () => number, random: () => number = Math.random) {
    this.#log = log
    this.#slow = new SlowQuestions(faults, now)
    this.#budget = new LogBudget(now, rate)
    this.#random = random
  }

  /**
   * Reads what a plan needs; the result makes it current.
   * @throws LoadError when the key of the hashes is missing
   */
  async prepare({ plan, ...rest }: Plan, outside: Outside): Promise<() => void> {
    const wanted = plan.authz?.log
    const name = typeof wanted?.users === "object" ? wanted.users.secret : undefined
    const read =
      name === undefined ? undefined : await resolveReferences({ plan, ...rest }, new Set([name]), outside)
    const key = name === undefined ? undefined : read?.secrets.get(name)
    if (name !== undefined && key === undefined) throw new LoadError([`the secret \`${name}\` is missing`])
    return () => {
      this.#settings = wanted === undefined ? undefined : { plan: wanted, key }
      this.#slow.bounds = { ms: wanted?.slowMs ?? undefined, steps: wanted?.slowSteps ?? undefined }
    }
  }

  /** `store`: the label of the store. */
  ended(request: EndedRequest, store: string): void {
    this.#slow.ended(request, store)
    const settings = this.#settings
    if (settings === undefined) return
    const { method, outcome, question } = request
    if (settings.plan.requests) this.#writeRequest(request, store)
    if (question !== undefined && checkMethods.has(method) && results.has(outcome))
      this.#decide(settings, { question, outcome }, { method, store, ...circumstancesOf(request) })
  }

  /** The checks of a batch. */
  decided(store: string, items: readonly DecidedItem[], origin: RequestOrigin | undefined): void {
    const settings = this.#settings
    if (settings === undefined || settings.plan.decisions === null) return
    const about = { method: "BatchItem", store, ...circumstancesOf({ origin }) }
    for (const item of items) if (results.has(item.outcome)) this.#decide(settings, item, about)
  }

  #writeRequest(request: EndedRequest, store: string): void {
    const more = this.#enter()
    if (more === undefined) return
    const { method, outcome, durationMs, work } = request
    const ms = durationMs === undefined ? undefined : Math.round(durationMs * 100) / 100
    const done = { ms, steps: work?.steps, pages_used: work?.pagesUsed, pages_read: work?.pagesRead }
    this.#log.info(
      { method, store, outcome, ...done, ...circumstancesOf(request), ...more },
      "engine request",
    )
  }

  #decide(settings: Settings, { question, outcome }: DecidedItem, about: object): void {
    const { decisions } = settings.plan
    if (decisions === null || (decisions < 100 && this.#random() * 100 >= decisions)) return
    const more = this.#enter()
    if (more === undefined) return
    const { user, relation, object } = question
    const asked = { user: shownUser(user, settings), relation, object }
    this.#log.info({ ...about, ...asked, decision: outcome, ...more }, "engine decision")
  }

  /** Undefined: too many lines. Otherwise the number of lines that were left out before, if any. */
  #enter(): { skipped?: number } | undefined {
    if (!this.#budget.take()) {
      this.#budget.skip()
      return undefined
    }
    const skipped = this.#budget.skipped()
    return skipped > 0 ? { skipped } : {}
  }
}

/** The user as the plan wants it: the type alone, a keyed hash of the id, or as it is. */
function shownUser(user: string | undefined, { plan, key }: Settings): string | undefined {
  if (user === undefined || plan.users === "plain") return user
  const type = typeOf(user)
  if (key === undefined || type === undefined) return type
  const [plain = "", relation = ""] = type.split("#")
  const hash = createHmac("sha256", key).update(user).digest("base64url").slice(0, 22)
  return `${plain}:${hash}${relation === "" ? "" : `#${relation}`}`
}

function circumstancesOf({ origin, sent, revision, trace: own }: Partial<Circumstances>) {
  const headers = origin?.headers
  const trace = headers?.traceparent
  const id = origin?.requestId ?? headers?.["x-request-id"]
  return {
    request_id: typeof id === "string" ? id.slice(0, 200) : undefined,
    trace_id: own?.traceId ?? (typeof trace === "string" ? parseTraceparent(trace)?.traceId : undefined),
    caller: origin?.caller?.name,
    model: fieldOf(sent, "Openfga-Authorization-Model-Id"),
    revision: revision ?? numberOf(fieldOf(sent, "Sallyport-Revision")),
  }
}

/** The value of a field in a list where names and values alternate. */
function fieldOf(fields: readonly string[] | undefined, name: string): string | undefined {
  const at = fields?.findIndex((each, index) => index % 2 === 0 && each === name) ?? -1
  return at < 0 ? undefined : fields?.[at + 1]
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

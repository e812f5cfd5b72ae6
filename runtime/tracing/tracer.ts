import { type CallerContext, RequestTrace, type WholeRequest } from "./request-trace.ts"
import type { SpanExporter } from "./span-exporter.ts"
import { isBaggage, isTracestate, parseTraceparent } from "./trace-context.ts"

/** Which traces are exported. Shares are between 0 and 1. */
export interface SamplingRules {
  readonly share: number
  /** Replaces `share` for some APIs. */
  readonly shareOf: ReadonlyMap<string, number>
  /** Keeps every request that failed on the server: a status of 500 to 599, no complete response, or a `grpc-status` that says so. */
  readonly errors: boolean
  /** Keeps every request that takes at least this long, in milliseconds. */
  readonly slowerMs: number | undefined
}

/** The fields of a request that carry a trace; several lines of one field are joined by `, `. */
export interface ContextFields {
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
  readonly baggage: string | undefined
}

/** Counts of a tracer; they only grow. */
export interface ContextCounts {
  /** Fields that were ignored because they were not valid. */
  readonly invalid: { traceparent: number; tracestate: number; baggage: number }
}

/** Decides which requests are recorded, and gives their traces to the exporter. */
export class Tracer {
  readonly #rules: SamplingRules
  readonly #exporter: Pick<SpanExporter, "add">
  readonly #counts: ContextCounts
  readonly #keepsLate: boolean

  constructor(rules: SamplingRules, exporter: Pick<SpanExporter, "add">, counts: ContextCounts) {
    this.#rules = rules
    this.#exporter = exporter
    this.#counts = counts
    this.#keepsLate = rules.errors || rules.slowerMs !== undefined
  }

  /** Reads the fields of a caller, and counts those that are not valid. */
  read({ traceparent, tracestate, baggage }: ContextFields): CallerContext {
    const { invalid } = this.#counts
    const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent)
    if (traceparent !== undefined && parent === undefined) invalid.traceparent += 1
    const isState = tracestate !== undefined && isTracestate(tracestate)
    if (tracestate !== undefined && !isState) invalid.tracestate += 1
    const isBag = baggage !== undefined && isBaggage(baggage)
    if (baggage !== undefined && !isBag) invalid.baggage += 1
    return {
      parent,
      // Without its traceparent it belongs to no trace (W3C Trace Context, section 3.3).
      traceState: parent !== undefined && isState ? tracestate : undefined,
      baggage: isBag ? baggage : undefined,
    }
  }

  /**
   * Begins the trace of a request. A caller's trace is continued. Its sampled flag decides only if the caller is `trusted`: otherwise any client could
   * have all its requests recorded, or hide them.
   */
  begin(caller: CallerContext, trusted: boolean, api: string | undefined): RequestTrace {
    const { parent } = caller
    const sampled = parent !== undefined && trusted ? parent.sampled : this.#isDrawn(api)
    return new RequestTrace(caller, sampled, sampled || this.#keepsLate)
  }

  /** Whether a trace that ends now is exported: it is sampled, or a rule keeps it. */
  keeps(trace: RequestTrace, durationMs: number, failed: boolean): boolean {
    if (!trace.recording) return false
    const { errors, slowerMs } = this.#rules
    return trace.sampled || (errors && failed) || (slowerMs !== undefined && durationMs >= slowerMs)
  }

  /** Exports a trace that has ended. */
  end(trace: RequestTrace, whole: WholeRequest): void {
    this.#exporter.add(trace.json(whole), trace.size)
  }

  /** Drawn at random, and not from the trace id, which the caller may have chosen. */
  #isDrawn(api: string | undefined): boolean {
    const { share, shareOf } = this.#rules
    return Math.random() < ((api === undefined ? undefined : shareOf.get(api)) ?? share)
  }
}

import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { TracingPlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { mayWrite } from "./header.ts"
import { lowerTls } from "./tls.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** As an SDK of OpenTelemetry: a user who tries tracing sees the first request. */
const defaultPercent = 100

/** Where and which requests the gateway traces. Without a valid URL (reported) there is no tracing. */
export function lowerTracing(
  gateway: BoundBlock | undefined,
  values: Values,
  report: Report,
): Pick<NonNullable<PlanBody["gateway"]>, "tracing"> {
  const block = statementOf(gateway, "tracing")?.block
  const otlp = lowerUrl(statementOf(block, "otlp")?.args.text("url"), values, report)
  if (block === undefined || otlp === undefined) return {}
  const otherSide = {
    ...{ name: "the collector", urls: [otlp], url: "the URL" },
    unseen: "",
    without: "there is no server certificate to check: the URL of the collector is `http:`",
  }
  const tls = lowerTls(block, otherSide, undefined, report)
  const tracing: TracingPlan = {
    ...{ otlp, tls, headers: headersOf(block, values, report) },
    ...samplesOf(block, report),
    ...keptOf(block, report),
  }
  values.needIn(tracing)
  return { tracing }
}

/** Reports a second entry with the same name. */
class Once {
  readonly #report: Report
  readonly #seen = new Map<string, Span>()

  constructor(report: Report) {
    this.#report = report
  }

  /** False, and reported: there was one before. */
  isFirst(name: string, span: Span, words: string): boolean {
    const earlier = this.#seen.get(name)
    if (earlier === undefined) this.#seen.set(name, span)
    else
      this.#report.add("SP2016", span, `${words} is given twice`, {
        related: [{ span: earlier, message: "the first" }],
      })
    return earlier === undefined
  }
}

function headersOf(block: BoundBlock, values: Values, report: Report): TracingPlan["headers"] {
  const once = new Once(report)
  return statementsOf(block, "header").flatMap((bound) => {
    const header = bound.args.get("header")
    const secret = bound.args.word("value")?.text
    const name = header?.value as string | undefined
    if (header === undefined || name === undefined || secret === undefined) return []
    const { span } = header.argument
    if (!mayWrite(name, span, "request", report) || !once.isFirst(name, span, `the header \`${name}\``))
      return []
    values.needSecret(secret)
    return [{ name, secret }]
  })
}

/** The general share, and those of APIs. */
function samplesOf(block: BoundBlock, report: Report): Pick<TracingPlan, "sample" | "apis"> {
  const once = new Once(report)
  let sample = defaultPercent
  const apis = new Map<string, number>()
  for (const bound of statementsOf(block, "sample")) {
    const percent = Number(bound.args.value<string>("share"))
    const named = bound.args.words("api")
    if (named.length === 0 && once.isFirst("", headSpan(bound.statement), "the general share"))
      sample = percent
    for (const { text, span } of named)
      if (once.isFirst(text, span, `the share of the API \`${text}\``)) apis.set(text, percent)
  }
  if (apis.size === 0) return { sample }
  return { sample, apis: Object.fromEntries([...apis].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function keptOf(block: BoundBlock, report: Report): Pick<TracingPlan, "errors" | "slowerMs"> {
  const once = new Once(report)
  let kept: Pick<TracingPlan, "errors" | "slowerMs"> = {}
  for (const bound of statementsOf(block, "always")) {
    const slowerMs = bound.args.value<number>("time")
    const word = slowerMs === undefined ? "errors" : "slower"
    if (!once.isFirst(word, headSpan(bound.statement), `\`always ${word}\``)) continue
    kept = { ...kept, ...(slowerMs === undefined ? { errors: true } : { slowerMs }) }
  }
  return kept
}

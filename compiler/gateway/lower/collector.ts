import type { TracingPlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, statementOf, statementsOf } from "../bind/bound.ts"
import { mayWrite } from "./header.ts"
import { lowerTls } from "./tls.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** Where and how a collector of OpenTelemetry is called. Undefined without a valid URL (reported). */
export function lowerCollector(
  block: BoundBlock | undefined,
  values: Values,
  report: Report,
): Pick<TracingPlan, "otlp" | "tls" | "headers"> | undefined {
  const otlp = lowerUrl(statementOf(block, "otlp")?.args.text("url"), values, report)
  if (block === undefined || otlp === undefined) return undefined
  const otherSide = {
    ...{ name: "the collector", urls: [otlp], url: "the URL" },
    unseen: "",
    without: "there is no server certificate to check: the URL of the collector is `http:`",
  }
  const tls = lowerTls(block, otherSide, undefined, report)
  return { otlp, tls, headers: headersOf(block, values, report) }
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

/** Reports a second entry with the same name. */
export class Once {
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

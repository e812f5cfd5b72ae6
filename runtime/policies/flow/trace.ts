import type { Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** Longer texts are truncated: a log line should not contain a body. */
const charactersMax = 4096

/** Maximum length of the source; it is one or two words. */
const sourceMax = 256

/** Writes a line to the log. */
export const trace: Policy<"trace"> = (plan, provision) => {
  const log = provision.traceLog()
  const { severity } = plan
  const source = compileText(plan.source, provision, anyText)
  const message = compileText(plan.message, provision, anyText)
  const metadata = plan.metadata.map(({ name, value }) => ({
    name,
    text: compileText(value, provision, anyText),
  }))
  return (exchange) => {
    const said: Record<string, string> = {}
    for (const { name, text } of metadata) said[name] = text.of(exchange).slice(0, charactersMax)
    log.write({
      requestId: exchange.id,
      source: source.of(exchange).slice(0, sourceMax),
      severity,
      message: message.of(exchange).slice(0, charactersMax),
      metadata: said,
    })
    return undefined
  }
}

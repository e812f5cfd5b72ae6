/** Turns the JSON lines of the log into short lines for people. Unknown lines are passed on unchanged. */
export function humanLine(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line
  }
  if (fields["status"] !== undefined && fields["method"] !== undefined) return requestLine(fields)
  const { level, time: _time, msg, ...rest } = fields
  const more = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`)
  return `${[`${level}:`, msg, ...more].filter((part) => part !== undefined).join(" ")}\n`
}

/** Whether the line of the log is about a request that was refused or failed, by the gateway or by its backend. */
export function isRefusal(line: string): boolean {
  const { status } = JSON.parse(line) as { readonly status?: unknown }
  return typeof status === "number" && (status >= 400 || status === 0)
}

/** `GET /v1/orders/1 403 2.1 ms  forbidden, user:bob is not viewer of order:1`. */
function requestLine(fields: Record<string, unknown>): string {
  const { method, path, status, ms, problem, cause, decision, target, target_path } = fields
  const why = [
    problem,
    cause ?? placeOf(fields),
    decision === undefined ? undefined : decisionText(decision),
    problem === undefined && target !== undefined ? `from ${target}${target_path ?? ""}` : undefined,
  ].filter(Boolean)
  return `${method} ${path} ${status} ${ms} ms${why.length === 0 ? "" : `  ${why.map(shown).join(", ")}`}\n`
}

/** The place of the step that answered; a cause begins with its place already. */
function placeOf({ answered_by }: Record<string, unknown>): unknown {
  return (answered_by as { readonly place?: unknown } | undefined)?.place
}

function decisionText(decision: unknown): string {
  const { user, relation, object, allowed } = decision as Record<string, unknown>
  return `${user} ${allowed === true ? "is" : "is not"} ${relation} of ${object}`
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { FieldLine } from "../../runtime/gateway/in-process/world.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"

/** What became of a request. `facts`: everything that a caller, a backend or a counter would notice, by name. */
export interface RequestOutcome {
  /** `served`: a backend responded; `answered`: the gateway, as the plan says; `refused`: the gateway, with a problem. */
  readonly kind: "served" | "answered" | "refused"
  /** `200 from backend orders`, `403 forbidden`. */
  readonly words: string
  /** The step that responded instead of a backend, and its place; empty: no step did. */
  readonly by: string
  readonly facts: ReadonlyMap<string, string>
}

/** Fields that are different in every request, that say only how long a message is, or that repeat a limit. */
const passing: ReadonlySet<string> = new Set([
  ...["x-request-id", "traceparent", "tracestate", "date", "content-length", "connection", "keep-alive"],
  ...["transfer-encoding", "retry-after", "ratelimit", "ratelimit-policy"],
])

/**
 * Whether two passages surely have equal facts. Far quicker than to write all facts down: most requests of a replay are treated alike. False says
 * nothing, because fields may come in another order.
 */
export function areAlike(a: Passage, b: Passage): boolean {
  return (
    a.response.status === b.response.status &&
    a.finished.backend === b.finished.backend &&
    a.finished.problem === b.finished.problem &&
    a.finished.reason === b.finished.reason &&
    sameFields(a.response.headers, b.response.headers) &&
    (a.finished.problem !== undefined || a.response.body.equals(b.response.body)) &&
    sameList(a.sent, b.sent, sameRequest) &&
    sameList(a.limits, b.limits, sameLimit)
  )
}

function sameList<Each>(
  a: readonly Each[],
  b: readonly Each[],
  same: (left: Each, right: Each) => boolean,
): boolean {
  return a.length === b.length && a.every((each, at) => same(each, b[at] as Each))
}

function sameRequest(a: Passage["sent"][number], b: Passage["sent"][number]): boolean {
  return (
    a.backend === b.backend &&
    a.origin === b.origin &&
    a.method === b.method &&
    a.target === b.target &&
    sameFields(a.headers, b.headers) &&
    a.body.equals(b.body)
  )
}

function sameLimit(a: Passage["limits"][number], b: Passage["limits"][number]): boolean {
  return (
    a.is === b.is &&
    a.counter === b.counter &&
    a.key === b.key &&
    a.callsMax === b.callsMax &&
    a.periodSeconds === b.periodSeconds
  )
}

function sameFields(a: readonly FieldLine[], b: readonly FieldLine[]): boolean {
  return sameList(
    a,
    b,
    ([name, value], [other, text]) => name === other && (value === text || passing.has(name.toLowerCase())),
  )
}

/** Reads the outcome of a request that was sent in process. */
export function outcomeOf({ response, finished, sent, limits }: Passage): RequestOutcome {
  const facts = new Map<string, string>()
  const { backend, problem, reason, answeredBy } = finished
  const kind = problem !== undefined ? "refused" : backend === undefined ? "answered" : "served"
  facts.set("outcome", [kind, response.status, problem ?? "", reason ?? ""].join(" ").trim())
  addFields(facts, "response header", response.headers)
  if (kind !== "refused") facts.set("response body", bodyWords(response.body))
  for (const [at, request] of sent.entries()) {
    const who = request.backend === undefined ? `request to ${request.origin}` : `backend ${request.backend}`
    const name = sent.length === 1 ? "sent" : `sent ${at + 1}`
    facts.set(`${name}: to`, `${who}, ${request.origin}`)
    facts.set(`${name}: request`, `${request.method} ${request.target}`)
    addFields(facts, `${name}: header`, request.headers)
    facts.set(`${name}: body`, bodyWords(request.body))
  }
  for (const { is, counter, key, callsMax, periodSeconds } of limits)
    facts.set(`${is} ${counter}`, `${callsMax ?? "bytes"} per ${periodSeconds} s by ${key}`)
  const from = kind === "served" ? ` from backend ${backend}` : ""
  return {
    kind,
    words: `${response.status}${problem === undefined ? "" : ` ${problem}`}${from}`,
    by:
      answeredBy === undefined
        ? ""
        : [answeredBy.kind, answeredBy.place].filter((each) => each !== "").join(", "),
    facts,
  }
}

function addFields(facts: Map<string, string>, name: string, fields: readonly FieldLine[]): void {
  for (const [field, value] of fields) {
    const lower = field.toLowerCase()
    if (passing.has(lower)) continue
    const key = `${name} ${lower}`
    const before = facts.get(key)
    facts.set(key, before === undefined ? value : `${before}, ${value}`)
  }
}

/** Bodies of problems have the id of the request, so only those of other responses are compared. */
function bodyWords(body: Buffer): string {
  if (body.length === 0) return "none"
  const text = body.toString()
  return text.length <= 60 ? text : `${body.length} bytes (${digestOf(text).slice(7, 19)})`
}

/** One fact that is different. Undefined: that outcome does not have it. */
export interface FactChange {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The differences between two outcomes, in the order in which a request meets them. */
export function factChanges(before: RequestOutcome, after: RequestOutcome): FactChange[] {
  const names = new Set([...before.facts.keys(), ...after.facts.keys()])
  return [...names].flatMap((name) => {
    const [old, next] = [before.facts.get(name), after.facts.get(name)]
    return old === next ? [] : [{ name, before: old, after: next }]
  })
}

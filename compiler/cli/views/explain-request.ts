import type { ExplainRequestAnswer, RefusalAnswer } from "../../../runtime/control/api.ts"
import type {
  ExplainedStep,
  StepState,
  Verdict,
  WebSocketEnds,
} from "../../../runtime/gateway/explain/request-explanation.ts"
import { statementOf } from "../../diff/step-words.ts"

const marks: Readonly<Record<StepState, string>> = {
  passed: "ok  ",
  answered: "STOP",
  unknown: "?   ",
  "not-reached": "-   ",
  shown: "    ",
}

/** A request as a tree: its route and the routes that were not chosen, its steps with their effects, and the result. */
export function requestText(answer: ExplainRequestAnswer): string {
  const { request, route, why, lost, login, sections, verdict, trouble, live } = answer
  const lines = [
    `${request.method} ${request.path} on ${request.host} from ${request.ip}${live ? "" : " (from the plan alone; no running Sallyport was asked)"}`,
    route === null
      ? `${login === undefined ? "no route" : "login"}: ${why}`
      : `route ${route.key}${placed(route.place)}: ${why}`,
    ...(route === null ? [] : routeLines(route)),
    ...lost.map(
      ({ route: key, place, loss, why: reason }) => `  not ${key}${placed(place)} (${loss}): ${reason}`,
    ),
    ...(login?.order ?? []).map((each, at) => `  ${at + 1}. ${each}`),
    ...sections.flatMap(({ name, steps }) => [name, ...steps.flatMap((step) => stepLines(step, 1))]),
    ...trouble.map((each) => `note: ${each}`),
    ...(verdict === null ? ["The outcome is not known here."] : verdictLines(verdict)),
  ]
  return lines.map((line) => `${line}\n`).join("")
}

/** The matched route with the values of its path parameters. */
function routeLines({
  api,
  version,
  operation,
  parameters,
}: NonNullable<ExplainRequestAnswer["route"]>): string[] {
  const of = `  api ${api}${version === null ? "" : ` ${version}`}, operation ${operation}`
  const values = Object.entries(parameters).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return [values.length === 0 ? of : `${of}, ${values.join(", ")}`]
}

/** A step with its notes, and the steps inside of it, indented. */
function stepLines(each: ExplainedStep, depth: number): string[] {
  const { state, place, notes, limit, quota, proof, inside } = each
  const indent = "  ".repeat(depth)
  const below = `${indent}       `
  return [
    `${indent}${marks[state]} ${wordsOf(each)}${placed(place)}`,
    ...(limit === undefined ? [] : [`${below}${limitWords(limit)}`]),
    ...(quota === undefined ? [] : [`${below}${quotaWords(quota)}`]),
    ...proofLines(proof).map((line) => `${below}${line}`),
    ...notes.map((note) => `${below}${note}`),
    ...inside.flatMap(({ place: name, steps }) => insideLines(name, steps, depth)),
  ]
}

function insideLines(name: string, steps: readonly ExplainedStep[], depth: number): string[] {
  if (steps.length === 0) return []
  const lines = steps.flatMap((step) => stepLines(step, depth + 2))
  return name === "steps" || name === "matched"
    ? lines
    : [`${"  ".repeat(depth + 1)}${name === "otherwise" ? "else" : name}`, ...lines]
}

const wordsMax = 100

/** The statement of a step without its inner steps, which have their own lines. */
function wordsOf({ step }: ExplainedStep): string {
  const text = statementOf(step)
  return text.length <= wordsMax ? text : `${text.slice(0, wordsMax - 1)}…`
}

function limitWords({ key, callsMax, remaining, resetSeconds }: NonNullable<ExplainedStep["limit"]>): string {
  if (remaining === undefined) return `counts by ${key}`
  const back = remaining < callsMax && resetSeconds !== undefined ? `, the next in ${resetSeconds} s` : ""
  return `${remaining} of ${callsMax} left for ${key}${back}`
}

/** What a quota has counted; only its key if the counts are not known here. */
function quotaWords(quota: NonNullable<ExplainedStep["quota"]>): string {
  const { key, callsMax, bytesMax, calls, bytes, resetSeconds } = quota
  // Offline the counts are unknown, but not whose calls are counted together.
  if (calls === undefined) return `counts by ${key}`
  const used = [
    ...(callsMax === undefined ? [] : [`${calls} of ${callsMax} calls`]),
    ...(bytesMax === undefined ? [] : [`${bytes} of ${bytesMax} bytes`]),
  ]
  const again = typeof resetSeconds === "number" ? `, filled again in ${resetSeconds} s` : ""
  return `${used.join(" and ")} used by ${key}${again}`
}

/** The question to the engine or decision point, and the explanation of its answer. */
function proofLines(proof: ExplainedStep["proof"]): string[] {
  if (proof === undefined) return []
  // Undefined: the question was built, but not asked (offline).
  const { pdp, user, relation, object, allowed, revision, text } = proof
  if (allowed === undefined)
    return [`asks${pdp === undefined ? "" : ` decision point ${pdp}`}: ${user} ${relation} ${object}?`]
  const lines = text?.trimEnd().split("\n") ?? [
    `${allowed ? "allowed" : "denied"}: ${user} ${relation} ${object}`,
  ]
  return [...lines, `at revision ${revision}`]
}

/** What happens to the request at the end: forwarded, or answered by a step. */
function verdictLines(verdict: Verdict): string[] {
  const assuming = verdict.assuming.map((each) => `  if ${each}`)
  if (verdict.kind === "forwarded") {
    const { backend, method, path, targets, websocket } = verdict
    const states = targets.map(
      ({ origin, health, breaker, outstanding }) =>
        `  ${origin}: health ${health}, breaker ${breaker}, ${outstanding} outstanding`,
    )
    return [
      `The request goes to backend ${backend} as ${method} ${path}; the backend's response is not known here.`,
      ...(websocket === undefined ? [] : websocketLines(websocket)),
      ...states,
      ...assuming,
    ]
  }
  const { status, problem, by, cause } = verdict
  const who = by === undefined ? "the gateway" : `${by.kind}${placed(by.place)}`
  const what = problem === undefined ? String(status) : `${status} ${problem}`
  return [
    `The response is ${what}, from ${who}${cause === undefined ? "." : `: ${firstLine(cause)}`}`,
    ...assuming,
  ]
}

function websocketLines({ idleMs, expireWithToken, closeWhenRemoved }: WebSocketEnds): string[] {
  return [
    "  the request asks for a WebSocket: 101 opens a tunnel, any other response is passed on",
    ...(expireWithToken ? ["  the tunnel ends with the token it was opened with"] : []),
    ...(closeWhenRemoved ? ["  the tunnel ends when the plan no longer has the route"] : []),
    ...(idleMs === null ? [] : [`  the tunnel ends after ${idleMs / 1000} s without a byte`]),
  ]
}

/** Why a request was refused. */
export function refusalText({ refusal, proof }: RefusalAnswer): string {
  const { id, at, method, path, status, problem, answeredBy, decision } = refusal
  const cause = withoutPlace(refusal.cause, answeredBy?.place)
  const who = answeredBy === undefined ? "the gateway" : `${answeredBy.kind}${placed(answeredBy.place)}`
  const fields = (
    ["route", "api", "version", "operation", "user", "subscription", "product", "backend"] as const
  )
    .filter((name) => refusal[name] !== undefined)
    .map((name) => `  ${name}: ${refusal[name]}`)
  const lines = [
    `${method} ${path} at ${at} (${id})`,
    `${status}${problem === undefined ? "" : ` ${problem}`}, by ${who}${cause === undefined ? "" : `: ${firstLine(cause)}`}`,
    ...fields,
    ...(decision === undefined ? [] : askedLines(decision)),
    ...(proof === undefined
      ? []
      : [
          proof.atRefusal
            ? `At revision ${proof.revision}, the revision of the original check:`
            : `Now, at revision ${proof.revision} (the earlier state is no longer stored):`,
          ...proof.text
            .trimEnd()
            .split("\n")
            .map((line) => `  ${line}`),
        ]),
  ]
  return lines.map((line) => `${line}\n`).join("")
}

function askedLines(decision: NonNullable<RefusalAnswer["refusal"]["decision"]>): string[] {
  const { store, pdp, user, relation, object, reason } = decision
  const whom = pdp === undefined ? `in ${store}` : `by decision point ${pdp}`
  return [
    `  asked: ${user} ${relation} ${object} ${whom}`,
    ...(reason === undefined ? [] : [`  it says: ${reason}`]),
  ]
}

/** Removes the step's place from the beginning of a cause: it is needed only if the cause is shown alone. */
function withoutPlace(cause: string | undefined, place: string | undefined): string | undefined {
  return cause?.startsWith(`${place}: `) === true ? cause.slice(`${place}: `.length) : cause
}

function placed(place: string): string {
  return place === "" ? "" : ` (${place})`
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? ""
}

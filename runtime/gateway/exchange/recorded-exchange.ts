import { isIPv6 } from "node:net"
import type { Claims } from "../../identity/verifier.ts"
import { markOf } from "../../record/mark.ts"
import { questionText, type RecordedRequest } from "../../record/recorded-request.ts"
import type { Recorder } from "../generation/recorder-of-plan.ts"
import type { Finished } from "../observer.ts"
import { LeftOut } from "./left-out.ts"
import type { LiveExchange } from "./live-exchange.ts"
import { Recording, rawFieldsOf } from "./recording.ts"

/** Decides whether a request is recorded. Messages of WebSockets and gRPC have no single answer that a replay could compare. */
export function beginRecord(exchange: LiveExchange): void {
  const { generation, id, isGrpc, intake } = exchange
  if (generation.recorder?.takes(id) !== true || isGrpc || intake.wantsWebSocket) return
  exchange.recording = new Recording()
}

/** Records a request that has ended. */
export function endRecord(exchange: LiveExchange, recording: Recording, finished: Finished): void {
  const { recorder } = exchange.generation
  if (recorder === undefined) return
  const left = new LeftOut(exchange, recorder.rules)
  recorder.write(recordedOf(exchange, recording, finished, { recorder, left }), left.hidden)
}

interface Parts {
  readonly recorder: Recorder
  readonly left: LeftOut
}

function recordedOf(
  exchange: LiveExchange,
  { answers, responses }: Recording,
  finished: Finished,
  { recorder, left }: Parts,
): RecordedRequest {
  const { generation, intake, subscriber, claims, ip } = exchange
  const isWhole = recorder.rules.addresses === "whole"
  const known = claims === undefined ? undefined : recordedClaims(claims, recorder)
  const target = left.target(exchange.originalTarget)
  const headers = left.fields(rawFieldsOf(exchange.request.rawHeaders), "header")
  const answered = responses.map((each) => ({ ...each, headers: left.fields(each.headers, "response") }))
  return {
    atMs: finished.startedAtMs,
    plan: generation.plan.digest,
    method: exchange.method,
    target,
    host: exchange.authority,
    headers,
    left: left.names,
    bodyBytes: intake.body === "none" ? 0 : intake.body === "chunked" ? null : intake.body,
    ip: isWhole ? ip : networkOf(ip),
    wholeIp: isWhole,
    caller: markOf(recorder, `caller ${callerOf(exchange)}`),
    ...(known === undefined ? {} : { claims: known.claims, claimsLeft: known.left }),
    ...(subscriber?.name
      ? { subscription: { name: subscriber.name, product: subscriber.product ?? null } }
      : {}),
    answers: answers.map(({ user, allowed, ...asked }) => {
      const text = questionText({ ...asked, user: known?.nameOf?.(user) ?? user })
      return [markOf(recorder, text), allowed ?? null]
    }),
    responses: answered,
    outcome: outcomeOf(finished),
  }
}

function outcomeOf({ route, status, problem, reason, answeredBy, aborted }: Finished) {
  return {
    route: route ?? null,
    status: aborted && status === 0 ? 0 : status,
    problem: problem ?? null,
    reason: reason ?? null,
    by: answeredBy === undefined ? null : ([answeredBy.kind, answeredBy.place] as const),
  }
}

/** Who calls: the credential, otherwise the address. */
function callerOf({ subscriber, claims, caller }: LiveExchange): string {
  if (subscriber?.name) return `subscription ${subscriber.name}`
  const { iss, sub } = claims ?? {}
  return typeof sub === "string" ? JSON.stringify([iss ?? null, sub]) : `address ${caller}`
}

/** Claims that every record has: who issued the token, for whom and when. */
const alwaysKept = ["iss", "aud", "iat", "nbf", "exp"]

/** The listed claims. A subject that is not listed has a pseudonym, because most questions about relations name it. */
function recordedClaims(claims: Claims, recorder: Recorder) {
  const kept: Record<string, unknown> = {}
  const left: string[] = []
  for (const [name, value] of Object.entries(claims)) {
    if (alwaysKept.includes(name) || recorder.rules.claims.includes(name)) kept[name] = value
    else left.push(name)
  }
  const { sub, iss } = claims
  const isHidden = typeof sub === "string" && sub !== "" && left.includes("sub")
  if (!isHidden) return { claims: kept, left, nameOf: undefined }
  const pseudonym = markOf(recorder, `subject ${JSON.stringify([iss ?? null, sub])}`)
  return {
    claims: { ...kept, sub: pseudonym },
    left,
    /** The user of a question with the pseudonym instead of the subject. */
    nameOf: (user: string) => (user.endsWith(`:${sub}`) ? user.slice(0, -sub.length) + pseudonym : user),
  }
}

/** The /24 or /48 of an address in canonical form. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip.replace(/\.\d+$/, ".0")
  const [left = "", right] = ip.split("::")
  const groups = left === "" ? [] : left.split(":")
  const behind = right === undefined || right === "" ? [] : right.split(":")
  const whole = [...groups, ...Array(8 - groups.length - behind.length).fill("0"), ...behind]
  return `${whole.slice(0, 3).join(":")}::`
}

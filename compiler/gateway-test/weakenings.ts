import type { Route } from "../../runtime/plan/resources.ts"
import { factsOf, isAuth, isRelation, kindFacts, type Step } from "../../runtime/plan/steps.ts"

/** A step that protects less than it should. */
export interface WeakerStep {
  /** `auth is left out`, `claim scope is not required`. */
  readonly what: string
  /** Undefined: it is left out. */
  readonly step: Step | undefined
}

/** Settings of WebSockets that protect less than they should. */
export interface WeakerWebSockets {
  readonly what: string
  readonly webSocket: Route["websocket"]
}

/**
 * How a step could be weaker: left out if it guards, with one claim or one question less, with one call more, or with a header that stays. Other steps
 * have none.
 */
export function weakerSteps(step: Step): WeakerStep[] {
  const { kind } = step
  const leftOut = (what: string): WeakerStep => ({ what: `${what} is left out`, step: undefined })
  if (isAuth(step)) return [leftOut(`\`${kind}\``), ...withoutClaims(step)]
  switch (kindFacts(kind).role) {
    case "permission":
      return [leftOut(`\`${kind}\`${isRelation(step) ? ` ${step.relation}` : ""}`), ...withoutQuestions(step)]
    case "limit":
      return [leftOut(`\`${kind}\``), ...withOneMore(step)]
    case "guard":
    case "judge":
      return [leftOut(`\`${kind}\``)]
    case "answer":
      return isDenial(step) ? [leftOut(`\`${kind}\``)] : []
    default:
      return removal(step).map((what) => leftOut(what))
  }
}

/** Settings of WebSockets that protect less than those of a route: opened where they are off, and not closed where the route closes them. */
export function weakerWebSockets(settings: Route["websocket"]): readonly WeakerWebSockets[] {
  if (settings === undefined) return []
  if (settings === null) return [{ what: "`websocket off` is left out", webSocket: undefined }]
  const { idleMs, expireWithToken } = settings
  return [
    ...(idleMs === null ? [] : [{ what: "`idle` is left out", webSocket: { ...settings, idleMs: null } }]),
    ...(expireWithToken
      ? [{ what: "`expire-with-token` is left out", webSocket: { ...settings, expireWithToken: false } }]
      : []),
  ]
}

function withoutClaims(step: Step): WeakerStep[] {
  if (!("claims" in step)) return []
  return step.claims.map((rule, at) => ({
    what: `claim \`${rule.claim}\` is not required`,
    step: { ...step, claims: step.claims.toSpliced(at, 1) } as Step,
  }))
}

function withoutQuestions(step: Step): WeakerStep[] {
  if (step.kind !== "require-all") return []
  return step.steps.map((_, at) => ({
    what: `question ${at + 1} of \`require-all\` is not asked`,
    step: { ...step, steps: step.steps.toSpliced(at, 1) },
  }))
}

/** A test at the edge of a limit notices one call more. */
function withOneMore(step: Step): WeakerStep[] {
  if (!("callsMax" in step) || typeof step.callsMax !== "number") return []
  const { callsMax } = step
  const what = `\`${step.kind}\` allows ${callsMax + 1} instead of ${callsMax}`
  return [{ what, step: { ...step, callsMax: callsMax + 1 } as Step }]
}

/** Whether a step responds that something is not allowed, or not possible. */
function isDenial(step: Step): boolean {
  return "status" in step && typeof step.status === "number" && step.status >= 400
}

/** What a step removes: then something stays that should not be seen. */
function removal(step: Step): string[] {
  if (!("action" in step) || step.action !== "remove" || !("name" in step)) return []
  const isParameter = (factsOf(step).writes ?? []).some((place) => place.startsWith("request.query"))
  const name = typeof step.name === "string" ? step.name : "…"
  return [`removal of ${isParameter ? "parameter" : "header"} \`${name}\``]
}

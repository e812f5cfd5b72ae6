import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { accessRules } from "./access-rules.ts"
import { compareAuth, isAuth } from "./auth-changes.ts"
import { breaking, closes, compareFields, type FieldRules, type Finding, neutral, opens } from "./finding.ts"
import { isImplied } from "./implied.ts"
import { ownOf, same } from "./same.ts"
import { effectsOfAdding, effectsOfRemoving, secretsIn } from "./step-effects.ts"
import { textWords } from "./words.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** What it means that one step stands where another stood; steps of different kinds are one gone and one added. */
export function compareSteps(
  before: Step,
  after: Step,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
): Finding[] {
  if (isAuth(before) && isAuth(after)) return compareAuth(before, after, bodyBefore.steps, bodyAfter.steps)
  if (before.kind === "require" && after.kind === "require") return compareRequire(before, after, bodyAfter)
  if (before.kind === "when" && after.kind === "when") return [whenTest(after, bodyAfter)]
  if (before.kind === "deprecation" && after.kind === "deprecation") return [deprecation(before, after)]
  const rules = before.kind === after.kind ? rulesOf[before.kind as keyof typeof rulesOf] : undefined
  if (rules !== undefined) return compareFields(rules as unknown as FieldRules<Step>, before, after)
  return [...effectsOfRemoving(before, bodyBefore.steps), ...effectsOfAdding(after, bodyAfter.steps)]
}

const headerRules: FieldRules<Fields<"set-header">> = {
  message: (_, after) => neutral(`it is about the ${after} now`),
  name: (_, after) => neutral(`it is about \`${after}\` now`),
  action: (before, after, items) => headerAction(before, after, items.after),
  value: (old, next, { before }) => {
    const request = before.message === "request"
    if (next === undefined) return []
    if (old === undefined) return secretsIn(next)
    return [
      neutral(request ? "the backend gets another value" : "callers get another value"),
      ...(request ? callersDecide(old, next) : []),
      ...secretsIn(next, old),
    ]
  },
}

function headerAction(
  before: StepOf<"set-header">["action"],
  after: StepOf<"set-header">["action"],
  { message, name }: Fields<"set-header">,
): Finding {
  const exclusive = (action: string) => action === "set" || action === "remove"
  if (message === "request") {
    if (exclusive(before) && !exclusive(after))
      return opens(`the caller's own \`${name}\` reaches the backend`)
    if (!exclusive(before) && exclusive(after))
      return closes(`the caller's own \`${name}\` does not reach the backend any more`)
    return neutral(after === "remove" ? `the backend gets no \`${name}\`` : `the backend gets \`${name}\``)
  }
  if (after === "remove") return breaking(`callers do not get \`${name}\` any more`)
  if (exclusive(before) && !exclusive(after)) return opens(`callers see the backend's \`${name}\``)
  return neutral(`callers get another \`${name}\``)
}

const queryRules: FieldRules<Fields<"set-query">> = {
  name: (_, after) => neutral(`it is about \`${after}\` now`),
  action: (_, after, items) =>
    neutral(
      `the backend gets ${after === "remove" ? "no" : "its own"} query parameter \`${items.after.name}\``,
    ),
  value: (before, after) => [
    neutral("the backend gets another value"),
    ...callersDecide(before, after),
    ...secretsIn(after, before),
  ],
}

const hostRules: FieldRules<Fields<"set-host">> = {
  host: (_, after) =>
    typeof after === "object" && "preserve" in after
      ? opens("callers choose the Host header the backend sees")
      : neutral("the backend gets another Host header"),
}

const bodyRules: FieldRules<Fields<"set-body">> = {
  message: (_, after) => breaking(`it is the body of the ${after} now`),
  media: (_, after, items) => bodyChange(items.after, `as ${after}`),
  body: (_, __, items) => bodyChange(items.after, "another"),
}

function bodyChange({ message }: Fields<"set-body">, what: string): Finding {
  const words = what === "another" ? "another body" : `the body ${what}`
  return message === "request" ? neutral(`the backend gets ${words}`) : breaking(`callers get ${words}`)
}

const respondRules: FieldRules<Fields<"respond">> = {
  status: (before, after) => breaking(`callers are answered ${after}, not ${before}`),
  body: () => breaking("callers get another body"),
  headers: (before, after) => {
    const names = (headers: typeof before) => headers.map(({ name }) => name)
    const gone = names(before).filter((name) => !names(after).includes(name))
    return gone.length > 0
      ? breaking(`callers do not get \`${gone.join("`, `")}\` any more`)
      : neutral("callers get other headers")
  },
}

const rulesOf = {
  ...accessRules,
  "set-header": headerRules,
  "set-query": queryRules,
  "set-host": hostRules,
  "set-body": bodyRules,
  respond: respondRules,
  rewrite: {
    path: (before: Text, after: Text) => [
      neutral("the backend is asked for another path"),
      ...callersDecide(before, after),
    ],
  } satisfies FieldRules<Fields<"rewrite">>,
  forward: {
    backend: (before: string | null, after: string | null) =>
      neutral(
        before === null || after === null || before.startsWith("inline-") || after.startsWith("inline-")
          ? "requests go to another backend"
          : `requests go to \`${after}\`, not to \`${before}\``,
      ),
    timeoutMs: () => neutral("the backend has another time for its answer"),
    bufferRequest: () => neutral("bodies of requests are read whole first, or not any more"),
    bufferResponse: () => neutral("bodies of answers are read whole first, or not any more"),
    failOnStatus: () => neutral("what failures of the backend do has changed"),
  } satisfies FieldRules<Fields<"forward">>,
}

/** What was fixed, or said by a token, may be said by whoever calls now. */
function callersDecide(before: Text | undefined, after: Text | undefined): Finding[] {
  return !fromCaller(before) && fromCaller(after) ? [opens("callers decide what it says")] : []
}

function fromCaller(text: Text | undefined): boolean {
  if (text === undefined || typeof text === "string") return false
  return text.text.some(
    (part) =>
      typeof part === "object" && "expression" in part && /\b(request|query)\b/.test(part.expression.text),
  )
}

/** What kind of test it is nobody can tell in general: where something inside refuses or guards, it may not do so any more. */
function whenTest(after: StepOf<"when">, { steps }: PlanBody): Finding {
  const inside = [...after.matched, ...after.otherwise].flatMap((id) =>
    steps[id] === undefined ? [] : effectsOfRemoving(steps[id], steps),
  )
  const worst = inside.find(({ risk }) => risk === "opens") ?? inside.find(({ risk }) => risk === "breaking")
  if (worst === undefined) return neutral("it holds for other requests")
  return { risk: worst.risk, why: `it holds for other requests; for those it leaves out, ${worst.why}` }
}

function deprecation(before: Fields<"deprecation">, after: Fields<"deprecation">): Finding {
  const end = (step: Fields<"deprecation">) => (step.closed ? step.sunset : undefined)
  const [old, next] = [end(before), end(after)]
  if (old === next) return neutral("answers announce something else")
  if (next === undefined) return opens(`not answered 410 from ${old} on any more`)
  if (old === undefined || next < old)
    return breaking(`answered 410 from ${next} on${old === undefined ? "" : `, not from ${old}`}`)
  return opens(`answered 410 from ${next} on, not from ${old}`)
}

function compareRequire(before: StepOf<"require">, after: StepOf<"require">, body: PlanBody): Finding[] {
  const rules: FieldRules<Fields<"require">> = {
    store: (old, next) => opens(`the store \`${next}\` is asked, not \`${old}\``),
    relation: (old, next) => relationChange(old, next, before, after, body),
    object: (_, next) => opens(`another object is asked about: ${textWords(next)}`),
    user: (_, next) => opens(`another user is asked about: ${textWords(next)}`),
  }
  return compareFields(rules, before, after)
}

function relationChange(
  old: string,
  next: string,
  before: StepOf<"require">,
  after: StepOf<"require">,
  { authz, models }: PlanBody,
): Finding {
  const type = typeOf(after.object)
  const model = ownOf(models, ownOf(authz?.stores ?? {}, after.store)?.model ?? "")
  const sure = before.store === after.store && same(before.object, after.object) && model !== undefined
  if (sure && isImplied(model, type, next, old))
    return closes(`who is \`${old}\` but not \`${next}\` is refused; every \`${next}\` is \`${old}\``)
  if (sure && isImplied(model, type, old, next))
    return opens(`who is \`${next}\` passes without being \`${old}\``)
  return opens(
    `who is \`${next}\` passes, and not every \`${next}\` is \`${old}\`; who is only \`${old}\` is refused`,
  )
}

function typeOf(object: Text): string {
  const [first] = typeof object === "string" ? [object] : object.text
  return typeof first === "string" ? (first.split(":", 1)[0] ?? "") : ""
}

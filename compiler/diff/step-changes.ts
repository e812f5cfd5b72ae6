import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { otherBackend } from "../analysis/backend-rules.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { isImplied } from "../analysis/implied.ts"
import { ownOf, same } from "../analysis/same.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import { textWords } from "../analysis/words.ts"
import type { ComparedPlans } from "../gateway/step-text.ts"
import { hasText, type TextKind, textOf } from "../gateway/step-texts.ts"
import { accessRules, askedRules } from "./access-rules.ts"
import { answerRules, headersRules } from "./answer-rules.ts"
import { compareAuth, isAuth } from "./auth-changes.ts"
import { flowRules } from "./flow-rules.ts"
import { effectsOfAdding, effectsOfRemoving } from "./step-effects.ts"
import { validationRules } from "./validation-changes.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** What it means that one step stands where another stood; steps of different kinds are one gone and one added. */
export function compareSteps(
  before: Step,
  after: Step,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
  schemas: SchemaComparison,
): readonly Finding[] {
  if (isAuth(before) && isAuth(after)) return compareAuth(before, after, bodyBefore.steps, bodyAfter.steps)
  if (before.kind === "require" && after.kind === "require") return compareRequire(before, after, bodyAfter)
  if (hasText(before) && before.kind === after.kind)
    return changedText(before, after, { before: bodyBefore, after: bodyAfter, schemas })
  if (before.kind === "deprecation" && after.kind === "deprecation") return [deprecation(before, after)]
  if (before.kind === "forward" && after.kind === "forward")
    return compareForward(before, after, bodyBefore, bodyAfter)
  if (before.kind === "validate-content" && after.kind === "validate-content")
    return compareFields(validationRules["validate-content"](schemas), before, after)
  if (before.kind === "validate-parameters" && after.kind === "validate-parameters")
    return compareFields(validationRules["validate-parameters"](schemas), before, after)
  if (before.kind === "validate-headers" && after.kind === "validate-headers")
    return compareFields(headersRules(schemas), before, after)
  const rules = before.kind === after.kind ? rulesOf[before.kind as keyof typeof rulesOf] : undefined
  if (rules !== undefined) return compareFields(rules as unknown as FieldRules<Step>, before, after)
  return [...effectsOfRemoving(before, bodyBefore.steps), ...effectsOfAdding(after, bodyAfter.steps)]
}

/** Kinds that are compared as a whole, by functions of their own. */
type Whole = "require" | "deprecation" | "validate-content" | "validate-parameters" | "validate-headers"

const rulesOf: { readonly [Kind in Exclude<StepKind, Whole | TextKind>]: FieldRules<Fields<Kind>> } = {
  ...accessRules,
  ...answerRules,
  ...flowRules,
  forward: {
    backend: () => opens("requests go to another backend, with what callers send"),
    hashKey: () => neutral("targets are chosen by another key"),
    timeoutMs: (before, after) => {
      const [was, is] = [before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY]
      if (typeof was === "number" && typeof is === "number" && is > was)
        return neutral("the backend has more time for its answer")
      return closes("an answer may have to come sooner: what is late is answered 504")
    },
    bufferRequest: (_, after) =>
      after === true
        ? closes("bodies of requests that are too large to be read whole are refused")
        : opens("bodies of requests that are too large to be read whole pass"),
    bufferResponse: () => neutral("bodies of answers are read whole first, or not any more"),
    failOnStatus: () => neutral("what failures of the backend do has changed"),
    followRedirects: (_, after) =>
      after === true
        ? opens("requests go where the backend redirects to")
        : breaking("redirects of the backend are the callers' to follow"),
  } satisfies FieldRules<Fields<"forward">>,
}

function changedText(before: Step, after: Step, plans: Omit<ComparedPlans, "effectsOf">): readonly Finding[] {
  const { changed } = textOf(before)
  if (typeof changed !== "function") return compareFields(changed as FieldRules<Step>, before, after)
  const { steps } = plans.after
  const inside = (ids: readonly StepId[]) => ids.flatMap((id) => steps[id] ?? [])
  const effectsOf: ComparedPlans["effectsOf"] = (gone, come) => [
    ...inside(gone).flatMap((step) => effectsOfRemoving(step, steps)),
    ...inside(come).flatMap((step) => effectsOfAdding(step, steps)),
  ]
  return changed(before, after, { ...plans, effectsOf })
}

function compareForward(
  before: StepOf<"forward">,
  after: StepOf<"forward">,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
): Finding[] {
  const [old, next] = [before.backend, after.backend]
  if (old === null || next === null || old === next) return compareFields(rulesOf.forward, before, after)
  const besides = { ...before, backend: next }
  return [
    ...otherBackend(old, next, bodyBefore, bodyAfter),
    ...(same(besides, after) ? [] : compareFields(rulesOf.forward, besides, after)),
  ]
}

function deprecation(before: Fields<"deprecation">, after: Fields<"deprecation">): Finding {
  const end = ({ closed, sunset }: Fields<"deprecation">) => (closed ? (sunset ?? "now") : undefined)
  const [old, next] = [end(before), end(after)]
  if (old === next) return neutral("answers announce something else")
  if (next === undefined) return opens(`not answered 410 from ${old} on any more`)
  if (old === undefined || next === "now" || (old !== "now" && next < old))
    return breaking(`answered 410 from ${next} on${old === undefined ? "" : `, not from ${old}`}`)
  return opens(`answered 410 from ${next} on, not from ${old}`)
}

function compareRequire(before: StepOf<"require">, after: StepOf<"require">, body: PlanBody): Finding[] {
  const rules: FieldRules<Fields<"require">> = {
    ...askedRules,
    relation: (old, next) => relationChange(old, next, before, after, body),
    object: (_, next) => opens(`another object is asked about: ${textWords(next)}`),
    user: (_, next) => opens(`another user is asked about: ${textWords(next)}`),
    tuples: () => opens("other tuples count for this question"),
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
  if (after.pdp !== undefined)
    return opens(
      `who may \`${next}\` passes, not who may \`${old}\`; who that is only the decision point knows`,
    )
  const type = typeOf(after.object)
  const model = ownOf(models, ownOf(authz?.stores ?? {}, after.store ?? "")?.model ?? "")
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

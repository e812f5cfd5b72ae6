import type { TupleKey } from "../../../runtime/check/ports.ts"
import type { AuthorizationModel } from "../../../runtime/plan/authorization-model.ts"
import { counting } from "../../check/random-engine.ts"
import { NaiveEvaluator, no, type Truth } from "../../naive/evaluator.ts"
import { judgeWith } from "../../naive/worlds.ts"
import { noAnswer, type Said } from "./both.ts"

/** A check, and the store it is asked of. */
export interface AskedCheck {
  readonly model: AuthorizationModel
  readonly tuples: readonly TupleKey[]
  readonly objects: readonly string[]
  readonly key: TupleKey
  readonly context: Readonly<Record<string, unknown>>
  readonly contextual: readonly TupleKey[]
}

/** `allow`, `deny`, or the code of the error. */
export function outcomeOf({ status, json }: Said): string {
  if (status === 200) return json.allowed === true ? "allow" : "deny"
  return String(json?.code ?? status)
}

/** What is right by the independent evaluator: `allow`, `deny` or `validation_error`. */
export function rightOutcome(asked: AskedCheck): string {
  const shown = { 0: "deny", 1: "validation_error", 2: "allow" } as const
  return shown[truthOf(asked)]
}

function truthOf({ model, tuples, objects, key, context, contextual }: AskedCheck): Truth {
  return (
    evaluator(model, tuples, objects, key, context, contextual)
      .solve()
      .get(`${key.object}#${key.relation}`) ?? no
  )
}

function evaluator(
  model: AuthorizationModel,
  tuples: readonly TupleKey[],
  objects: readonly string[],
  { user }: TupleKey,
  context: Readonly<Record<string, unknown>>,
  contextual: readonly TupleKey[],
): NaiveEvaluator {
  return new NaiveEvaluator(model, counting(tuples, contextual), objects, user, judgeWith(context, false))
}

/**
 * Why OpenFGA answers otherwise than the semantics say, by a name; undefined when we know of no reason. The names stand in
 * compiler/docs/coming-from/openfga.md.
 */
export function nameOfDifference(asked: AskedCheck, theirs: string): string | undefined {
  const { model, tuples, key } = asked
  const right = rightOutcome(asked)
  if (theirs === noAnswer) return "no answer in time"
  if (theirs === "authorization_model_resolution_too_complex") return "depth or cycle reported as an error"
  if (theirs === "validation_error" && right !== "validation_error")
    return "error though the outcome is certain"
  if (right === "validation_error" && (theirs === "allow" || theirs === "deny"))
    return "answers though a missing value decides"
  const text = JSON.stringify(model)
  const wildcards = [...tuples, ...asked.contextual].some(({ user }) => user.endsWith(":*"))
  if (wildcards && text.includes('"condition"')) return "conditioned wildcard hides a plain tuple"
  if (shadowing(asked)) return "contextual tuple beside the stored one of its key"
  if (text.includes('"difference"') && leadsInCircles(asked)) return "cycle with an exclusion"
  if (key.user.includes("#") || key.user.endsWith(":*")) return "userset or wildcard asked about"
  return undefined
}

function shadowing({ tuples, contextual }: AskedCheck): boolean {
  const keys = new Set(tuples.map(({ object, relation, user }) => `${object}#${relation}@${user}`))
  return contextual.some(({ object, relation, user }) => keys.has(`${object}#${relation}@${user}`))
}

function leadsInCircles({ model, tuples, objects, key, context, contextual }: AskedCheck): boolean {
  const naive = evaluator(model, tuples, objects, key, context, contextual)
  return naive.leadsBeyond(`${key.object}#${key.relation}`, 24)
}

/** Why OpenFGA refuses a model that we take. Its search for entry points shares its marks between branches, so that what it finds depends on their order. */
export function nameOfModelDifference({ status, json }: Said): string | undefined {
  if (status !== 400 || json.code !== "invalid_authorization_model") return undefined
  return /no entrypoints defined|potential loop/.test(json.message)
    ? "model refused for an entry point it has"
    : undefined
}

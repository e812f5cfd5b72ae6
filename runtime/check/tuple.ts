import { checkContext } from "../expression/condition.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { blankOrSurrogate, splitObject } from "./object-name.ts"
import { CheckError, type TupleKey, type TupleRow } from "./ports.ts"

/** The parts of a tuple's user: `relation` is `""` for objects and wildcards, `kind` is `user`, `user:*` or `group#member`. */
export interface Subject {
  readonly object: string
  readonly type: string
  readonly relation: string
  readonly kind: string
}

/** The parts of a user, or its error, either in its form or against the model's names. */
export function readSubject(model: LoadedModel, user: string): Subject | string {
  const hash = user.indexOf("#")
  const object = hash < 0 ? user : user.slice(0, hash)
  const relation = hash < 0 ? "" : user.slice(hash + 1)
  const parts = splitObject(object)
  if (parts === undefined || (hash >= 0 && !isRelation(relation)))
    return /[:#]/.test(user) || user === "" || blankOrSurrogate.test(user)
      ? "the 'user' field is malformed"
      : "the 'user' field must be an object (e.g. document:1) or an 'object#relation' or a typed wildcard (e.g. group:*)"
  const { type, id } = parts
  if (hash >= 0 && id === "*") return "the 'user' field cannot reference a typed wildcard in a userset value"
  const relations = model.types.get(type)
  if (relations === undefined) return `type '${type}' not found`
  if (hash >= 0 && !relations.has(relation)) return `relation '${type}#${relation}' not found`
  const kind = id === "*" ? `${type}:*` : hash < 0 ? type : `${type}#${relation}`
  return { object, type, relation, kind }
}

/** The relation's index in the plan, or the error of object or relation. */
export function readRelation(model: LoadedModel, object: string, relation: string): number | string {
  const parts = splitObject(object)
  if (parts === undefined) return "invalid 'object' field format"
  if (parts.id === "*") return "the 'object' field cannot reference a typed wildcard"
  const relations = model.types.get(parts.type)
  if (relations === undefined) return `type '${parts.type}' not found`
  const index = relations.get(relation)
  if (index !== undefined) return index
  return isRelation(relation)
    ? `relation '${parts.type}#${relation}' not found`
    : "the 'relation' field is malformed"
}

function isRelation(text: string): boolean {
  return text !== "" && !/[:#]/.test(text) && !blankOrSurrogate.test(text)
}

/** `document:1#viewer@user:ann`, the form of tuples in error messages. */
export function tupleText({ object, relation, user }: TupleKey): string {
  return `${object}#${relation}@${user}`
}

/**
 * Whether a model allows this tuple in a write or a question: forms, names, type restrictions, condition and its context. The same rules
 * decide at reading which stored tuples count. Returns the error in OpenFGA's words: `invalid_tuple`, or `validation_error` for errors of
 * the condition.
 */
export function validateTuple(model: LoadedModel, tuple: TupleKey): CheckError | undefined {
  const reason = shapeProblem(model, tuple)
  if (reason !== undefined)
    return new CheckError("invalid_tuple", `Invalid tuple '${tupleText(tuple)}'. Reason: ${reason}`)
  const condition = conditionProblem(model, tuple)
  if (condition === undefined) return undefined
  return new CheckError("validation_error", `Invalid tuple '${tupleText(tuple)}'. Reason: ${condition}`)
}

function shapeProblem(model: LoadedModel, tuple: TupleKey): string | undefined {
  const subject = readSubject(model, tuple.user)
  if (typeof subject === "string") return subject
  const relation = readRelation(model, tuple.object, tuple.relation)
  if (typeof relation === "string") return relation
  if (model.restrictions[relation]?.has(subject.kind)) return undefined
  return restrictionProblem(model, tuple, subject, relation)
}

function restrictionProblem(model: LoadedModel, tuple: TupleKey, subject: Subject, relation: number): string {
  const target = `${splitObject(tuple.object)?.type}#${tuple.relation}`
  if (model.tuplesets.has(relation)) {
    if (subject.relation !== "") return `unexpected user '${tuple.user}' with tupleset relation '${target}'`
    if (subject.kind !== subject.type)
      return `unexpected wildcard relationship with tupleset relation '${target}'`
  }
  if (subject.relation !== "") return `'${subject.kind}' is not an allowed type restriction for '${target}'`
  return subject.kind.endsWith(":*")
    ? `the typed wildcard '${subject.kind}' is not an allowed type restriction for '${target}'`
    : `type '${subject.kind}' is not an allowed type restriction for '${target}'`
}

function conditionProblem(model: LoadedModel, tuple: TupleKey): string | undefined {
  const subject = readSubject(model, tuple.user)
  const relation = readRelation(model, tuple.object, tuple.relation)
  if (typeof subject === "string" || typeof relation === "string") return undefined
  const admitted = model.restrictions[relation]?.get(subject.kind)
  const name = tuple.condition?.name ?? ""
  if (name === "") return admitted?.has("") ? undefined : "condition is missing"
  const condition = new Map(Object.entries(model.plan.model.conditions ?? {})).get(name)
  if (condition === undefined) return "undefined condition"
  if (!admitted?.has(name)) return "invalid condition for type restriction"
  const context = tuple.condition?.context
  if (context === undefined) return undefined
  return checkContext(condition, context)
}

/** A tuple in the form of the store and the graph. */
export function rowOf({ user, relation, object, condition }: TupleKey): TupleRow {
  const hash = user.indexOf("#")
  const context = condition?.context
  return [
    object,
    relation,
    hash < 0 ? user : user.slice(0, hash),
    hash < 0 ? "" : user.slice(hash + 1),
    condition?.name ?? "",
    context === undefined || Object.keys(context).length === 0 ? "" : JSON.stringify(context),
  ]
}

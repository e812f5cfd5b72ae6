import type { LoadedModel } from "../check/loaded-model.ts"
import type { TupleKey } from "../check/ports.ts"
import { checkContext } from "../expression/condition.ts"
import type { Userset } from "../plan/authorization-model.ts"
import { ApiError } from "./api-error.ts"
import { tupleText } from "./tuple-keys.ts"

const objectForm = /^[^:#\t\n\f\r ]+:[^:#\t\n\f\r ]+$/
const usersetForm = /^[^:#\t\n\f\r ]+:[^:#\t\n\f\r ]+#[^:#\t\n\f\r ]+$/
const bareForm = /^[^:#\t\n\f\r ]+$/

/** A tuple that is to be written, judged by the model in force. Sentences are OpenFGA's. @throws ApiError `validation_error` */
export function validateTuple(model: LoadedModel, key: TupleKey): void {
  const reason =
    userFault(model, key.user) ??
    objectFault(model, key) ??
    tuplesetFault(model, key) ??
    restrictionFault(model, key) ??
    conditionFault(model, key)
  if (reason !== undefined) throw invalidTuple(key, reason)
}

/** For a delete the model does not matter: what an older model allowed must be removable. */
export function validateDelete(key: TupleKey): void {
  if (!isUser(key.user)) throw invalidTuple(key, "the 'user' field is malformed")
}

function invalidTuple(key: TupleKey, reason: string): ApiError {
  return new ApiError("validation_error", `Invalid tuple '${tupleText(key)}'. Reason: ${reason}`)
}

function isUser(user: string): boolean {
  return objectForm.test(user) || usersetForm.test(user) || bareForm.test(user)
}

function userFault(model: LoadedModel, user: string): string | undefined {
  if (!isUser(user)) return "the 'user' field is malformed"
  if (bareForm.test(user))
    return "the 'user' field must be an object (e.g. document:1) or an 'object#relation' or a typed wildcard (e.g. group:*)"
  const { type, id, relation } = partsOf(user)
  if (relation !== "" && id === "*")
    return "the 'user' field cannot reference a typed wildcard in a userset value"
  if (!model.types.has(type)) return `type '${type}' not found`
  if (relation !== "" && model.relationIndex(type, relation) < 0)
    return `relation '${type}#${relation}' not found`
  return undefined
}

function objectFault(model: LoadedModel, { object, relation }: TupleKey): string | undefined {
  if (!objectForm.test(object)) return "invalid 'object' field format"
  const { type, id } = partsOf(object)
  if (id === "*") return "the 'object' field cannot reference a typed wildcard"
  if (!model.types.has(type)) return `type '${type}' not found`
  if (model.relationIndex(type, relation) < 0) return `relation '${type}#${relation}' not found`
  return undefined
}

function tuplesetFault(model: LoadedModel, { user, relation, object }: TupleKey): string | undefined {
  const name = `${partsOf(object).type}#${relation}`
  if (!tuplesetsOf(model).has(name)) return undefined
  const { id, relation: userRelation } = partsOf(user)
  if (id === "*") return `unexpected wildcard relationship with tupleset relation '${name}'`
  return userRelation === "" ? undefined : `unexpected user '${user}' with tupleset relation '${name}'`
}

/** The conditions under which this kind of user may stand here; undefined: under none at all. */
function admitted(model: LoadedModel, { user, relation, object }: TupleKey): ReadonlySet<string> | undefined {
  const { type, id, relation: userRelation } = partsOf(user)
  const kind = userRelation !== "" ? `${type}#${userRelation}` : id === "*" ? `${type}:*` : type
  return model.restrictions[model.relationIndex(partsOf(object).type, relation)]?.get(kind)
}

function restrictionFault(model: LoadedModel, key: TupleKey): string | undefined {
  if (admitted(model, key) !== undefined) return undefined
  const name = `${partsOf(key.object).type}#${key.relation}`
  const { type, id, relation } = partsOf(key.user)
  if (relation !== "") return `'${type}#${relation}' is not an allowed type restriction for '${name}'`
  if (id === "*") return `the typed wildcard '${key.user}' is not an allowed type restriction for '${name}'`
  return `type '${type}' is not an allowed type restriction for '${name}'`
}

function conditionFault(model: LoadedModel, key: TupleKey): string | undefined {
  const conditions = admitted(model, key)
  const { condition } = key
  if (condition === undefined) return conditions?.has("") ? undefined : "condition is missing"
  const declared = model.plan.model.conditions ?? {}
  if (!Object.hasOwn(declared, condition.name)) return "undefined condition"
  if (!conditions?.has(condition.name)) return "invalid condition for type restriction"
  const source = declared[condition.name]
  return source === undefined ? undefined : checkContext(source, condition.context ?? {})
}

/** `type:id#relation` taken apart; no relation is empty. */
function partsOf(user: string): { type: string; id: string; relation: string } {
  const colon = user.indexOf(":")
  const hash = user.indexOf("#")
  return {
    type: user.slice(0, colon),
    id: user.slice(colon + 1, hash < 0 ? undefined : hash),
    relation: hash < 0 ? "" : user.slice(hash + 1),
  }
}

const tuplesets = new WeakMap<LoadedModel, ReadonlySet<string>>()

/** Relations that some `x from relation` reads, as `type#relation`. */
function tuplesetsOf(model: LoadedModel): ReadonlySet<string> {
  const known = tuplesets.get(model)
  if (known !== undefined) return known
  const found = new Set<string>()
  for (const { type, relations } of model.plan.model.type_definitions) {
    for (const rewrite of Object.values(relations ?? {})) {
      for (const relation of tuplesetsIn(rewrite)) found.add(`${type}#${relation}`)
    }
  }
  tuplesets.set(model, found)
  return found
}

/** The nesting of a model is bounded where it is read. */
function tuplesetsIn(rewrite: Userset): readonly string[] {
  if ("tupleToUserset" in rewrite) return [rewrite.tupleToUserset.tupleset.relation]
  if ("union" in rewrite) return rewrite.union.child.flatMap(tuplesetsIn)
  if ("intersection" in rewrite) return rewrite.intersection.child.flatMap(tuplesetsIn)
  if ("difference" in rewrite)
    return [rewrite.difference.base, rewrite.difference.subtract].flatMap(tuplesetsIn)
  return []
}

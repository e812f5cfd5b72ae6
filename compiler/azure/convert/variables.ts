import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, constant, inside, negated, optional } from "./cel.ts"
import { none, pathOf, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>

/** Variables of the exchange, and members of a response in one of them. Returns undefined for other members. @throws NoCounterpart */
export function variableOf(node: Call, translation: Translation): Cel | undefined {
  if (Object.hasOwn(ofResponse, node.member)) return responseOf(node, translation)
  if (pathOf(node.on) !== "Variables") return undefined
  const [key] = node.args
  if (key?.k !== "const" || typeof key.value !== "string")
    return none("a variable whose name is not constant")
  const known = translation.around.variable(key.value)
  if (known === undefined)
    return none(`the variable \`${key.value}\`, which nothing in the text sets, or not always`)
  const isSet = cel(`has(var.${known.name})`, "bool")
  if (node.member === "IVariables.ContainsKey(string)") return isSet
  const value = cel(`var.${known.name}`, known.kind, {
    total: false,
    nullable: known.nullable || known.kind === "response" || known.kind === "dyn",
    ...(known.kind === "json" ? { whole: "map" as const } : {}),
  })
  if (node.member === "IVariables.this(string)") {
    if (!known.isSet)
      translation.notes.add("a variable that was not set is null in the document; here the call fails")
    return value
  }
  if (!node.member.startsWith("IVariables.GetValueOrDefault")) return undefined
  return value.kind === "dyn"
    ? unknownWithDefault(node, value, isSet, translation)
    : withDefault(node, value, isSet, translation)
}

const defaults: Readonly<Record<string, Cel>> = {
  bool: constant(false),
  int: constant(0),
}

/** A string or boolean from a variable of unknown type. Null counts as unset. Other types have no value here. */
function unknownWithDefault(node: Call, value: Cel, isSet: Cel, translation: Translation): Cel {
  const [type] = node.types ?? []
  const given = node.args[1] === undefined ? undefined : translation.node(node.args[1])
  const isThere = cel(`${isSet.text} && ${value.text} != null`, "bool", { binds: binds.and, total: true })
  translation.notes.add("a variable of unknown type must have the requested type, otherwise the call fails")
  if (type === "bool") {
    const found = cel(`${value.text} ? true : false`, "bool", { binds: binds.choice, total: false })
    const otherwise = given ?? constant(false)
    return otherwise.kind === "bool" ? choice(isThere, found, otherwise) : none("a default of another type")
  }
  if (type !== "string") return none("a variable that may be of another type")
  const text = cel(`"" + ${value.text}`, "string", { binds: binds.sum, total: false })
  if (given === undefined || given.kind === "null") return optional(negated(isThere), text)
  return given.kind === "string" ? choice(isThere, text, given) : none("a default of another type")
}

/** The library has special rules for numbers other than int and for null strings, so those have no counterpart. */
function withDefault(node: Call, value: Cel, isSet: Cel, translation: Translation): Cel {
  const [type] = node.types ?? []
  const given = node.args[1] === undefined ? undefined : translation.node(node.args[1])
  const isNull = given === undefined || given.kind === "null"
  // Null when the variable is unset, or set to null.
  if (value.nullable && isNull && value.kind === "string" && (type === undefined || type === "string"))
    return { ...choice(isSet, { ...value, total: true }, constant("")), nullable: true }
  if (value.nullable || (type !== undefined && type !== value.kind))
    return none("a variable that may be of another type")
  const otherwise = given ?? (type === undefined ? undefined : defaults[type])
  const isText = value.kind === "string" && (type === undefined || type === "string")
  if (otherwise === undefined || (otherwise.kind === "null" && isText)) {
    if (!isText) return none("a variable that may be of another type")
    return optional(negated(isSet), { ...value, total: true })
  }
  if (otherwise.kind !== value.kind) return none("a default of another type")
  return choice(isSet, { ...value, total: true }, otherwise)
}

const ofResponse: Readonly<Record<string, { field: string; kind: Cel["kind"] }>> = {
  "IResponse.StatusCode": { field: "status", kind: "int" },
  "IResponse.StatusReason": { field: "reason", kind: "string" },
}

function responseOf(node: Call, translation: Translation): Cel | undefined {
  if (pathOf(node.on) !== undefined) return undefined
  const response = node.on === undefined ? undefined : translation.node(node.on)
  const read = ofResponse[node.member]
  if (response?.kind !== "response" || read === undefined)
    return none("a part of a value that may not be a response")
  return cel(`${inside(response, binds.primary)}.${read.field}`, read.kind, { total: false })
}

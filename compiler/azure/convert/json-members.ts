import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { isReservedInExpressions } from "../../gateway/bind/names.ts"
import {
  binds,
  type Cel,
  cel,
  choice,
  compared,
  constant,
  either,
  eitherOf,
  inside,
  literal,
  negated,
  optional,
} from "./cel.ts"
import { none, pathOf, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>
type Member = (node: Call, translation: Translation) => Cel

/** Bodies and JSON in them. Returns undefined for other members. @throws NoCounterpart */
export function jsonMember(node: Call, translation: Translation): Cel | undefined {
  const found = Object.hasOwn(members, node.member) ? members[node.member] : undefined
  return found?.(node, translation)
}

const target = (node: Call): CsNode => node.on ?? none("JSON")

const strict =
  "where JSON is read: JSON that only Newtonsoft accepts, a value of another type than expected, or a date fails the call"

/** The message as `request`, `response` or `var.reply`. */
function messageOf(node: CsNode | undefined, translation: Translation): string {
  if (node?.k !== "call") return none("a body")
  const path = pathOf(node)
  if (path === "Request.Body") return "request"
  if (path === "Response.Body") {
    const { section } = translation.around
    return section === "outbound" || section === "on-error"
      ? "response"
      : none(`\`context.Response.Body\` in \`${section}\``)
  }
  const response =
    node.member === "IResponse.Body" && node.on !== undefined ? translation.node(node.on) : undefined
  return response?.kind === "response"
    ? inside(response, binds.primary)
    : none("a part of a value that may not be a response")
}

/** A body read as a type. CEL reads JSON strictly, and Newtonsoft does not: the difference is noted. */
const body: Member = (node, translation) => {
  const message = messageOf(node.on, translation)
  const [type] = node.types ?? []
  const text = cel(`${message}.text`, "string", { total: false })
  if (type === "string") return text
  if (type !== "JObject" && type !== "JToken" && type !== "JArray") return none(`a body as \`${type}\``)
  translation.notes.add(strict)
  const json = cel(`${message}.body`, "json", { total: false })
  if (type !== "JObject") return json
  // A body that exists but is not an object has no value in either language.
  const absent = choice(compared(text, "==", constant("")), constant(true), nullIn(wholeOf(json)))
  return { ...json, nullable: true, absent, whole: "map", sent: text }
}

/** The text of a body that is an object, as it was sent. Undefined for other JSON. */
export function sentText({ sent, text: json }: Cel): Cel | undefined {
  // Newtonsoft would rewrite dates.
  const isDate = `t.matches(${literal('"\\d{4}-\\d{2}-\\d{2}T')})`
  return sent === undefined
    ? undefined
    : cel(`[${sent.text}].filter(t, type(${json}) == map && !${isDate})[0]`, "string", { total: false })
}

/** The whole object. Has no value when the body is not an object. */
export function wholeOf(json: Cel): Cel {
  return cel(`[${json.text}].filter(o, type(o) == map)[0]`, "json", { total: false, whole: "map" })
}

function jsonOf(node: CsNode, translation: Translation): Cel {
  const value = translation.node(node)
  return value.kind === "json" ? value : none("what may be no JSON")
}

/** A member of an object or an item of a list. Null in C# when an object has no such member; no value when it is not an object. */
function within(base: Cel, key: string | number): Cel {
  const from = inside(base, binds.primary)
  if (typeof key === "number") return cel(`${from}[${key}]`, "json", { total: false })
  const isName = /^[A-Za-z_]\w*$/.test(key) && !isReservedInExpressions(key)
  const text = isName ? `${from}.${key}` : `${from}[${literal(key)}]`
  const lacks = negated(
    isName
      ? cel(`has(${text})`, "bool", { total: false })
      : cel(`${literal(key)} in ${from}`, "bool", { binds: binds.relation, total: false }),
  )
  if (base.whole === "map" && !base.nullable)
    return cel(text, "json", { total: false, nullable: true, absent: lacks })
  const isMap = cel(`type(${base.text}) == map`, "bool", { binds: binds.relation, total: false })
  const absent = choice(isMap, lacks, nullIn(cel(text, "json", { total: false })))
  return cel(text, "json", { total: false, nullable: true, absent, lacks: both(isMap, lacks) })
}

function both(a: Cel, b: Cel): Cel {
  return cel(`${inside(a, binds.and)} && ${inside(b, binds.and)}`, "bool", { binds: binds.and, total: false })
}

const item: Member = (node, translation) => {
  const base = jsonOf(target(node), translation)
  const [key] = node.args
  const name = key === undefined ? undefined : translation.node(key).constant
  return typeof name === "string" || typeof name === "number"
    ? within(base, name)
    : none("a name that is not written out")
}

/** `a.b` of an object. Null when there is no such member. */
const selected: Member = (node, translation) => {
  const base = jsonOf(target(node), translation)
  const [path] = node.args
  const names = path?.k === "const" && typeof path.value === "string" ? path.value : ""
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(names)) return none(`the path \`${names}\` into JSON`)
  return names.split(".").reduce((from, name) => {
    const made = within(from, name)
    return from === base || from.absent === undefined || made.absent === undefined
      ? made
      : { ...made, absent: either(from.absent, made.absent), lacks: either(from.absent, made.absent) }
  }, base)
}

const isThere: Member = (node, translation) => {
  const { absent } = item(node, translation)
  return absent === undefined ? none("a member of JSON") : negated(absent)
}

/** A text that Newtonsoft does not parse as a date. No value when it is not a text. */
function textIn({ text }: Cel): Cel {
  return cel(`[${text}].filter(t, !t.matches("^\\\\d{4}-\\\\d{2}-\\\\d{2}T"))[0]`, "string", { total: false })
}

function nullIn(value: Cel): Cel {
  return compared(value, "==", constant(null))
}

/** The cast: null of C# and null of JSON both become null. */
function cast(value: Cel, { notes }: Translation): Cel {
  notes.add(strict)
  const isNull = nullIn(value)
  // When the parent is not an object, the member counts neither as missing nor as null: the cast has no value.
  const lacks = value.lacks ?? value.absent
  return optional(lacks === undefined ? isNull : eitherOf(lacks, isNull), textIn(value), true)
}

const castText: Member = (node, translation) =>
  cast(jsonOf(node.args[0] ?? none("JSON"), translation), translation)

/** A missing member has no value; null gives the empty text. */
const text: Member = (node, translation) => {
  const value = jsonOf(target(node), translation)
  if (value.whole !== undefined) return none("JSON that is written again")
  translation.notes.add(strict)
  const { absent: _absent, present: _present, ...made } = optional(nullIn(value), textIn(value))
  return { ...made, nullable: false }
}

/** A cast to a value type. */
const castWhole =
  (check: (value: Cel) => Cel): Member =>
  (node, translation) => {
    translation.notes.add(strict)
    return check(jsonOf(node.args[0] ?? none("JSON"), translation))
  }

/** An integer within 32 bits, which may be written as a text. */
function wholeNumber({ text: from }: Cel): Cel {
  return cel(
    `[${from}].filter(n, double(n) == double(int(n))).map(n, int(n)).filter(n, n >= -2147483648 && n <= 2147483647)[0]`,
    "int",
    { total: false },
  )
}

function yesOrNo(value: Cel): Cel {
  return cel(`${inside(value, binds.or)} ? true : false`, "bool", { binds: binds.choice, total: false })
}

/** `Value<string>()`, with or without a name. */
const typedValue: Member = (node, translation) => {
  if (node.types?.[0] !== "string") return none("`Value` of a value that is not a string")
  if (node.args.length > 0) return cast(item(node, translation), translation)
  const { absent: _absent, lacks: _lacks, ...value } = jsonOf(target(node), translation)
  return cast(value, translation)
}

/** By the id of the member in the C# library. */
const members: Readonly<Record<string, Member>> = {
  "IMessageBody.As<1>(bool)": body,
  "JObject.this(string)": item,
  "JToken.this(object)": item,
  "JArray.this(int)": item,
  "JToken.SelectToken(string)": selected,
  "JObject.ContainsKey(string)": isThere,
  "JToken.op_Explicit(JToken):string": castText,
  "JToken.op_Explicit(JToken):int": castWhole(wholeNumber),
  "JToken.op_Explicit(JToken):bool": castWhole(yesOrNo),
  "JToken.ToString()": text,
  "JToken.Value<1>(object)": typedValue,
  "JToken.Value<1>()": typedValue,
}

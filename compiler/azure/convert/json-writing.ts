import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, constant, literal } from "./cel.ts"
import { sentText } from "./json-members.ts"
import { none, type Translation } from "./translation.ts"

type Call = Extract<CsNode, { k: "call" }>
type Fields = ReadonlyMap<string, Cel>

/** JSON that a document builds, and its text. Returns undefined for other members. @throws NoCounterpart */
export function writtenJson(node: Call, translation: Translation): Cel | undefined {
  const { member } = node
  if (member === "JObject.new()") return objectOf(new Map())
  if (member === "JObject.new(params object[])") return objectOf(propertiesOf(node, translation))
  if (member === "JArray.new()") return listOf([])
  if (member === "JArray.new(params object[])")
    return listOf(itemsOf(node).map((item) => memberOf(item, translation)))
  if (member === "JObject.FromObject(object)" || member === "JToken.FromObject(object)")
    return memberOf(node.args[0] ?? none("JSON"), translation)
  if (member === "JsonConvert.SerializeObject(object)")
    return jsonText(memberOf(node.args[0] ?? none("JSON"), translation))
  if (member !== "JToken.ToString()" && member !== "JToken.ToString(Formatting)") return undefined
  const made = node.on === undefined ? undefined : translation.node(node.on)
  return made?.written === undefined && made?.sent === undefined ? undefined : jsonText(made)
}

/** `object["name"] = value` and `object.Add("name", value)`: the object with the new member. Returns undefined for other calls. */
export function withProperty(
  node: CsNode,
  translation: Translation,
): { slot: number; made: Cel } | undefined {
  if (node.k !== "call" || node.on?.k !== "local") return undefined
  const isAdded = node.member === "JObject.Add(string,JToken)" || node.member === "JObject.Add(object)"
  if (!isAdded && node.member !== "JObject.this(string)=") return undefined
  const { slot } = node.on
  const fields = translation.locals.get(slot)?.written
  if (!(fields instanceof Map)) return none("statements")
  const [[name, value]] = [propertyOf(node.args, translation)]
  if (isAdded && fields.has(name)) return none("a member that is added twice")
  return { slot, made: objectOf(new Map([...fields, [name, value]])) }
}

function itemsOf({ args: [only] }: Call): readonly CsNode[] {
  return only?.k === "array" ? only.items : none("JSON built from a list")
}

/** The members of an object that the document builds. CEL has no object with one name twice. */
function propertiesOf(node: Call, translation: Translation): Fields {
  const pairs = itemsOf(node).map((item) => {
    const property = item.k === "convert" ? item.on : item
    return property.k === "call" && property.member === "JProperty.new(string,object)"
      ? propertyOf(property.args, translation)
      : none("JSON built from something other than properties")
  })
  const fields = new Map(pairs)
  return fields.size === pairs.length ? fields : none("a member that is added twice")
}

function propertyOf([name, value]: readonly CsNode[], translation: Translation): [string, Cel] {
  if (name?.k !== "const" || typeof name.value !== "string" || value === undefined)
    return none("a name that is not written out")
  return [name.value, memberOf(value, translation)]
}

/** A text, integer, boolean, null, or JSON made of them. */
function memberOf(node: CsNode, translation: Translation): Cel {
  if (node.k === "convert" && (node.to === "object" || node.to === "JToken"))
    return memberOf(node.on, translation)
  if (node.k === "call" && /^JToken\.op_Implicit\((?:string|int|bool)\):JToken$/.test(node.member))
    return memberOf(node.args[0] ?? none("JSON"), translation)
  if (node.k === "anonymous")
    return objectOf(
      new Map(node.names.map((name, at) => [name, memberOf(node.items[at] as CsNode, translation)])),
    )
  const value = translation.node(node)
  if (value.written !== undefined || value.kind === "null") return value
  if (value.kind === "string" && value.absent !== undefined)
    return choice(value.absent, dynamic(constant(null)), dynamic(value.present ?? value))
  const isData =
    (["string", "int", "bool"].includes(value.kind) || value.exact === true) &&
    !value.nullable &&
    value.absent === undefined
  return isData ? value : none("a JSON member that is not a string, whole number or boolean")
}

function dynamic({ text, total }: Cel): Cel {
  return cel(`dyn(${text})`, "dyn", { total })
}

function objectOf(fields: Fields): Cel {
  const members = [...fields].map(([name, value]) => `${literal(name)}: ${value.text}`)
  return written(`{${members.join(", ")}}`, [...fields.values()], fields)
}

function listOf(items: readonly Cel[]): Cel {
  return written(`[${items.map(({ text }) => text).join(", ")}]`, items, items)
}

function written(text: string, parts: readonly Cel[], of: Fields | readonly Cel[]): Cel {
  return cel(text, "json", { binds: binds.primary, total: parts.every(({ total }) => total), written: of })
}

/** The text of built JSON: the same JSON, but white space may differ. */
export function jsonText(json: Cel): Cel {
  const sent = sentText(json)
  if (sent !== undefined) return cel("", "string", { total: false, writes: sent })
  if (json.written === undefined) return none("JSON that is written again")
  return cel("", "string", { total: json.total, writes: json })
}

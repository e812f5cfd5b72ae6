import type { CsNode } from "../../runtime/plan/csharp.ts"
import { binds, type Cel, cel, choice, inside, literal } from "./cel.ts"
import { none, pathOf, shortName, type Translation, texts } from "./translation.ts"
import { variableOf } from "./variables.ts"

type Call = Extract<CsNode, { k: "call" }>

/** A member of the library, where CEL has the same. @throws NoCounterpart */
export function memberOf(node: Call, translation: Translation): Cel {
  const path = pathOf(node)
  const known = path === undefined ? undefined : fact(path, translation)
  if (known !== undefined) return known
  return (
    variableOf(node, translation) ??
    listed(node, translation) ??
    method(node, translation) ??
    none(`\`${shortName(node.member)}\``)
  )
}

interface Fact {
  readonly text: string
  readonly kind?: Cel["kind"]
  readonly ascii?: true
  /** What makes it something else when a document changes it. */
  readonly unless?: string
  readonly sections?: readonly string[]
}

const behind = ["outbound", "on-error"]
const failed = ["on-error"]

/** What both languages know of the exchange, always. */
const facts: Readonly<Record<string, Fact>> = {
  "Request.Method": { text: "request.method", ascii: true, unless: "method" },
  "Request.IpAddress": { text: "request.ip", ascii: true },
  "Request.Url.Path": { text: "request.path", unless: "path" },
  "Request.OriginalUrl.Path": { text: "request.path" },
  "Request.Url.Host": { text: "request.host", unless: "backend" },
  "Request.OriginalUrl.Host": { text: "request.host" },
  "Request.Url.Scheme": { text: "request.scheme", ascii: true, unless: "backend" },
  "Request.OriginalUrl.Scheme": { text: "request.scheme", ascii: true },
  "Api.Id": { text: "api.name" },
  "Api.Name": { text: "api.name" },
  "Api.Version": { text: "api.version" },
  "Operation.Id": { text: "operation.name" },
  "Operation.Name": { text: "operation.name" },
  "Operation.Method": { text: "operation.method", ascii: true },
  "Response.StatusCode": { text: "response.status", kind: "int", sections: behind },
  "Response.StatusReason": { text: "response.reason", sections: behind },
  // Not its source, scope, path and policy: those of a statement are others than those of a document's policy.
  "LastError.Reason": { text: "error.reason", sections: failed },
  "LastError.Message": { text: "error.message", sections: failed },
  "LastError.Section": { text: "error.section", sections: failed },
}

function fact(path: string, { around }: Translation): Cel | undefined {
  const found = Object.hasOwn(facts, path) ? facts[path] : undefined
  if (found === undefined) return undefined
  if (found.sections?.includes(around.section) === false)
    return none(`\`context.${path}\` in \`${around.section}\``)
  if (found.unless !== undefined && around.changes.has(found.unless))
    return none(`\`context.${path}\` behind what changes it`)
  // Where a call failed before the backend there may be no answer.
  const total = found.sections !== behind || around.section === "outbound"
  return cel(found.text, found.kind ?? "string", found.ascii ? { total, ascii: true } : { total })
}

const lists: Readonly<Record<string, { text: string; sections?: readonly string[] }>> = {
  "Request.Headers": { text: "request.headers" },
  "Request.OriginalUrl.Query": { text: "request.queries" },
  "Request.Url.Query": { text: "request.queries" },
  "Response.Headers": { text: "response.headers", sections: behind },
}

/** Headers, parameters of the query and of the path by a name that is written out. */
function listed(node: Call, translation: Translation): Cel | undefined {
  const path = pathOf(node.on)
  const [key, ...rest] = node.args
  if (path === undefined || key?.k !== "const" || typeof key.value !== "string") return undefined
  const name = key.value
  const isIndexed = node.member.endsWith(".this(K)")
  if (path === "Request.MatchedParameters") {
    const isRead = isIndexed || /\.GetValueOrDefault(?:<\d+>)?\(/.test(node.member)
    if (!isRead || !/^[A-Za-z_]\w*$/.test(name))
      return none("a parameter of the path that has no name in gateway.conf")
    translation.around.parameter(name)
    return cel(`path.${name}`, "string")
  }
  const list = Object.hasOwn(lists, path) ? lists[path] : undefined
  if (list === undefined) return undefined
  if (list.sections?.includes(translation.around.section) === false)
    return none(`\`context.${path}\` in \`${translation.around.section}\``)
  // What the host is, each language says in its own way.
  if (path === "Request.Headers" && name.toLowerCase() === "host") return none("the header Host")
  const values = `${list.text}(${literal(name)})`
  const total = list.sections === undefined || translation.around.section === "outbound"
  const isThere = cel(`size(${values}) > 0`, "bool", { binds: binds.relation, total })
  if (/\.ContainsKey\(/.test(node.member)) return isThere
  if (isIndexed) return cel(values, "list", { total: false })
  if (!/\.GetValueOrDefault\(string(?:,string)?\)$/.test(node.member)) return undefined
  const text = cel(`${values}.join(",")`, "string", { total })
  const absent = `size(${values}) == 0`
  const [otherwise] = rest
  if (otherwise === undefined) return { ...text, nullable: true, absent }
  const value = translation.node(otherwise)
  if (value.constant === "") return text
  if (value.kind === "null") return { ...text, nullable: true, absent }
  if (value.kind !== "string") return none("a default that is no text")
  return choice(isThere, text, value)
}

/** Methods of texts and lists, static ones too. */
function method(node: Call, translation: Translation): Cel | undefined {
  const found = Object.hasOwn(methods, node.member) ? methods[node.member] : undefined
  return found?.(node, translation)
}

type Method = (node: Call, translation: Translation) => Cel

const target = (node: Call): CsNode => node.on ?? none(`\`${shortName(node.member)}\``)
const argument = (node: Call, index: number): CsNode =>
  node.args[index] ?? none(`\`${shortName(node.member)}\``)

/** `text.name(text)`. */
function asking(name: string): Method {
  return (node, translation) => {
    const on = translation.text(target(node))
    const sought = translation.text(argument(node, 0))
    return cel(`${inside(on, binds.primary)}.${name}(${sought.text})`, "bool", {
      total: on.total && sought.total,
    })
  }
}

function inCase(name: string): Method {
  return (node, translation) => {
    const on = translation.text(target(node))
    if (on.ascii !== true) return none("upper and lower case of letters that are not ASCII's")
    return cel(`${inside(on, binds.primary)}.${name}()`, "string", { total: on.total, ascii: true })
  }
}

const equal: Method = (node, translation) => {
  const on = translation.text(target(node))
  const other = translation.node(argument(node, 0))
  if (other.kind !== "string" || (other.nullable && on.constant === undefined))
    return none("`string.Equals` of what may be null")
  const [, comparison] = node.args
  const how = comparison === undefined ? "Ordinal" : comparison.k === "call" ? comparison.member : ""
  const total = on.total && other.total
  if (/(?:^|\.)(?:Ordinal|InvariantCulture|CurrentCulture)$/.test(how))
    return cel(`${inside(on, binds.sum)} == ${inside(other, binds.sum)}`, "bool", {
      binds: binds.relation,
      total,
    })
  if (!how.endsWith("IgnoreCase") || on.ascii !== true || other.ascii !== true || other.nullable)
    return none("upper and lower case of letters that are not ASCII's")
  const lower = (side: Cel): string =>
    typeof side.constant === "string"
      ? literal(side.constant.toLowerCase())
      : `${inside(side, binds.primary)}.lowerAscii()`
  return cel(`${lower(on)} == ${lower(other)}`, "bool", { binds: binds.relation, total })
}

const isEmpty: Method = (node, translation) => {
  const value = translation.node(argument(node, 0))
  if (value.kind !== "string") return none("`string.IsNullOrEmpty` of what is no text")
  return cel(`${inside(value, binds.sum)} == ""`, "bool", { binds: binds.relation, total: value.total })
}

/** `list[number]`, of lists that CEL has too. */
const item: Method = (node, translation) => {
  const list = translation.node(target(node))
  const index = translation.node(argument(node, 0))
  if (list.kind !== "list" || typeof index.constant !== "number") return none("an item of a list")
  return cel(`${list.text}[${index.text}]`, "string", { total: false })
}

/** A header or parameter that is there has a value. */
const first: Method = (node, translation) => {
  const list = translation.node(target(node))
  return list.kind === "list" ? cel(`${list.text}[0]`, "string", { total: false }) : none("`First`")
}

/** By one character; then both have the same pieces. */
const split: Method = (node, translation) => {
  const on = translation.text(target(node))
  const by = argument(node, 0)
  const [only, ...more] = by.k === "array" ? by.items : []
  if (only?.k !== "const" || typeof only.value !== "string" || only.value.length !== 1 || more.length > 0)
    return none("`string.Split` by more than one character")
  return cel(`${inside(on, binds.primary)}.split(${literal(only.value)})`, "list", { total: false })
}

const replace: Method = (node, translation) => {
  const on = translation.text(target(node))
  const from = translation.node(argument(node, 0))
  const to = translation.text(argument(node, 1))
  if (typeof from.constant !== "string" || from.constant === "")
    return none("`string.Replace` of no constant text")
  return cel(`${inside(on, binds.primary)}.replace(${from.text}, ${to.text})`, "string", {
    total: on.total && to.total,
  })
}

const concat: Method = (node, translation) => {
  const [only] = node.args
  return texts(only?.k === "array" ? only.items : node.args, translation)
}

/** What a text is by itself. */
const itself: Method = (node, translation) => translation.text(target(node))

const number: Method = (node, translation) => {
  const value = translation.node(target(node))
  if (value.kind !== "int") return none("`int.ToString` of something else")
  return cel(`string(${value.text})`, "string", { total: value.total, ascii: true })
}

const methods: Readonly<Record<string, Method>> = {
  "string.Contains(string)": asking("contains"),
  "string.Contains(char)": asking("contains"),
  "string.StartsWith(string)": asking("startsWith"),
  "string.StartsWith(char)": asking("startsWith"),
  "string.EndsWith(string)": asking("endsWith"),
  "string.EndsWith(char)": asking("endsWith"),
  "string.ToLower()": inCase("lowerAscii"),
  "string.ToLowerInvariant()": inCase("lowerAscii"),
  "string.ToUpper()": inCase("upperAscii"),
  "string.ToUpperInvariant()": inCase("upperAscii"),
  "string.Equals(string)": equal,
  "string.Equals(string,StringComparison)": equal,
  "string.IsNullOrEmpty(string)": isEmpty,
  "string.Concat(params object[])": concat,
  "string.Concat(params string[])": concat,
  "string.Replace(string,string)": replace,
  "string.Replace(char,char)": replace,
  "string.Split(params char[])": split,
  "string.ToString()": itself,
  "int.ToString()": number,
  "[].this(int)": item,
  "IEnumerable.First()": first,
  "IEnumerable.FirstOrDefault()": first,
}

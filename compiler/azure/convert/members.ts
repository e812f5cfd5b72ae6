import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { callerMember } from "./caller-members.ts"
import { binds, type Cel, cel, choice, constant, literal } from "./cel.ts"
import { encodingMember } from "./encoding-members.ts"
import { jsonMember } from "./json-members.ts"
import { writtenJson } from "./json-writing.ts"
import { textMember } from "./text-members.ts"
import { timeMember } from "./time-members.ts"
import { tokenMember } from "./token-members.ts"
import { none, pathOf, shortName, type Translation } from "./translation.ts"
import { variableOf } from "./variables.ts"

type Call = Extract<CsNode, { k: "call" }>

/** The CEL counterpart of a library member. @throws NoCounterpart */
export function memberOf(node: Call, translation: Translation): Cel {
  const path = pathOf(node)
  const known = path === undefined ? undefined : fact(path, translation)
  if (known !== undefined) return known
  return (
    variableOf(node, translation) ??
    listed(node, translation) ??
    callerMember(node, translation) ??
    writtenJson(node, translation) ??
    jsonMember(node, translation) ??
    tokenMember(node, translation) ??
    timeMember(node, translation) ??
    encodingMember(node, translation) ??
    textMember(node, translation) ??
    none(`\`${shortName(node.member)}\``)
  )
}

interface Fact {
  readonly text: string
  readonly kind?: Cel["kind"]
  readonly ascii?: true
  /** The change by a document that makes the values differ. */
  readonly unless?: string
  readonly sections?: readonly string[]
}

const behind = ["outbound", "on-error"]
const failed = ["on-error"]

/** Facts about the exchange that both languages always know. */
const facts: Readonly<Record<string, Fact>> = {
  "Request.Method": { text: "request.method", ascii: true, unless: "method" },
  "Request.IpAddress": { text: "request.ip", ascii: true },
  "Request.OriginalUrl.Path": { text: "request.path" },
  "Request.OriginalUrl.Host": { text: "request.host" },
  "Request.OriginalUrl.Scheme": { text: "request.scheme", ascii: true },
  "Api.Id": { text: "api.name" },
  "Api.Name": { text: "api.name" },
  "Api.Version": { text: "api.version" },
  "Operation.Id": { text: "operation.name" },
  "Operation.Name": { text: "operation.name" },
  "Operation.Method": { text: "operation.method", ascii: true },
  "Deployment.ServiceName": { text: "gateway.name" },
  "Deployment.ServiceId": { text: "gateway.name" },
  "Deployment.GatewayId": { text: "gateway.name" },
  "Response.StatusCode": { text: "response.status", kind: "int", sections: behind },
  "Response.StatusReason": { text: "response.reason", sections: behind },
  // Source, scope, path and policy are missing, because those of a statement differ from those of a policy.
  "LastError.Reason": { text: "error.reason", sections: failed },
  "LastError.Message": { text: "error.message", sections: failed },
  "LastError.Section": { text: "error.section", sections: failed },
}

/** Facts about Azure that the gateway does not know, and the value used instead. */
const unknown: Readonly<Record<string, { readonly value: string; readonly note: string }>> = {
  "Deployment.Region": {
    value: "",
    note: "the gateway knows no region: `context.Deployment.Region` is empty",
  },
}

/** A member of `context`. Some exist only in some sections, or mean something else behind a step that changes them. */
function fact(path: string, { around, notes }: Translation): Cel | undefined {
  const never = Object.hasOwn(unknown, path) ? unknown[path] : undefined
  if (never !== undefined) {
    notes.add(never.note)
    return constant(never.value)
  }
  const found = Object.hasOwn(facts, path) ? facts[path] : undefined
  if (found === undefined) return undefined
  if (found.sections?.includes(around.section) === false)
    return none(`\`context.${path}\` in \`${around.section}\``)
  if (found.unless !== undefined && around.changes.has(found.unless))
    return none(`\`context.${path}\` behind what changes it`)
  // When a request failed before the backend, there may be no response.
  const total = found.sections !== behind || around.section === "outbound"
  return cel(found.text, found.kind ?? "string", found.ascii ? { total, ascii: true } : { total })
}

interface List {
  readonly text: string
  readonly sections?: readonly string[]
  /** The changes by a document that make the values differ. */
  readonly unless?: readonly string[]
}

const lists: Readonly<Record<string, List>> = {
  "Request.Headers": { text: "request.headers" },
  "Request.OriginalUrl.Query": { text: "request.queries", unless: ["query", "path"] },
  "Request.Url.Query": { text: "request.queries" },
  "Response.Headers": { text: "response.headers", sections: behind },
}

/** Headers, query parameters and path parameters with a literal name. */
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
  if (list.unless?.some((each) => translation.around.changes.has(each)) === true)
    return none(`\`context.${path}\` behind what changes it`)
  // The languages differ in the value of the Host header.
  if (path === "Request.Headers" && name.toLowerCase() === "host") return none("the header Host")
  const values = `${list.text}(${literal(name)})`
  const total = list.sections === undefined || translation.around.section === "outbound"
  const isThere = cel(`size(${values}) > 0`, "bool", { binds: binds.relation, total })
  if (/\.ContainsKey\(/.test(node.member)) return isThere
  if (isIndexed) return cel(values, "list", { total: false })
  if (!/\.GetValueOrDefault\(string(?:,string)?\)$/.test(node.member)) return undefined
  const text = cel(`${values}.join(",")`, "string", { total })
  const absent = cel(`size(${values}) == 0`, "bool", { binds: binds.relation, total })
  const [otherwise] = rest
  if (otherwise === undefined) return { ...text, nullable: true, absent, present: text }
  const value = translation.node(otherwise)
  if (value.constant === "") return text
  if (value.kind === "null") return { ...text, nullable: true, absent, present: text }
  if (value.kind !== "string") return none("a default that is not a string")
  return choice(isThere, text, value)
}

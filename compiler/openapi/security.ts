import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Requirement, SecurityScheme } from "./api-document.ts"
import { type DocumentFields, isNull } from "./fields.ts"
import { type DocumentMap, type DocumentNode, kindOf, plainOf } from "./node.ts"
import { reportDropped } from "./parameters.ts"

const places = ["header", "query", "cookie"]

/** Reads the security schemes: `securityDefinitions` of 2.0, `components.securitySchemes` since then. */
export function readSecuritySchemes(
  root: DocumentMap,
  version: string,
  fields: DocumentFields,
): ReadonlyMap<string, SecurityScheme> {
  const components =
    version === "2.0" ? root : fields.map(root.entries.get("components")?.value, "`components`")
  const schemes = new Map<string, SecurityScheme>()
  if (components === undefined) return schemes
  const key = version === "2.0" ? "securityDefinitions" : "securitySchemes"
  for (const [name, { key: at, value }] of fields.entries(components, key)) {
    const map = fields.map(value, "a security scheme")
    const read = map === undefined ? undefined : readScheme(map, version, fields)
    if (read !== undefined) schemes.set(name, { name, span: at, ...read })
  }
  return schemes
}

type Read = Pick<SecurityScheme, "kind" | "definition">

/** A security scheme. One that is not understood is still required, so that no operation is opened by it. */
function readScheme(map: DocumentMap, version: string, fields: DocumentFields): Read | undefined {
  const type = fields.text(map, "type")
  if (type === undefined) return fields.aside(map, "the security scheme has no `type`; it is still required")
  if (type === "basic" && version === "2.0")
    return { kind: "basic", definition: { type: "http", scheme: "basic" } }
  const plain = plainOf(map) as Record<string, unknown>
  if (type === "http") {
    const scheme = fields.text(map, "scheme")?.toLowerCase()
    if (scheme === undefined)
      return fields.aside(map, "the security scheme has no `scheme`; it is still required")
    const kind = scheme === "bearer" || scheme === "basic" ? scheme : "http"
    return { kind, definition: { ...plain, scheme } }
  }
  if (type === "apiKey") {
    const where = fields.text(map, "in")
    if (where === undefined || fields.text(map, "name") === undefined || !places.includes(where))
      return fields.aside(
        map,
        `the security scheme has no \`${where === undefined || !places.includes(where) ? "in" : "name"}\`; it is still required`,
      )
    const name = map.entries.get("name")?.value
    if (where === "header" && name !== undefined && String(plain["name"]).includes("_"))
      reportDropped(String(plain["name"]), name, fields)
    return { kind: "apiKey", definition: plain }
  }
  if (type === "oauth2") return { kind: "oauth2", definition: version === "2.0" ? modernFlows(plain) : plain }
  if (type === "openIdConnect" || type === "mutualTLS") return { kind: type, definition: plain }
  const types = ["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"]
  const entry = map.entries.get("type")
  return fields.aside(
    entry?.value ?? map,
    `\`${shown(type)}\` is not a type of security scheme; the scheme is still required${didYouMean(type, types)}`,
  )
}

const flowNames: Readonly<Record<string, string>> = {
  implicit: "implicit",
  password: "password",
  application: "clientCredentials",
  accessCode: "authorizationCode",
}

/** The single flow of 2.0 in the form of 3.x. */
function modernFlows(plain: Record<string, unknown>): Record<string, unknown> {
  const { type, description, flow, authorizationUrl, tokenUrl, scopes } = plain
  const name = flowNames[String(flow)]
  const one = { authorizationUrl, tokenUrl, scopes: scopes ?? {} }
  const used = Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))
  return {
    type,
    ...(description === undefined ? {} : { description }),
    flows: name === undefined ? {} : { [name]: used },
  }
}

/** Reads `security`: alternative requirements, each with schemes that must all be met. Undefined when it is absent. */
export function readSecurity(
  map: DocumentMap,
  schemes: ReadonlyMap<string, SecurityScheme>,
  fields: DocumentFields,
): readonly Requirement[] | undefined {
  const field = map.entries.get("security")?.value
  if (field === undefined) return undefined
  // An empty list removes the requirements of the document; a key without a value does not.
  if (isNull(field)) return fields.withoutValue(field, "`security`")
  if (field.kind === "list") return field.items.map((item) => readRequirement(item, schemes, fields))
  fields.wrong(field, `\`security\` must be a list, found ${kindOf(field)}`)
  return [field.kind === "map" ? readRequirement(field, schemes, fields) : unreadable(field)]
}

/** One alternative of a security requirement: all its schemes together. */
function readRequirement(
  item: DocumentNode,
  schemes: ReadonlyMap<string, SecurityScheme>,
  fields: DocumentFields,
): Requirement {
  const way = fields.map(item, "a security requirement")
  if (way === undefined) return unreadable(item)
  const named = [...way.entries].map(([name, { key, value }]) => {
    if (!schemes.has(name))
      fields.aside(
        { span: key },
        `the document declares no security scheme \`${shown(name)}\`; it is still required${didYouMean(name, schemes.keys())}`,
      )
    const plain = plainOf(value)
    const scopes = Array.isArray(plain) ? plain.filter((each) => typeof each === "string") : []
    return { name, scopes, span: key }
  })
  return { schemes: named, span: way.span }
}

/** An unreadable requirement still requires something: `lenient` must not open an operation. A text is taken as the name of a scheme. */
function unreadable(node: DocumentNode): Requirement {
  const name = node.kind === "scalar" && typeof node.value === "string" ? node.value : "unreadable"
  return { schemes: [{ name, scopes: [], span: node.span }], span: node.span }
}

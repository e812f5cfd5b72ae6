import { unseen } from "../core/characters.ts"
import type { ApiDocument, Operation, Requirement, SecurityScheme } from "./api-document.ts"

/** How an imported API is called, and where it is found. */
export interface ImportNames {
  readonly name: string
  readonly path: string
  /** The document, for the comment at the top. */
  readonly file: string
}

/** Text of gateway.conf for the operations of a document. What the document does not say, who signs tokens above all, is left to be filled in, and said in comments. */
export function printGateway(document: ApiDocument, names: ImportNames): string {
  const served = document.operations.filter(({ path }) => path !== undefined)
  const demanded = new Set(
    served.flatMap(({ security }) =>
      (security ?? []).flatMap(({ schemes }) => schemes.map(({ name }) => name)),
    ),
  )
  const schemes = [...document.securitySchemes.values()].filter(({ name }) => demanded.has(name))
  const issuers = schemes.filter(
    ({ kind }) => kind === "bearer" || kind === "oauth2" || kind === "openIdConnect",
  )
  const lines = [
    `# ${comment(document.title)}${document.release === "" ? "" : ` ${comment(document.release)}`}, from ${comment(names.file)}.`,
    '# To keep validation and examples, name the document instead: `openapi "FILE"`.',
    "",
    ...issuers.flatMap((scheme) => [...issuerLines(scheme, names), ""]),
    ...schemes.filter(({ kind }) => kind === "basic").flatMap((scheme) => [...usersLines(scheme, names), ""]),
    `api ${names.name} {`,
    `  path ${quoted(names.path)}`,
    `  ${backendLine(document)}`,
  ]
  const common = commonSecurity(served)
  if (common !== undefined) lines.push(...authLines(common, document, names).map((line) => `  ${line}`))
  lines.push("")
  for (const operation of served)
    lines.push(...operationLines(operation, common === undefined, document, names))
  lines.push("}", "")
  return lines.join("\n")
}

/** `auth` for all operations, where all demand the same. */
function commonSecurity(operations: readonly Operation[]): readonly Requirement[] | undefined {
  const [first] = operations
  const shape = (security: Operation["security"]): string =>
    JSON.stringify((security ?? []).map(({ schemes }) => schemes.map(({ name, scopes }) => [name, scopes])))
  if (first === undefined || operations.some(({ security }) => shape(security) !== shape(first.security)))
    return undefined
  return first.security ?? []
}

function operationLines(
  operation: Operation,
  own: boolean,
  document: ApiDocument,
  names: ImportNames,
): string[] {
  const lines: string[] = []
  const about = operation.summary ?? operation.id
  if (about !== undefined) lines.push(`  # ${comment(about)}`)
  const head = `  ${operation.method} ${quoted(operation.path ?? "/")}`
  const auth = own ? authLines(operation.security ?? [], document, names) : []
  return [
    ...lines,
    ...(auth.length === 0 ? [head] : [`${head} {`, ...auth.map((line) => `    ${line}`), "  }"]),
  ]
}

function authLines(security: readonly Requirement[], document: ApiDocument, { name }: ImportNames): string[] {
  if (security.length === 0) return ["auth none  # the document demands nothing"]
  return security.flatMap(({ schemes }) => {
    const [only] = schemes
    if (only === undefined) return ["# the document lets callers in without credentials too"]
    if (schemes.length > 1)
      return [
        `# the document demands ${schemes.map((each) => comment(each.name)).join(" and ")} together: say what that is here`,
      ]
    const scheme = document.securitySchemes.get(only.name)
    const scopes = only.scopes.map(quoted).join(" ")
    switch (scheme?.kind) {
      case "bearer":
      case "oauth2":
      case "openIdConnect":
        return [
          `auth jwt ${issuerName(scheme, name)}${scopes === "" ? "" : ` { claim scope has all ${scopes} }`}`,
        ]
      case "basic":
        return [`auth basic ${usersName(scheme, name)}`]
      case "apiKey":
        return [keyLine(scheme)]
      default:
        return [
          `# the document demands ${comment(only.name)}${scheme === undefined ? "" : ` (${scheme.kind})`}: say what that is here`,
        ]
    }
  })
}

function keyLine({ definition, name }: SecurityScheme): string {
  const place = definition["in"]
  const key = quoted(String(definition["name"]))
  if (place === "header") return `auth subscription { header ${key}; query none }`
  return place === "query"
    ? `auth subscription { header none; query ${key} }`
    : `# the document demands a key in the cookie ${comment(name)}: say what that is here`
}

function issuerLines(scheme: SecurityScheme, names: ImportNames): string[] {
  const { kind, definition } = scheme
  const known = kind === "openIdConnect" ? String(definition["openIdConnectUrl"] ?? "") : ""
  const url = known === "" ? "https://id.example/.well-known/openid-configuration" : known
  return [
    `issuer ${issuerName(scheme, names.name)} {`,
    ...(known === "" ? ["  # the document does not say who signs the tokens"] : []),
    `  discovery ${quoted(url)}`,
    "  # what the tokens say they are for",
    `  audience ${quoted(names.name)}`,
    "}",
  ]
}

function issuerName({ name }: SecurityScheme, api: string): string {
  return declaredName(name, api, "issuer")
}

/** No document says who they are: without the variable nobody gets in, nor does the gateway start. */
function usersLines(scheme: SecurityScheme, names: ImportNames): string[] {
  const name = usersName(scheme, names.name)
  const variable = `${name.replaceAll("-", "_").toUpperCase()}_PASSWORD`
  return [
    `secret ${name}_password = env(${variable})`,
    `users ${name} {`,
    "  # the document does not say who may call: a line for each user, with a secret of its own",
    `  user "user" ${name}_password`,
    "}",
  ]
}

function usersName({ name }: SecurityScheme, api: string): string {
  return declaredName(name, api, "users")
}

/** The name of a scheme as a name of gateway.conf that is no other's. */
function declaredName(scheme: string, api: string, kind: string): string {
  const plain = scheme.replace(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z_]/.test(plain) && plain !== api ? plain : `${kind}_${plain}`
}

function backendLine({ servers }: ApiDocument): string {
  const found =
    servers.find(({ url }) => /^https:\/\/[^{}\s]+$/.test(url)) ??
    servers.find(({ url }) => /^http:\/\/[^{}\s]+$/.test(url))
  return found === undefined
    ? 'backend "http://127.0.0.1:8081"  # the document does not say where it is served'
    : `backend ${quoted(found.url.replace(/\/$/, ""))}`
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("${", "$$${")}"`
}

function comment(text: string): string {
  return text.replace(unseen("g"), " ").replace(/\s+/g, " ").slice(0, 120)
}

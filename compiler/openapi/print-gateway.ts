import { unseen } from "../core/shown.ts"
import type { ApiDocument, Operation, Requirement, SecurityScheme } from "./api-document.ts"
import { suggestedBackend } from "./api-document.ts"
import { mockAnswer } from "./mock-answer.ts"

/** Maximum length of an example in the text. */
const mockMax = 65_536

/** Names for an imported API. */
export interface ImportNames {
  readonly name: string
  readonly path: string
  /** The document, named in the comment at the top. */
  readonly file: string
  /** Whether operations respond with examples of the document instead of calling a backend. */
  readonly mock: boolean
}

/**
 * The text of gateway.conf for the operations of a document. Values that the document does not contain, especially the issuer of tokens, are
 * left to the user and explained in comments.
 */
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
  const backend = backendLine(document)
  const lines = [
    `# ${comment(document.title)}${document.release === "" ? "" : ` ${comment(document.release)}`}, from ${comment(names.file)}.`,
    ...leftBehind(served).map((line) => `# ${line}`),
    "",
    ...issuers.flatMap((scheme) => [...issuerLines(scheme, names), ""]),
    ...schemes.filter(({ kind }) => kind === "basic").flatMap((scheme) => [...usersLines(scheme, names), ""]),
    `api ${names.name} {`,
    `  path ${quoted(names.path)}`,
    names.mock ? `  # ${backend}` : `  ${backend}`,
  ]
  const common = commonSecurity(served)
  if (common !== undefined) lines.push(...authLines(common, document, names).map((line) => `  ${line}`))
  lines.push("")
  for (const operation of served)
    lines.push(...operationLines(operation, common === undefined, document, names))
  lines.push("}", "")
  return lines.join("\n")
}

/** Comment about the parts that the text can't express: only `openapi` with `validate` checks schemas. */
function leftBehind(operations: readonly Operation[]): string[] {
  const parameters = operations.reduce((sum, each) => sum + each.parameters.length, 0)
  const bodies = operations.filter(({ body }) => body !== undefined).length
  const help = 'use the document in the API instead: `openapi "FILE"`, with `validate request` and `mock`.'
  if (parameters + bodies === 0) return [`To check the responses too, ${help}`]
  const what = [
    ...(parameters === 0 ? [] : [`${parameters} parameter${parameters === 1 ? "" : "s"}`]),
    ...(bodies === 0 ? [] : [`the bodies of ${bodies} operation${bodies === 1 ? "" : "s"}`]),
  ]
  return [
    `Nothing here checks ${what.join(" and ")} against the schemas of the document. To check them,`,
    help,
  ]
}

/** The `auth` of all operations, if all have the same requirements. */
function commonSecurity(operations: readonly Operation[]): readonly Requirement[] | undefined {
  const [first] = operations
  const shape = (security: Operation["security"]): string =>
    JSON.stringify((security ?? []).map(({ schemes }) => schemes.map(({ name, scopes }) => [name, scopes])))
  if (first === undefined || operations.some(({ security }) => shape(security) !== shape(first.security)))
    return undefined
  return first.security ?? []
}

/** An operation with its summary as a comment. */
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
  const inside = [
    ...(own ? authLines(operation.security ?? [], document, names) : []),
    ...(names.mock ? mockLines(operation, document) : []),
  ]
  return [
    ...lines,
    ...(inside.length === 0 ? [head] : [`${head} {`, ...inside.map((line) => `    ${line}`), "  }"]),
  ]
}

/** The response with an example, or with a sample of the schema. */
function mockLines(operation: Operation, document: ApiDocument): string[] {
  const answer = mockAnswer(operation, document, undefined, undefined)
  if (typeof answer === "string") return [`respond 501  # ${answer}`]
  const { status, media, body } = answer
  if (body === undefined || body.text === "") return [`respond ${status}`]
  if (body.text.length > mockMax) return [`respond 501  # the example has ${body.text.length} characters`]
  const type = media === null ? "text" : media === "application/json" ? "json" : quoted(media)
  return [`respond ${status} {`, ...bodyLines(type, body.text).map((line) => `  ${line}`), "}"]
}

/** JSON on several lines, everything else on one line. Between the tags, backslashes have no special meaning. */
function bodyLines(type: string, text: string): string[] {
  if (!/^\s*[{[]/.test(text)) return [`body ${type} ${quoted(text)}`]
  try {
    const json = JSON.stringify(JSON.parse(text), null, 2)
      .replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (each) => `\\u${hex(each)}`)
      .replaceAll("${", () => "$${")
    return [`body ${type} <<EXAMPLE`, ...json.split("\n"), "EXAMPLE"]
  } catch {
    return [`body ${type} ${quoted(text)}`]
  }
}

/**
 * The `auth` for the security requirements. What gateway.conf cannot express becomes a comment, and the text then does not compile until
 * somebody decides.
 */
function authLines(security: readonly Requirement[], document: ApiDocument, { name }: ImportNames): string[] {
  if (security.every(({ schemes }) => schemes.length === 0))
    return ["auth none  # the document requires no authentication"]
  const lines = security.flatMap(({ schemes }) => {
    const [only] = schemes
    if (only === undefined) return ["# the document also allows callers without credentials"]
    if (schemes.length > 1)
      return [
        `# the document requires ${schemes.map((each) => comment(each.name)).join(" and ")} together: write the matching auth here`,
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
      case "mutualTLS":
        return ["auth certificate"]
      case "apiKey":
        return [keyLine(scheme)]
      default:
        return [
          `# the document requires ${comment(only.name)}${scheme === undefined ? "" : ` (${scheme.kind})`}: write the matching auth here`,
        ]
    }
  })
  return [...new Set(lines)]
}

function keyLine({ definition, name }: SecurityScheme): string {
  const place = definition["in"]
  const key = String(definition["name"])
  if (place === "query") return `auth subscription { header none; query ${quoted(key)} }`
  if (place === "header" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(key))
    return `auth subscription { header ${quoted(key)}; query none }`
  return `# the document requires a key in the ${place} ${comment(key)} (${comment(name)}): write the matching auth here`
}

/** An issuer for a scheme. A document that does not name it gets an example to change. */
function issuerLines(scheme: SecurityScheme, names: ImportNames): string[] {
  const { kind, definition } = scheme
  const known = kind === "openIdConnect" ? String(definition["openIdConnectUrl"] ?? "") : ""
  const url = known === "" ? "https://id.example/.well-known/openid-configuration" : known
  return [
    `issuer ${issuerName(scheme, names.name)} {`,
    ...(known === "" ? ["  # the document does not name the issuer of the tokens"] : []),
    `  discovery ${quoted(url)}`,
    "  # the `aud` of the tokens",
    `  audience ${quoted(names.name)}`,
    "}",
  ]
}

function issuerName({ name }: SecurityScheme, api: string): string {
  return declaredName(name, api, "issuer")
}

/** The document does not contain the users. Until the variable is set, the gateway does not start, so no caller is let in. */
function usersLines(scheme: SecurityScheme, names: ImportNames): string[] {
  const name = usersName(scheme, names.name)
  const variable = `${name.replaceAll("-", "_").toUpperCase()}_PASSWORD`
  return [
    `secret ${name}_password = env(${variable})`,
    `users ${name} {`,
    "  # the document does not list the users: add a line for each user, each with its own secret",
    `  user "user" ${name}_password`,
    "}",
  ]
}

function usersName({ name }: SecurityScheme, api: string): string {
  return declaredName(name, api, "users")
}

/** The name of a scheme as a valid name of gateway.conf that differs from the API's. */
function declaredName(scheme: string, api: string, kind: string): string {
  const plain = scheme.replace(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z_]/.test(plain) && plain !== api ? plain : `${kind}_${plain}`
}

function backendLine({ servers }: ApiDocument): string {
  const found = suggestedBackend(servers)
  return found === undefined
    ? 'backend "http://127.0.0.1:8081"  # the document names no server'
    : `backend ${quoted(found)}`
}

function quoted(text: string): string {
  const named: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" }
  const made = text
    .replace(/[\\"]/g, "\\$&")
    .replace(/[\n\t\r]/g, (each) => named[each] as string)
    .replace(unseen("g"), (each) => `\\u{${hex(each)}}`)
  return `"${made.replaceAll("${", "$$${")}"`
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")
}

function comment(text: string): string {
  return text.replace(unseen("g"), " ").replace(/\s+/g, " ").slice(0, 120)
}

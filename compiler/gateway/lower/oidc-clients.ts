import type { OidcClientPlan } from "../../../runtime/plan/oidc-client.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { namedBy } from "../../../runtime/plan/steps.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { oidcPathDefaults } from "../schema/oidc.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

const defaultLifetimeMs = 8 * 3_600_000

/** Parameters of the authorization request that belong to the login itself. */
const ownParameters: ReadonlySet<string> = new Set([
  ...["response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce"],
  ...["code_challenge", "code_challenge_method", "request", "request_uri"],
])

/** What lowering a client needs. */
interface OidcContext {
  readonly program: Program
  readonly values: Values
  readonly report: Report
}

/** The clients that a route uses, with the secrets they need. All declarations are checked. */
export function lowerOidcClients(
  context: OidcContext,
  steps: PlanBody["steps"],
): Pick<PlanBody, "oidcClients"> {
  const { program, values } = context
  const used = namedBy(Object.values(steps), "oidcClients")
  const found: NonNullable<PlanBody["oidcClients"]> = {}
  for (const { name, bound } of program.all("oidc")) {
    const client = lowerClient(bound, context)
    if (client === undefined || !used.has(name)) continue
    for (const { secret } of client.sessionKeys) values.needSecret(secret)
    if (client.secret !== undefined) values.needSecret(client.secret)
    found[name] = client
  }
  values.needIn(found)
  return Object.keys(found).length === 0 ? {} : { oidcClients: found }
}

/** One client; undefined if it is invalid (reported). */
export function lowerClient(bound: BoundStatement, context: OidcContext): OidcClientPlan | undefined {
  const { block } = bound
  const { values, report } = context
  const issuer = issuerOf(block, context)
  const said = statementOf(block, "client")?.args
  const at = said?.text("client")
  const client = at === undefined ? undefined : at.kind === "word" ? at.text : values.loadText(at)
  const secret = said?.word("secret")?.text
  const keys = sessionKeysOf(block, report)
  const store = storeOf(block, context)
  const external = originOf(block, context)
  const paths = pathsOf(block, report)
  const backChannelLogout = paths && backChannelOf(block, paths, store, report)
  const afterLogout = afterLogoutOf(block, report)
  const parameters = parametersOf(block, context)
  if (issuer === undefined || client === undefined || keys.length === 0 || paths === undefined)
    return undefined
  if (
    external === "broken" ||
    backChannelLogout === "broken" ||
    afterLogout === "broken" ||
    parameters === "broken"
  )
    return undefined
  return {
    ...{ issuer, client },
    ...(secret === undefined ? {} : { secret }),
    scope: scopeOf(block),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...{ sessionKeys: keys, store },
    lifetimeSeconds: (statementOf(block, "lifetime")?.args.value<number>("time") ?? defaultLifetimeMs) / 1000,
    ...(external === undefined ? {} : { external }),
    paths,
    ...(backChannelLogout === undefined ? {} : { backChannelLogout }),
    ...(afterLogout === undefined ? {} : { afterLogout }),
  }
}

/** Only a discovery document has the endpoints of a login. */
function issuerOf(block: BoundBlock | undefined, { program, report }: OidcContext): string | undefined {
  const word = statementOf(block, "issuer")?.args.word("issuer")
  const declared = word === undefined ? undefined : program.find("issuer", word.text)
  if (word === undefined || declared === undefined || declared.bound.broken) return undefined
  if (statementOf(declared.bound.block, "discovery") !== undefined) return word.text
  if (declared.bound.block?.damaged !== true)
    report.add("SP2017", word.span, `\`${word.text}\` has no discovery document that names its login page`, {
      related: [{ span: declared.span, message: "the issuer" }],
      help: "Name an issuer with `discovery`.",
    })
  return undefined
}

function sessionKeysOf(block: BoundBlock | undefined, report: Report): OidcClientPlan["sessionKeys"] {
  const names = statementOf(block, "session-keys")?.args.words("secret") ?? []
  const repeated = names.find(({ text }, at) => names.findIndex((each) => each.text === text) < at)
  if (repeated !== undefined)
    report.add("SP2016", repeated.span, `the secret \`${repeated.text}\` is given twice`)
  return names.map(({ text }) => ({ secret: text }))
}

function storeOf(block: BoundBlock | undefined, { program, report }: OidcContext): OidcClientPlan["store"] {
  const said = statementOf(block, "session")
  if (said?.args.value<string>("store") !== "redis") return "cookie"
  const limits = statementOf(program.gateway?.block, "limits")
  const isUnclear = program.gateway === undefined || program.gateway.block?.damaged === true
  if (!isUnclear && statementOf(limits?.block, "shared") === undefined)
    report.add("SP2009", headSpan(said.statement), "the gateway has no Redis for sessions", {
      help: "Add `limits { shared redis SECRET }` to `gateway`.",
    })
  return "redis"
}

/** The scopes with `openid`, which makes it a login (OpenID Connect Core 1.0 §3.1.2.1). */
function scopeOf(block: BoundBlock | undefined): string {
  const said = statementOf(block, "scope")?.args.value<string>("scope") ?? ""
  const scopes = said.split(" ").filter((each) => each !== "")
  return (scopes.includes("openid") ? scopes : ["openid", ...scopes]).join(" ")
}

function parametersOf(
  block: BoundBlock | undefined,
  { values, report }: OidcContext,
): Record<string, LoadText> | "broken" {
  const found = new Map<string, LoadText>()
  for (const { args, statement } of statementsOf(block, "parameter")) {
    const name = args.value<string>("name")
    const at = args.text("value")
    const value = at === undefined ? undefined : values.loadText(at)
    if (name === undefined || value === undefined) return "broken"
    if (ownParameters.has(name) || found.has(name))
      report.add(
        "SP2017",
        headSpan(statement),
        found.has(name) ? `the parameter \`${name}\` is given twice` : `the gateway sets \`${name}\` itself`,
        { help: "Remove this statement." },
      )
    found.set(name, value)
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A scheme and a host, for browsers. */
export function originOf(
  block: BoundBlock | undefined,
  { values, report }: Pick<OidcContext, "values" | "report">,
  keyword: "external" | "gateway" = "external",
): LoadText | "broken" | undefined {
  return originAt(statementOf(block, keyword)?.args.text("url"), { values, report })
}

/** An argument that is a scheme and a host; undefined: it is absent. */
export function originAt(
  at: ReturnType<BoundStatement["args"]["text"]>,
  { values, report }: Pick<OidcContext, "values" | "report">,
): LoadText | "broken" | undefined {
  if (at === undefined) return undefined
  const url = lowerUrl(at, values, report)
  if (url === undefined) return "broken"
  if (typeof url === "string" && new URL(url).origin !== url)
    report.add("SP2026", at.span, `\`${shown(url)}\` is more than a scheme and a host`, {
      help: `Write \`"${shown(new URL(url).origin)}"\`.`,
    })
  return url
}

const ownPath = /^(?:\/[A-Za-z0-9._~-]+)+$/

function pathsOf(block: BoundBlock | undefined, report: Report): OidcClientPlan["paths"] | undefined {
  const paths: OidcClientPlan["paths"] = { ...oidcPathDefaults }
  const known = new Set<string>()
  for (const keyword of ["login", "callback", "logout"] as const) {
    const said = statementOf(block, keyword)
    const path = said?.args.value<string>("path") ?? paths[keyword]
    const span = said?.args.get("path")?.argument.span ?? said?.statement.keyword.span
    if (!isOwnPath(path, span, report)) return undefined
    if (known.has(path)) reportRepeated(path, span, report)
    known.add(path)
    paths[keyword] = path
  }
  return paths
}

/** Reports a path that the gateway cannot serve itself. */
function isOwnPath(path: string, span: Span | undefined, report: Report): boolean {
  if (ownPath.test(path) && !/\/\.\.?(?:\/|$)/.test(path)) return true
  report.add("SP3001", span, `\`${shown(path)}\` cannot be the path of a login`, {
    help: 'Write a path of plain segments, such as `"/oauth2/callback"`.',
  })
  return false
}

function reportRepeated(path: string, span: Span | undefined, report: Report): void {
  if (span !== undefined)
    report.add("SP2017", span, `\`${path}\` is already another path of this client`, {
      help: "Write another path.",
    })
}

/** Only a session that is not in the browser can be ended without the browser. */
function backChannelOf(
  block: BoundBlock | undefined,
  paths: OidcClientPlan["paths"],
  store: OidcClientPlan["store"],
  report: Report,
): string | "broken" | undefined {
  const said = statementOf(block, "back-channel-logout")
  const path = said?.args.value<string>("path")
  if (said === undefined || path === undefined) return undefined
  const span = said.args.get("path")?.argument.span
  if (!isOwnPath(path, span, report)) return "broken"
  if (Object.values(paths).includes(path)) reportRepeated(path, span, report)
  if (store === "redis") return path
  report.add("SP2009", headSpan(said.statement), "the provider cannot end sessions that are in cookies", {
    help: "Add `session redis`, so that the gateway has the sessions, or remove this statement.",
  })
  return "broken"
}

function afterLogoutOf(block: BoundBlock | undefined, report: Report): string | "broken" | undefined {
  const said = statementOf(block, "after-logout")
  const path = said?.args.value<string>("path")
  if (said === undefined || path === undefined) return undefined
  if (/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)) return path
  report.add(
    "SP3001",
    said.args.get("path")?.argument.span,
    `\`${shown(path)}\` is not a path of this site`,
    {
      help: 'Write a path such as `"/goodbye"`.',
    },
  )
  return "broken"
}

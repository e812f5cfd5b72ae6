import type { Issuer } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type Bound, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Declaration } from "../program.ts"
import type { Claims } from "./place.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

const defaultAlgorithms: Issuer["algorithms"] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
const defaultSkewMs = 30_000
const audiencesMax = 100

/** Types of expressions for the words of `claims`. */
const claimTypes: Readonly<Record<string, string>> = {
  string: "string",
  int: "int",
  double: "double",
  bool: "bool",
  map: "map<string, dyn>",
  any: "dyn",
  list: "list<dyn>",
}

/** The claims an issuer declares; any where it declares none, or in a way that was not understood. */
export function claimsOfIssuer({ bound }: Declaration): Claims {
  const statement = statementOf(bound.block, "claims")
  const block = statement?.block
  if (bound.block?.damaged === true || block === undefined || block.damaged) return "any"
  const claims: Record<string, string> = {}
  for (const each of block.statements) claims[each.statement.keyword.text] = claimType(each)
  return claims
}

/** The issuer for the plan; undefined when something is missing or wrong (reported). */
export function lowerIssuer(declaration: Declaration, values: Values, report: Report): Issuer | undefined {
  const { bound } = declaration
  const { block } = bound
  for (const { statement } of statementOf(block, "claims")?.block?.statements ?? []) {
    const { text, span } = statement.keyword
    if (text === "__proto__") report.add("SP2013", span, "no claim can be called `__proto__`")
  }
  if (bound.broken || block === undefined) return undefined
  const source = lowerSource(bound, values, report)
  const audiences = lowerAudiences(bound, values, report)
  const skewMs = statementOf(block, "clock-skew")?.args.value<number>("time") ?? defaultSkewMs
  const algorithms = statementOf(block, "algorithms")?.args.values<Issuer["algorithms"][number]>("algorithm")
  const claims = claimsOfIssuer(declaration)
  if (source === undefined || audiences === undefined) return undefined
  return {
    source,
    audiences,
    clockSkewSeconds: skewMs / 1000,
    algorithms: [...new Set(algorithms ?? defaultAlgorithms)].sort(),
    claims: claims === "any" ? null : claims,
  }
}

function lowerSource(bound: Bound, values: Values, report: Report): Issuer["source"] | undefined {
  const { block, statement } = bound
  const discovery = statementOf(block, "discovery")
  const keys = statementOf(block, "keys")
  const issuer = statementOf(block, "issuer")
  if (discovery !== undefined && (keys ?? issuer) !== undefined) {
    const other = (keys ?? issuer) as Bound
    report.add(
      "SP2017",
      other.statement.keyword.span,
      `with \`discovery\` there is no \`${other.row.keyword}\``,
      {
        related: [{ span: discovery.statement.keyword.span, message: "`discovery`" }],
        help: "Keep `discovery`, or `keys` and `issuer`.",
      },
    )
    return undefined
  }
  if (discovery !== undefined) {
    const url = lowerUrl(discovery.args.text("url"), values, report)
    return url === undefined ? undefined : { discovery: url }
  }
  const file = keys?.args.value<{ file: string }>("file")
  const name = issuer?.args.text("name")
  if (keys !== undefined && issuer !== undefined) {
    const text = name === undefined ? undefined : values.loadText(name)
    if (text === undefined || file === undefined) return undefined
    return { keys: file, issuer: text }
  }
  if (block?.damaged !== true) {
    const what =
      keys === undefined && issuer === undefined
        ? "neither `discovery` nor `keys`"
        : `no \`${keys === undefined ? "keys" : "issuer"}\``
    report.add("SP2009", headSpan(statement), `\`${bound.args.word("name")?.text}\` has ${what}`, {
      help: 'Add `discovery "https://…/.well-known/openid-configuration"`, or `keys file("…")` and `issuer "…"`.',
    })
  }
  return undefined
}

/** Null: any. */
function lowerAudiences(bound: Bound, values: Values, report: Report): LoadText[] | null | undefined {
  const { block, statement } = bound
  const statements = statementsOf(block, "audience")
  const any = statementOf(block, "any-audience")
  const [first] = statements
  if (any !== undefined && first !== undefined) {
    report.add("SP2017", any.statement.keyword.span, "with `any-audience` no audience counts", {
      related: [{ span: first.statement.keyword.span, message: "`audience`" }],
    })
    return undefined
  }
  if (any !== undefined) return null
  if (first === undefined) {
    if (block?.damaged !== true)
      report.add("SP3020", headSpan(statement), "tokens made for any service would be accepted")
    return undefined
  }
  const audiences = new Map<string, LoadText>()
  for (const { argument } of statements.flatMap((each) => each.args.all("audience"))) {
    if (argument.kind !== "word" && argument.kind !== "text") continue
    // A bare word is the audience itself here, no named value: `audience orders-api`.
    const text = argument.kind === "word" ? argument.text : values.loadText(argument)
    if (text === undefined) return undefined
    if (text === "") report.add("SP2038", argument.span, "the audience is empty")
    const key = JSON.stringify(text)
    if (audiences.has(key)) report.add("SP2016", argument.span, "the audience is there twice")
    audiences.set(key, text)
  }
  if (audiences.size > audiencesMax) {
    report.add(
      "SP3016",
      headSpan(statement),
      `${audiences.size} audiences are given, ${audiencesMax} are possible`,
    )
  }
  return [...audiences].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

function claimType({ args }: Bound): string {
  const item = args.value<string>("item")
  if (item !== undefined) return `list<${claimTypes[item] ?? "dyn"}>`
  return claimTypes[args.value<string>("type") ?? "list"] ?? "dyn"
}

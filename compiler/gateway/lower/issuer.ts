import type { InlineKey, Issuer } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { mayHide } from "../bind/hidden.ts"
import type { Declaration } from "../program.ts"
import { listed } from "../schema/slots.ts"
import type { ClaimTypes } from "./place.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

// Asymmetric algorithms that are not weak: RS256 as the commonest, PSS, ECDSA, and EdDSA under both of its names (RFC 8037, RFC 9864).
const defaultAlgorithms = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"] as const
// Clocks of machines that use NTP differ by far less; 30 s is the value of most libraries.
const defaultSkewMs = 30_000
const audiencesMax = 100

/** Expression types for the type words of `claims`. */
const claimTypes: Readonly<Record<string, string>> = {
  string: "string",
  int: "int",
  double: "double",
  bool: "bool",
  map: "map<string, dyn>",
  any: "dyn",
  list: "list<dyn>",
}

/** The claims that an issuer declares; "any" if it declares none, or if the declaration was not understood. */
export function claimsOfIssuer({ bound }: Declaration): ClaimTypes {
  const statement = statementOf(bound.block, "claims")
  const block = statement?.block
  // A list that was not read completely must not make the other claims errors.
  if (mayHide(bound.block, "claims") || block === undefined || block.damaged) return "any"
  const claims: Record<string, string> = {}
  for (const each of block.statements) claims[each.statement.keyword.text] = claimType(each)
  return claims
}

/** The issuer for the plan; undefined when something is missing or invalid (reported). */
export function lowerIssuer(declaration: Declaration, values: Values, report: Report): Issuer | undefined {
  const { bound } = declaration
  const { block } = bound
  for (const { statement } of statementOf(block, "claims")?.block?.statements ?? []) {
    const { text, span } = statement.keyword
    // As a key of an object it would set the prototype.
    if (text === "__proto__") report.add("SP2013", span, "`__proto__` is not a valid claim name")
  }
  if (bound.broken || block === undefined) return undefined
  const source = lowerSource(bound, values, report)
  const audiences = lowerAudiences(bound, values, report)
  const skewMs = statementOf(block, "clock-skew")?.args.value<number>("time") ?? defaultSkewMs
  const algorithms = lowerAlgorithms(bound, report)
  const claims = claimsOfIssuer(declaration)
  // All parts are read before this, so that one run reports all their mistakes.
  if (source === undefined || audiences === undefined || algorithms === undefined) return undefined
  return {
    source,
    audiences,
    clockSkewSeconds: skewMs / 1000,
    algorithms,
    claims: claims === "any" ? null : claims,
  }
}

/** The algorithms: the written ones, or those that fit the keys. A shared secret and a public key never use the same algorithms. */
function lowerAlgorithms({ block }: BoundStatement, report: Report): Issuer["algorithms"] | undefined {
  const said = statementOf(block, "algorithms")
  const keys = statementsOf(block, "key")
  const secrets = keys.filter(({ args }) => args.get("secret") !== undefined)
  const names = [...new Set(said?.args.values<string>("algorithm") ?? [])].sort()
  const hmac = names.filter((name) => name.startsWith("HS"))
  const isSecret = secrets.length > 0
  const [secret, other] = [secrets[0], keys.find((key) => !secrets.includes(key))]
  // Otherwise a token could be signed with the public key, which everybody has (RFC 8725, section 2.1).
  if (secret !== undefined && other !== undefined) {
    report.add(
      "SP3041",
      headSpan(other.statement),
      "this is a public key, but another key of the issuer is a shared secret",
      {
        related: [{ span: headSpan(secret.statement), message: "the shared secret" }],
      },
    )
    return undefined
  }
  if (said === undefined) return isSecret ? ["HS256", "HS384", "HS512"] : [...defaultAlgorithms].sort()
  if (isSecret ? hmac.length < names.length : hmac.length > 0) {
    const detail = isSecret
      ? "a shared secret works only with HS256, HS384 and HS512"
      : `${listed(hmac, "and")} ${hmac.length === 1 ? "needs" : "need"} a shared secret`
    report.add("SP3041", headSpan(said.statement), detail)
    return undefined
  }
  return names as Issuer["algorithms"]
}

/** Where an issuer's keys come from. Two sources exclude each other: it would be unclear which keys count. */
function lowerSource(bound: BoundStatement, values: Values, report: Report): Issuer["source"] | undefined {
  const { block, statement } = bound
  const discovery = statementOf(block, "discovery")
  const file = statementOf(block, "keys")
  const inline = statementsOf(block, "key")
  const said = [file, ...inline, statementOf(block, "issuer")]
  const [first] = said.filter((each) => each !== undefined)
  if (discovery !== undefined && first !== undefined) {
    reportBoth(first, discovery, report)
    return undefined
  }
  if (discovery !== undefined) {
    const url = lowerUrl(discovery.args.text("url"), values, report)
    if (url === undefined) return undefined
    // `exact`: the URL is not completed to `/.well-known/…`.
    const exact = discovery.statement.args.some((each) => each.kind === "word" && each.text === "exact")
    return exact ? { discovery: url, exact } : { discovery: url }
  }
  if (file !== undefined && inline[0] !== undefined) {
    reportBoth(inline[0], file, report)
    return undefined
  }
  const issuer = lowerIssuerName(bound, values)
  if (issuer !== undefined && (file !== undefined || inline.length > 0)) {
    if (issuer === "broken") return undefined
    if (file === undefined) return lowerInline(inline, issuer, values)
    const keys = file.args.value<{ file: string }>("file")
    return keys === undefined ? undefined : { keys, issuer }
  }
  if (!["discovery", "keys", "key", "issuer"].some((each) => mayHide(block, each))) {
    const keyed = file !== undefined || inline.length > 0
    // Names the missing half: the user has written one of two statements that belong together.
    const what = keyed ? "no `issuer`" : issuer === undefined ? "neither `discovery` nor `keys`" : "no `keys`"
    report.add("SP2009", headSpan(statement), `\`${bound.args.word("name")?.text}\` has ${what}`, {
      help: 'Add `discovery "https://…/.well-known/openid-configuration"`, or `keys file("…")` and `issuer "…"`.',
    })
  }
  return undefined
}

/** Two statements that exclude each other. */
function reportBoth(one: BoundStatement, other: BoundStatement, report: Report): void {
  const word = other.row.keyword
  report.add(
    "SP2017",
    one.statement.keyword.span,
    `\`${word}\` and \`${one.row.keyword}\` exclude each other`,
    {
      related: [{ span: other.statement.keyword.span, message: `\`${word}\`` }],
      help: `Keep one of the two: \`${one.row.keyword}\` or \`${word}\`.`,
    },
  )
}

/** The `iss` claim of tokens; null: any. Undefined if not specified. */
function lowerIssuerName({ block }: BoundStatement, values: Values): LoadText | null | "broken" | undefined {
  const issuer = statementOf(block, "issuer")
  if (issuer === undefined) return undefined
  const name = issuer.args.text("name")
  // `issuer *` has no name.
  if (name === undefined) return null
  return values.loadText(name) ?? "broken"
}

/** Keys in the text of gateway.conf, in textual order. */
function lowerInline(
  keys: readonly BoundStatement[],
  issuer: LoadText | null,
  values: Values,
): Issuer["source"] {
  const inline = keys.flatMap(({ args }): InlineKey[] => {
    const id = args.value<string>("id") ?? null
    const secret = args.word("secret")
    if (secret !== undefined) {
      values.needSecret(secret.text)
      return [{ id, secret: secret.text, encoding: args.value("encoding") === "base64" ? "base64" : "text" }]
    }
    const certificate = args.value<{ file: string }>("certificate")
    if (certificate !== undefined) return [{ id, certificate }]
    return [{ id, rsa: { n: args.value<string>("n") ?? "", e: args.value<string>("e") ?? "" } }]
  })
  return { inline, issuer }
}

/** `audience *`: the statement without a name. */
export function anyAudience(block: BoundBlock | undefined): BoundStatement | undefined {
  return statementsOf(block, "audience").find(({ args }) => args.filled.length === 0)
}

/** Null: any. */
function lowerAudiences(
  // Sorted at the end: the order of audiences means nothing.
  bound: BoundStatement,
  values: Values,
  report: Report,
): LoadText[] | null | undefined {
  const { block, statement } = bound
  const any = anyAudience(block)
  const statements = statementsOf(block, "audience").filter((each) => each !== any)
  const [first] = statements
  if (any !== undefined && first !== undefined) {
    report.add(
      "SP2017",
      headSpan(any.statement),
      "`audience *` accepts every audience, so the others have no effect",
      {
        related: [{ span: headSpan(first.statement), message: "the other one" }],
      },
    )
    return undefined
  }
  if (any !== undefined) return null
  if (first === undefined) {
    if (!mayHide(block, "audience"))
      // Not a default of "any": that is the mistake of most gateways, so it has to be written.
      report.add("SP3020", headSpan(statement), "tokens issued for any other service would be accepted")
    return undefined
  }
  const audiences = new Map<string, LoadText>()
  for (const { argument } of statements.flatMap((each) => each.args.all("audience"))) {
    if (argument.kind !== "word" && argument.kind !== "text") continue
    if (argument.kind === "word" && argument.text === "*") {
      report.add("SP2017", argument.span, "`*` accepts every audience, so the others have no effect", {
        help: "Write `audience *` alone, or remove the `*`.",
      })
      return undefined
    }
    // Here a bare word is the audience itself, not a named value: `audience orders-api`.
    const text = argument.kind === "word" ? argument.text : values.loadText(argument)
    if (text === undefined) return undefined
    if (text === "") report.add("SP2038", argument.span, "the audience is empty")
    const key = JSON.stringify(text)
    if (audiences.has(key)) report.add("SP2016", argument.span, "the audience is given twice")
    audiences.set(key, text)
  }
  if (audiences.size > audiencesMax) {
    // The plan's bound; the finding names the place, which the reader of the plan could not.
    report.add(
      "SP3016",
      headSpan(statement),
      `${audiences.size} audiences are given; the maximum is ${audiencesMax}`,
    )
  }
  return [...audiences].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

function claimType({ args }: BoundStatement): string {
  const item = args.value<string>("item")
  if (item !== undefined) return `list<${claimTypes[item] ?? "dyn"}>`
  return claimTypes[args.value<string>("type") ?? "list"] ?? "dyn"
}

import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { reachOf } from "../lower/listen.ts"
import type { Program } from "../program.ts"

/** Who exchanges secrets or tokens with an issuer (`people log in at`), and where that is written. */
interface CredentialUser {
  readonly span: Span
  readonly does: string
}

/** Warns of credentials that others on the network could read: those of operators, and those that are exchanged with identity providers. */
export function checkPlainHttp(program: Program, report: Report): void {
  checkControl(program, report)
  checkPortal(program, report)
  const atIssuer = (block: BoundBlock | undefined, user: CredentialUser) => {
    const name = statementOf(block, "issuer")?.args.word("issuer")?.text
    if (name !== undefined) checkIssuer(name, user, program, report)
  }
  for (const { args, block } of statementsOf(program.control?.block, "auth")) {
    const login = statementOf(block, "login")
    const issuer = args.word("issuer")?.text
    if (login !== undefined && issuer !== undefined)
      checkIssuer(issuer, { span: headSpan(login.statement), does: "people log in at" }, program, report)
  }
  for (const { name, span, bound } of program.all("oidc"))
    atIssuer(bound.block, { span, does: `\`${name}\` gets tokens from` })
  for (const { name, span, bound } of program.all("token")) {
    const does = `\`${name}\` sends its secret`
    const url = plainUrlIn(bound.block, "url")
    if (url !== undefined) report.add("SP3075", span, `${does} over plain HTTP: ${url}`)
    atIssuer(bound.block, { span, does: `${does} to` })
  }
  for (const { bound } of [...program.all("backend"), ...program.all("pdp")])
    for (const { args, statement } of statementsOf(bound.block, "token")) {
      const user = { span: headSpan(statement), does: "the secret is sent to" }
      checkIssuer(args.word("issuer")?.text ?? "", user, program, report)
    }
}

/** Browsers keep the cookie of a session only over HTTPS, or from this machine. A proxy that `external` names may have the TLS. */
function checkPortal(program: Program, report: Report): void {
  const block = program.portal?.block
  const auth = statementOf(block, "auth")
  if (auth === undefined || block?.damaged !== false || statementOf(block, "external") !== undefined) return
  for (const { args, block: own } of statementsOf(block, "listen")) {
    if (statementOf(own, "tls") !== undefined) continue
    for (const { argument, value } of args.all("address")) {
      if (typeof value !== "object" || value === null || !("host" in value)) continue
      const host = String(value.host)
      if (host === "localhost" || host === "::1" || host.startsWith("127.")) continue
      report.add(
        "SP3073",
        argument.span,
        "browsers do not keep the sessions of the portal that come over plain HTTP",
        {
          related: [{ span: headSpan(auth.statement), message: "the sessions" }],
          help: "Add `tls` to this `listen`, or `external` with the address of the proxy that has it.",
        },
      )
    }
  }
}

function checkControl(program: Program, report: Report): void {
  for (const { args, block } of statementsOf(program.control?.block, "listen")) {
    if (statementOf(block, "tls") !== undefined || block?.damaged === true) continue
    for (const { argument, value } of args.all("address")) {
      // Where another address comes from is only known where it is read.
      if (typeof value !== "object" || value === null || !("host" in value)) continue
      const host = String(value.host)
      const reach = reachOf(host)
      if (reach === "inside" || reach === "unknown") continue
      const where = reach === "everywhere" ? "listens on every interface" : "is a public address"
      report.add("SP3074", argument.span, `\`${host}\` ${where}, and this listener has no \`tls\``)
    }
  }
}

function checkIssuer(name: string, { span, does }: CredentialUser, program: Program, report: Report): void {
  const declared = program.find("issuer", name)
  const url = plainUrlIn(declared?.bound.block, "discovery")
  if (declared === undefined || url === undefined) return
  report.add("SP3075", span, `${does} \`${name}\` over plain HTTP: ${url}`, {
    related: [{ span: declared.span, message: "the issuer" }],
  })
}

/** Names that no domain of the internet has, and what ends the names of a cluster. */
const internalNames = /\.(?:local|localhost|internal|intranet|lan|home\.arpa|svc|test)\.?$/

/** The `http:` URL of a statement, if its server may be reached over the internet; undefined also for a URL that only the runtime knows. */
function plainUrlIn(block: BoundBlock | undefined, keyword: string): string | undefined {
  const argument = statementOf(block, keyword)?.args.text("url")
  if (argument?.kind !== "text") return undefined
  const text = argument.parts.map((part) => (part.kind === "literal" ? part.value : "\0")).join("")
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname } = new URL(text)
  if (protocol !== "http:") return undefined
  const host = hostname.replace(/^\[|\]$/g, "")
  const reach = reachOf(host)
  const isOutside =
    reach === "unknown" ? host.includes(".") && !internalNames.test(host) : reach === "outside"
  return isOutside ? text : undefined
}

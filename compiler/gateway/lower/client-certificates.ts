import type { ClientCertificatePlan } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** Whose client certificates a listener accepts, from its `tls` block. Absent: clients are not asked. */
export function clientCertificatesOf(
  tls: BoundBlock | undefined,
  report: Report,
): { readonly clientCertificates?: ClientCertificatePlan[] } {
  const statements = statementsOf(tls, "client-certificate")
  reportRepeated(statements, report)
  const found = statements.flatMap((each) => planOf(each) ?? [])
  if (found.length === 0) return {}
  // The order has no meaning: hosts are found by their names.
  const keyOf = ({ hosts = [] }: ClientCertificatePlan) => hosts.join(" ")
  return { clientCertificates: found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) }
}

function planOf({ args, block, broken }: BoundStatement): ClientCertificatePlan | undefined {
  const demand = args.word("demand")?.text as ClientCertificatePlan["demand"] | undefined
  const [ca, revoked] = [filesOf(block, "ca"), filesOf(block, "revoked")]
  if (broken || demand === undefined || ca.length === 0) return undefined
  const hosts = hostsOf(args).toSorted()
  return {
    demand,
    ...(hosts.length === 0 ? {} : { hosts }),
    ca,
    ...(revoked.length === 0 ? {} : { revoked }),
  }
}

function hostsOf(args: BoundStatement["args"]): string[] {
  return [...new Set(args.all("host").flatMap(({ value }) => (typeof value === "string" ? [value] : [])))]
}

function filesOf(block: BoundBlock | undefined, keyword: string): { file: string }[] {
  const files = statementsOf(block, keyword).flatMap(
    ({ args }) => args.value<{ file: string }>("file")?.file ?? [],
  )
  return [...new Set(files)].map((file) => ({ file }))
}

/** Each host, and the rest without one, belongs to one statement. */
function reportRepeated(statements: readonly BoundStatement[], report: Report): void {
  const before = new Map<string, BoundStatement>()
  for (const each of statements) {
    const hosts = hostsOf(each.args)
    for (const host of hosts.length === 0 ? [""] : hosts) {
      const other = before.get(host)
      if (other === undefined) {
        before.set(host, each)
        continue
      }
      const who = host === "" ? "clients of all other hosts" : `clients of \`${host}\``
      report.add("SP2017", headSpan(each.statement), `another \`client-certificate\` is for ${who}`, {
        related: [{ span: headSpan(other.statement), message: "the other one" }],
      })
    }
  }
}

/** Reports `request` at an internal listener, which has no statement that would refuse a client without a certificate. */
export function reportUnused(tls: BoundBlock | undefined, where: string, report: Report): void {
  for (const { args, statement } of statementsOf(tls, "client-certificate"))
    if (args.word("demand")?.text === "request")
      report.add(
        "SP2017",
        headSpan(statement),
        `${where} lets clients without a certificate through anyway`,
        {
          help: "Write `client-certificate require`.",
        },
      )
}

/** Whether a listener of the gateway asks clients for certificates; also when it could not be understood. */
export function asksForCertificates({ gateway }: Program): boolean {
  return statementsOf(gateway?.block, "listen").some(
    ({ block, broken }) =>
      broken || statementsOf(statementOf(block, "tls")?.block, "client-certificate").length > 0,
  )
}

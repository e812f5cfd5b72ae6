import type {
  AcmePlan,
  CertificatePlan,
  DeclaredListener,
  PemCertificatePlan,
} from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import {
  type Args,
  type BoundBlock,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { lowerUrl, urlProblemOf } from "./url.ts"
import type { Values } from "./values.ts"

/** The directories of Let's Encrypt. The one for tests has higher limits, and its certificates are not trusted by clients. */
const directories: Readonly<Record<string, string>> = {
  letsencrypt: "https://acme-v02.api.letsencrypt.org/directory",
  staging: "https://acme-staging-v02.api.letsencrypt.org/directory",
}

/** What a declared certificate is read with. */
export interface CertificateContext {
  readonly program: Program
  readonly values: Values
  readonly report: Report
}

/** The plan of a declared certificate: from files and named values, or from ACME. Undefined when a part is missing or wrong (reported). */
export function lowerCertificate(
  name: string,
  bound: BoundStatement,
  context: CertificateContext,
): CertificatePlan | undefined {
  const { block } = bound
  const { report } = context
  const acme = statementOf(block, "acme")
  const isOff = statementOf(block, "ocsp-stapling")?.args.word("choice")?.text === "off"
  const stapling = isOff ? { ocspStapling: false as const } : {}
  const pem = statementOf(block, "cert") ?? statementOf(block, "key")
  if (acme !== undefined && pem !== undefined) {
    report.add("SP2017", headSpan(acme.statement), `\`${name}\` already has a \`cert\` or \`key\``, {
      related: [{ span: headSpan(pem.statement), message: "it is here" }],
    })
    return undefined
  }
  if (acme !== undefined) {
    const plan = lowerAcme(acme.block, context)
    return plan === undefined ? undefined : { acme: plan, ...stapling }
  }
  if (block === undefined || block.damaged || mentions(block, "acme")) return undefined
  if (!mentions(block, "cert") && !mentions(block, "key"))
    report.add(
      "SP2009",
      headSpan(bound.statement),
      `\`certificate ${name}\` has no \`cert\`, and no \`acme\``,
      {
        help: 'Add `cert file("…")` and `key file("…")`, or `acme { … }`.',
      },
    )
  else
    for (const keyword of ["cert", "key"])
      if (!mentions(block, keyword))
        report.add("SP2009", headSpan(bound.statement), `\`certificate ${name}\` has no \`${keyword}\``, {
          help: `Add e.g. \`${keyword} file("certs/edge.${keyword === "cert" ? "pem" : "key"}")\`.`,
        })
  const plan = lowerPem(block, context.program)
  return plan && { ...plan, ...stapling }
}

function lowerPem(block: BoundBlock, program: Program): PemCertificatePlan | undefined {
  const source = (keyword: string) => {
    const args = statementOf(block, keyword)?.args
    const named = args?.word("named")?.text
    if (named === undefined) return args?.value<{ file: string }>("file")
    return program.find("value", named)?.kind === "value" ? { value: named } : { secret: named }
  }
  const [cert, key] = [source("cert"), source("key")]
  return cert === undefined || key === undefined || "value" in key ? undefined : { cert, key }
}

function lowerAcme(block: BoundBlock | undefined, context: CertificateContext): AcmePlan | undefined {
  const one = (keyword: string): Args | undefined => statementOf(block, keyword)?.args
  const directory = directoryOf(one("directory"), context)
  const hosts = hostsOf(block, context.report)
  const secret = one("encrypt-with")?.word("secret")?.text
  const account = one("external-account")
  const id = account?.text("id")
  const accountId = id === undefined ? undefined : context.values.loadText(id)
  const accountSecret = account?.word("secret")?.text
  const contact = one("contact")?.value<string>("contact")
  const ca = one("ca")?.value<{ file: string }>("file")
  if (directory === undefined || hosts.length === 0 || secret === undefined) return undefined
  return {
    directory,
    hosts,
    protectedBy: { secret },
    ...(contact === undefined ? {} : { contact }),
    ...(one("challenge")?.word("choice")?.text === "tls-alpn-01"
      ? { challenge: "tls-alpn-01" as const }
      : {}),
    ...(accountId === undefined || accountSecret === undefined
      ? {}
      : { externalAccount: { id: accountId, secret: accountSecret } }),
    ...(ca === undefined ? {} : { ca }),
  }
}

/** Sorted: the order of hosts must not change the plan, or the certificate. */
function hostsOf(block: BoundBlock | undefined, report: Report): string[] {
  const hosts = new Set<string>()
  for (const { args } of statementsOf(block, "hosts"))
    for (const { argument, value } of args.all("host")) {
      const host = value as string
      if (host.startsWith("*."))
        report.add("SP2024", argument.span, `\`${shown(host)}\` cannot be proved by HTTP-01 or TLS-ALPN-01`, {
          help: "List each host. Authorities issue wildcards only for changes in DNS, which the gateway does not make.",
        })
      else hosts.add(host)
    }
  return [...hosts].sort()
}

function directoryOf(args: Args | undefined, { values, report }: CertificateContext): LoadText | undefined {
  const choice = args?.word("choice")?.text
  if (args === undefined) return undefined
  if (choice !== undefined) return directories[choice]
  const written = args.text("url")
  const url = lowerUrl(written, values, report)
  if (url === undefined) return undefined
  const [first] = values.preview(url)
  if (first === undefined || !/^http:/i.test(first) || urlProblemOf(url, values) !== undefined) return url
  report.add("SP2026", written?.span, "a directory has an `https:` URL (RFC 8555 §6.1)", {
    help: 'Write `https:`. For an authority of your own, add `ca file("…")`.',
  })
  return undefined
}

/**
 * Reports certificates from ACME that are used for something else than listeners, and those whose authority would find nobody who answers it.
 * `listen`: the listeners of the gateway.
 */
export function checkAcme(
  certificates: Readonly<Record<string, CertificatePlan>>,
  {
    asClient,
    listen,
  }: { readonly asClient: ReadonlySet<string>; readonly listen: readonly DeclaredListener[] },
  program: Program,
  report: Report,
): void {
  for (const [name, certificate] of Object.entries(certificates)) {
    const declared = program.find("certificate", name)
    if (!("acme" in certificate) || declared === undefined) continue
    const { challenge } = certificate.acme
    if (asClient.has(name))
      report.add(
        "SP3052",
        declared.span,
        `\`${name}\` comes from ACME, and the gateway presents it to a server`,
      )
    if (challenge === undefined && !listen.some(({ tls }) => tls === undefined))
      report.add(
        "SP3053",
        declared.span,
        `\`${name}\` is proved by HTTP-01, and no \`listen\` of the gateway accepts plain HTTP`,
      )
    if (challenge !== undefined && !listen.some(({ tls }) => tls !== undefined))
      report.add(
        "SP3053",
        declared.span,
        `\`${name}\` is proved by TLS-ALPN-01, and no \`listen\` of the gateway has \`tls\``,
      )
  }
}

import type { Backend } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"

/** The service the gateway connects to, and the wording of findings about it. */
export interface OtherSide {
  readonly name: string
  readonly urls: readonly LoadText[]
  /** `no target would see the certificate: all are …`. */
  readonly unseen: string
  /** `no target has a certificate: all are …`. */
  readonly without: string
  /** How findings name the URL. */
  readonly url: string
}

/** How the gateway verifies the service's certificate, and which certificate it presents. Settings without effect are reported. */
export function lowerTls(
  block: BoundBlock | undefined,
  { name, urls, unseen, without, url }: OtherSide,
  certificate: string | undefined,
  report: Report,
): Backend["tls"] {
  const tls = statementOf(block, "tls")
  const ca = statementOf(tls?.block, "ca")?.args.value<{ file: string }>("file")
  const insecure = statementOf(tls?.block, "insecure")
  if (insecure !== undefined && ca !== undefined) {
    report.add(
      "SP2017",
      insecure.statement.keyword.span,
      "`insecure` skips the check of the certificate, so `ca` has no effect",
    )
  } else if (insecure !== undefined) {
    report.add(
      "SP3019",
      insecure.statement.keyword.span,
      `any machine on the network path can pose as \`${name}\``,
    )
  }
  if (urls.length > 0 && urls.every(isPlain)) {
    const shown = statementsOf(block, "authenticate").find(
      ({ args }) => args.get("certificate") !== undefined,
    )
    if (certificate !== undefined && shown !== undefined)
      report.add("SP2017", headSpan(shown.statement), unseen, {
        help: "Write `https:` in the URL, or remove this.",
      })
    const first =
      statementOf(block, "url") ??
      statementsOf(block, "target")[0] ??
      statementOf(block, "targets") ??
      statementOf(block, "otlp")
    // An author who configures certificate verification expects TLS.
    if ((insecure ?? ca) !== undefined && tls !== undefined && first !== undefined)
      report.add("SP2017", tls.statement.keyword.span, without, {
        related: [{ span: first.statement.keyword.span, message: url }],
        help: "Write `https:` in the URL, or remove `tls`.",
      })
  }
  return {
    ...(ca === undefined ? {} : { ca }),
    insecure: insecure !== undefined,
    ...(certificate === undefined ? {} : { certificate }),
  }
}

/** Whether all connections to this URL are certainly unencrypted. */
export function isPlain(url: LoadText): boolean {
  const first = typeof url === "object" && "text" in url ? url.text[0] : url
  return typeof first === "string" && /^http:/i.test(first)
}

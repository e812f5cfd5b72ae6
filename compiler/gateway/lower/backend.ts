import type { Backend } from "../../../runtime/plan/backend.ts"
import { digestOf } from "../../../runtime/plan/canonical.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { inlineBackendPrefix } from "../bind/names.ts"
import type { Declaration } from "../program.ts"
import type { OwnCredentials } from "./own-credentials.ts"
import { lowerResilience } from "./resilience.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

const defaultConnectMs = 2000

/** The backend for the plan; undefined when something is missing or wrong (reported). */
export function lowerBackend(
  { bound, name }: Declaration,
  values: Values,
  credentials: OwnCredentials,
  report: Report,
): Backend | undefined {
  const { block } = bound
  if (bound.broken || block === undefined) return undefined
  const targets = lowerTargets(bound, name, values, report)
  const timeout = statementOf(block, "timeout")?.args
  const tls = statementOf(block, "tls")?.block
  const ca = statementOf(tls, "ca")?.args.value<{ file: string }>("file")
  const insecure = statementOf(tls, "insecure")
  if (insecure !== undefined && ca !== undefined) {
    report.add("SP2017", insecure.statement.keyword.span, "with `insecure` no authority is asked")
  } else if (insecure !== undefined) {
    report.add("SP3019", insecure.statement.keyword.span, `anybody on the way can answer for \`${name}\``)
  }
  const own = credentials.ofBackend(bound)
  if (targets === undefined || own === "broken") return undefined
  const { certificate, authentication } = own
  if (certificate !== undefined && targets.every(({ url }) => isPlain(url)))
    reportUselessCertificate(bound, report)
  if ((insecure ?? ca) !== undefined && targets.every(({ url }) => isPlain(url)))
    reportUselessTls(bound, report)
  return {
    targets,
    connectMs: timeout?.value<number>("connect") ?? defaultConnectMs,
    totalMs: timeout?.value<number | null>("total") ?? null,
    ...timesOf(timeout),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      insecure: insecure !== undefined,
      ...(certificate === undefined ? {} : { certificate }),
    },
    ...(statementOf(block, "http2") === undefined ? {} : { http2: true }),
    ...balanceOf(statementOf(block, "balance")),
    ...lowerResilience(block, report),
    ...(authentication === undefined ? {} : { authentication }),
  }
}

function timesOf(timeout: Bound["args"] | undefined): Pick<Backend, "firstByteMs" | "idleMs"> {
  const firstByteMs = timeout?.value<number>("firstByte")
  const idleMs = timeout?.value<number>("idle")
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
  }
}

function balanceOf(bound: Bound | undefined): Pick<Backend, "balance"> {
  const word = bound?.statement.args[0]
  if (bound === undefined || bound.broken || word?.kind !== "word") return {}
  if (word.text === "least-outstanding" || word.text === "hash") return { balance: word.text }
  return {}
}

/** Whether it is certain that nothing is encrypted on the way to this target. */
function isPlain(url: LoadText): boolean {
  const first = typeof url === "object" && "text" in url ? url.text[0] : url
  return typeof first === "string" && /^http:/i.test(first)
}

function reportUselessCertificate({ block }: Bound, report: Report): void {
  const said = statementsOf(block, "authenticate").find(({ args }) => args.get("certificate") !== undefined)
  if (said !== undefined)
    report.add("SP2017", headSpan(said.statement), "no target would see the certificate: all are `http:`", {
      help: "Write `https:` in the URL, or remove this.",
    })
}

/** Whoever says how certificates are checked believes that there are some. */
function reportUselessTls({ block }: Bound, report: Report): void {
  const tls = statementOf(block, "tls")?.statement.keyword.span
  const target = (statementOf(block, "url") ?? statementsOf(block, "target")[0])?.statement.keyword.span
  if (tls === undefined || target === undefined) return
  report.add("SP2017", tls, "no target has a certificate: all are `http:`", {
    related: [{ span: target, message: "a target" }],
    help: "Write `https:` in the URL, or remove `tls`.",
  })
}

/** A backend that is only a URL, and the name it gets. Equal URLs are one backend. */
export function inlineBackend(url: LoadText): { name: string; backend: Backend } {
  const name = `${inlineBackendPrefix}${digestOf(url).slice("sha256:".length, "sha256:".length + 8)}`
  const backend = {
    targets: [{ url, weight: 1 }],
    connectMs: defaultConnectMs,
    totalMs: null,
    tls: { insecure: false },
  }
  return { name, backend }
}

function lowerTargets(
  bound: Bound,
  name: string,
  values: Values,
  report: Report,
): Backend["targets"] | undefined {
  const { block } = bound
  const url = statementOf(block, "url")
  const statements = statementsOf(block, "target")
  const [first] = statements
  if (url !== undefined && first !== undefined) {
    report.add("SP2017", first.statement.keyword.span, "with `url` there is no `target`", {
      related: [{ span: url.statement.keyword.span, message: "`url`" }],
      help: 'Write every target as `target "…"`, or keep `url` alone.',
    })
    return undefined
  }
  if (url === undefined && !mentions(block, "url") && !mentions(block, "target") && block?.damaged !== true) {
    report.add("SP2009", headSpan(bound.statement), `\`${name}\` has neither \`url\` nor \`target\``, {
      help: 'Add `url "http://…"`.',
    })
  }
  const targets = new Map<string, Backend["targets"][number]>()
  for (const each of url === undefined ? statements : [url]) {
    const argument = each.args.text("url")
    const text = lowerUrl(argument, values, report)
    if (text === undefined || argument === undefined) continue
    const key = JSON.stringify(text)
    if (targets.has(key))
      report.add("SP2016", argument.span, "the target is there twice", {
        help: "Give one of them a higher `weight` instead.",
      })
    targets.set(key, { url: text, weight: each.args.value<number>("weight") ?? 1 })
  }
  const sorted = [...targets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
  return sorted.length === 0 ? undefined : sorted
}

import { digestOf } from "../../../runtime/plan/canonical.ts"
import type { Backend } from "../../../runtime/plan/resources.ts"
import type { LoadText } from "../../../runtime/plan/text.ts"
import type { Report } from "../../core/diagnostic.ts"
import { textOf } from "../../core/source.ts"
import {
  type BoundBlock,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import { mayHide } from "../bind/hidden.ts"
import { inlineBackendPrefix } from "../bind/names.ts"
import type { Declaration } from "../program.ts"
import { type Discovered, lowerDiscovery } from "./discovery.ts"
import type { OwnCredentialPlans } from "./own-credentials.ts"
import { lowerResilience } from "./resilience.ts"
import { isPlain, lowerTls } from "./tls.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

/** Long enough for another continent with TLS, short enough that the next target is tried before callers give up. */
const defaultConnectMs = 2000

const plainTargets = {
  unseen: "the client certificate is never sent: all targets are `http:`",
  without: "there is no server certificate to check: all targets are `http:`",
  url: "a target",
}

/** The backend for the plan; undefined when something is missing or invalid (reported). */
export function lowerBackend(
  { bound, name }: Declaration,
  values: Values,
  credentials: OwnCredentialPlans,
  report: Report,
): Backend | undefined {
  const { block } = bound
  if (bound.broken || block === undefined) return undefined
  const found = lowerDiscovery(statementOf(block, "targets"), values, report)
  const targets = lowerTargets(bound, name, found, values, report)
  const timeout = statementOf(block, "timeout")?.args
  const own = credentials.ofBackend(bound)
  // `broken` also leaves the backend out, below. Until then its other mistakes are found.
  const { certificate, authentication } = own === "broken" ? {} : own
  const urls = (targets ?? []).map(({ url }) => url)
  const tls = lowerTls(block, { name, urls, ...plainTargets }, certificate, report)
  const http2 = statementOf(block, "http2")
  const isH2c = http2?.args.word("h2c") !== undefined
  if (http2 !== undefined && !isH2c && urls.length > 0 && urls.every(isPlain))
    report.add("SP2017", http2.statement.keyword.span, "HTTP/2 is never offered: all targets are `http:`", {
      help: "Write `https:` in the URL, or `http2 h2c` for a server that speaks HTTP/2 without TLS: otherwise HTTP/2 is negotiated in TLS (RFC 9113 section 3.2).",
    })
  checkTimes(timeout, report)
  if (targets === undefined || own === "broken") return undefined
  return {
    targets,
    ...(found === undefined ? {} : { discovery: found.discovery }),
    connectMs: timeout?.value<number>("connect") ?? defaultConnectMs,
    // Without `timeout total` the timeout of the route limits the request; null is no limit of the backend's own.
    totalMs: timeout?.value<number | null>("total") ?? null,
    ...timesOf(timeout),
    tls,
    // Absent instead of false: plans from before HTTP/2 keep their digests.
    ...(http2 === undefined ? {} : { http2: isH2c ? ("h2c" as const) : true }),
    ...balanceOf(statementOf(block, "balance")),
    ...lowerResilience(block, report),
    ...(authentication === undefined ? {} : { authentication }),
  }
}

function timesOf(timeout: BoundStatement["args"] | undefined): Pick<Backend, "firstByteMs" | "idleMs"> {
  const firstByteMs = timeout?.value<number>("firstByte")
  const idleMs = timeout?.value<number>("idle")
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
  }
}

/** Warns about partial timeouts that are longer than the whole timeout. */
function checkTimes(timeout: BoundStatement["args"] | undefined, report: Report): void {
  const total = timeout?.get("total")
  // `total none` has nothing that a part could exceed.
  if (timeout === undefined || typeof total?.value !== "number") return
  const parts = {
    connect: "to connect",
    firstByte: "to the first byte",
    idle: "between two parts of the body",
  }
  for (const [slot, what] of Object.entries(parts)) {
    const part = timeout.get(slot)
    if (typeof part?.value !== "number" || part.value <= total.value) continue
    const [long, whole] = [textOf(part.argument.span), textOf(total.argument.span)]
    report.add(
      "SP2042",
      part.argument.span,
      `the timeout ${what} is \`${long}\`, but the total timeout ends the request after \`${whole}\``,
      {
        related: [{ span: total.argument.span, message: "the total timeout" }],
      },
    )
  }
}

function balanceOf(bound: BoundStatement | undefined): Pick<Backend, "balance"> {
  const word = bound?.statement.args[0]
  if (bound === undefined || bound.broken || word?.kind !== "word") return {}
  // `round-robin` is the default and not written into the plan.
  if (word.text === "least-outstanding" || word.text === "hash") return { balance: word.text }
  return {}
}

/** A backend that is only a URL, with its generated name. Equal URLs share one backend. */
export function inlineBackend(url: LoadText): { name: string; backend: Backend } {
  // Named by its URL, so that the same URL in two routes shares connections, health and breaker.
  const name = `${inlineBackendPrefix}${digestOf(url).slice("sha256:".length, "sha256:".length + 8)}`
  const backend = {
    targets: [{ url, weight: 1 }],
    connectMs: defaultConnectMs,
    totalMs: null,
    tls: { insecure: false },
  }
  return { name, backend }
}

/** `url` is short for a single `target`. The URL of `targets` is a target too, whose addresses are found. */
function lowerTargets(
  bound: BoundStatement,
  name: string,
  discovered: Discovered | undefined,
  values: Values,
  report: Report,
): Backend["targets"] | undefined {
  const { block } = bound
  const url = statementOf(block, "url")
  const statements = statementsOf(block, "target")
  if (reportExclusion(block, report)) return undefined
  if (!["url", "target", "targets"].some((each) => mentions(block, each) || mayHide(block, each))) {
    report.add("SP2009", headSpan(bound.statement), `\`${name}\` has neither \`url\` nor \`target\``, {
      help: 'Add `url "http://…"`.',
    })
  }
  if (discovered !== undefined) return [{ url: discovered.url, weight: 1 }]
  const targets = new Map<string, Backend["targets"][number]>()
  for (const each of url === undefined ? statements : [url]) {
    const argument = each.args.text("url")
    const text = lowerUrl(argument, values, report)
    if (text === undefined || argument === undefined) continue
    const key = JSON.stringify(text)
    // The second one would only raise the share of this target, invisibly.
    if (targets.has(key))
      report.add("SP2016", argument.span, "the target is given twice", {
        help: "Give one of them a higher `weight` instead.",
      })
    targets.set(key, { url: text, weight: each.args.value<number>("weight") ?? 1 })
  }
  // The runtime counts targets by their order; the order of the text must not change who gets what.
  const sorted = [...targets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
  return sorted.length === 0 ? undefined : sorted
}

/** Reports two of `url`, `target` and `targets` in one backend. */
function reportExclusion(block: BoundBlock | undefined, report: Report): boolean {
  const [one, other] = ["url", "targets", "target"].flatMap((each) => statementsOf(block, each).slice(0, 1))
  if (one === undefined || other === undefined) return false
  const [first, second] = [one, other].map(({ statement }) => `\`${statement.keyword.text}\``)
  report.add("SP2017", other.statement.keyword.span, `${first} and ${second} exclude each other`, {
    related: [{ span: one.statement.keyword.span, message: `${first}` }],
    help:
      first === "`url`" && second === "`target`"
        ? 'Write every target as `target "…"`, or keep `url` alone.'
        : "Remove one of them: `targets` finds all targets of the backend.",
  })
  return true
}

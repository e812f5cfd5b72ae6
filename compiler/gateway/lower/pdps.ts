import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { PdpPlan } from "../../../runtime/plan/resources.ts"
import { namedBy } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type BoundBlock, headSpan, statementOf } from "../bind/bound.ts"
import { authzPdp } from "../bind/names.ts"
import type { Program } from "../program.ts"
import type { OwnCredentialPlans } from "./own-credentials.ts"
import { lowerBreaker } from "./resilience.ts"
import { lowerTls } from "./tls.ts"
import { lowerUrl } from "./url.ts"
import type { Values } from "./values.ts"

const defaultTimeoutMs = 1_000
const defaultBatchMax = 50

/** The inputs for lowering decision points. */
interface PdpSources {
  readonly program: Program
  readonly values: Values
  readonly report: Report
}

/** Decision points that steps ask. All declarations are checked. */
export function lowerPdps(
  sources: PdpSources,
  credentials: OwnCredentialPlans,
  steps: PlanBody["steps"],
): NonNullable<PlanBody["pdps"]> {
  const { program, values, report } = sources
  const used = namedBy(Object.values(steps), "pdps")
  const found: NonNullable<PlanBody["pdps"]> = {}
  const { authzUrl } = program
  if (authzUrl !== undefined) {
    const url = lowerUrl(authzUrl.args.text("url"), values, report)
    if (url !== undefined && used.has(authzPdp)) found[authzPdp] = { url, ...settingsOf(undefined) }
    if (!used.has(authzPdp) && !program.damaged)
      report.add("SP2014", headSpan(authzUrl.statement), "no `require` or `filter` asks this decision point")
  }
  for (const { name, bound } of program.all("pdp")) {
    if (bound.broken) continue
    const url = lowerUrl(statementOf(bound.block, "url")?.args.text("url"), values, report)
    const own = credentials.ofPdp(bound)
    if (own === "broken" || url === undefined) continue
    const { certificate, authentication } = own
    const otherSide = {
      ...{ name, urls: [url], url: "the URL" },
      unseen: "the client certificate is never sent: the URL of the decision point is `http:`",
      without: "there is no server certificate to check: the URL of the decision point is `http:`",
    }
    const tls = lowerTls(bound.block, otherSide, certificate, report)
    if (!used.has(name)) continue
    found[name] = {
      ...{ url, ...settingsOf(bound.block), tls },
      ...(authentication === undefined ? {} : { authentication }),
    }
  }
  values.needIn(found)
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The actions that a decision point declares; undefined: any. */
export function actionsOf(program: Program, name: string): ReadonlySet<string> | undefined {
  const block = program.find("pdp", name)?.bound.block
  const lines = (block?.statements ?? []).filter(({ row }) => row.keyword === "actions")
  // A line that was not understood may declare the action.
  if (lines.length === 0 || lines.some(({ broken }) => broken)) return undefined
  return new Set(lines.flatMap(({ args }) => args.words("action").map(({ text }) => text)))
}

/** Settings with their defaults. `batchMax` limits the evaluations in one request. */
function settingsOf(block: BoundBlock | undefined): Omit<PdpPlan, "url" | "authentication"> {
  const time = (keyword: string) => statementOf(block, keyword)?.args.value<number>("time")
  const breaker = lowerBreaker(statementOf(block, "breaker"))
  return {
    discover: statementOf(block, "discover") !== undefined,
    timeoutMs: time("timeout") ?? defaultTimeoutMs,
    cacheMs: time("cache") ?? 0,
    batchMax: statementOf(block, "batch")?.args.value<number>("count") ?? defaultBatchMax,
    tls: { insecure: false },
    ...(breaker === undefined ? {} : { breaker }),
  }
}

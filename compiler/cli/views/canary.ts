import type { CanaryCounts } from "../../../runtime/canary/counts.ts"
import { quantileMs } from "../../../runtime/canary/latency.ts"
import { percentText } from "../../../runtime/canary/verdict.ts"
import type { CanaryAnswer, CanaryRecord } from "../../../runtime/control/api.ts"
import { visible } from "../../render/width.ts"
import { utcText } from "./plan-record.ts"
import { table } from "./table.ts"

/** A canary in a line or two: whose, over which plan, and how it goes or ended. */
export function canaryText(canary: CanaryRecord): string {
  const { base, percent, startedAt, seconds, state } = canary
  const began = `began ${utcText(startedAt)} by ${visible(canary.who)}`
  if (state === "running") {
    const until = utcText(new Date(Date.parse(startedAt) + seconds * 1_000).toISOString())
    return `A canary serves ${percent} % of the callers beside serial ${base} until ${until}; it ${began}.\n`
  }
  return `No canary runs. The last one ${began} over serial ${base} and was ${outcomeText(canary)}.\n`
}

/** How a canary ended. */
function outcomeText({ state, serial, endedAt, endedBy, reason }: CanaryRecord): string {
  const as = serial === null ? "" : ` as serial ${serial}`
  const by = endedBy === null ? " by itself" : ` by ${visible(endedBy)}`
  const at = endedAt === null ? "" : ` ${utcText(endedAt)}`
  return `${state}${as}${at}${by}${reason === null ? "" : `: ${visible(reason)}`}`
}

/** The canary with its counts and the processes that cannot serve it. */
export function canaryAnswerText({ canary, verdict, processes }: CanaryAnswer): string {
  if (canary === null) return "There was no canary yet.\n"
  const { counts, limits } = canary
  const broken = processes.flatMap(({ name, error }) =>
    error === null ? [] : [`${name} cannot serve the plan: ${visible(error)}\n`],
  )
  return [
    canaryText(canary),
    counts === null ? "" : countsText(counts),
    `It returns at: ${limitsText(limits)}.\n`,
    verdict === null ? "" : `Now: ${visible(verdict)}.\n`,
    ...broken,
  ].join("")
}

function countsText(counts: CanaryCounts): string {
  const rows = (["old", "new"] as const).map((side) => {
    const { requests, failed, denied } = counts[side]
    const p95 = quantileMs(counts[side], 0.95)
    return [
      ...[side, String(requests), percentText(failed, requests), percentText(denied, requests)],
      p95 === undefined ? "-" : `${Math.round(p95)} ms`,
    ]
  })
  return table(["PLAN", "REQUESTS", "ERRORS", "DENIALS", "95 % WITHIN"], rows)
}

/** The limits in the words of `--return-when`. */
export function limitsText({ errorPoints, denialPoints, latencyRatio, requestsMin }: CanaryRecord["limits"]) {
  const rules = [
    errorPoints === null ? [] : [`errors +${errorPoints}%`],
    denialPoints === null ? [] : [`denials +${denialPoints}%`],
    latencyRatio === null ? [] : [`latency x${latencyRatio}`],
  ].flat()
  return `${rules.join(", ") || "nothing"}, after ${requestsMin} requests of the new plan`
}

/** The canaries of the history. */
export function canariesText(canaries: readonly CanaryRecord[]): string {
  if (canaries.length === 0) return ""
  const rows = canaries.map((canary) => [
    utcText(canary.startedAt),
    ...[`serial ${canary.base}`, visible(canary.who), `${canary.percent} %`, canary.digest.slice(7, 19)],
    canary.state === "running" ? "running" : outcomeText(canary),
  ])
  return `\n${table(["CANARY", "OVER", "WHO", "SHARE", "DIGEST", "OUTCOME"], rows)}`
}

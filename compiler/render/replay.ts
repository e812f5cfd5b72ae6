import pc from "picocolors"
import type { Replay, ReplayGroup } from "../replay/replay.ts"
import type { FactChange } from "../request-compare/outcome.ts"
import { effectWords, namesWords, outcomeChangeWords, type Paint } from "./outcome-words.ts"
import { visible } from "./width.ts"

type Counted = Replay["recorded"]

const groupsMax = 20
const routesNamed = 3
const blastRoutesMax = 10
const reasonsMax = 12
const indent = " ".repeat(12)

/**
 * What recorded requests become, as text for people. Differing requests of one cause are one group with an example:
 *
 *     312 of 50000 recorded requests (0.6 %) are treated differently, of 41 of 1204 callers (3.4 %)
 *       closes    280 requests (0.6 %) of 37 callers (3.1 %): GET /orders/{id}
 *                 200 from backend orders → 403 forbidden (require, gateway.conf:41)
 *                 for example GET /orders/17 at 2026-11-20T10:00:03.120Z
 */
export function replayText(replay: Replay, { colour }: { readonly colour: boolean }): string {
  const paint = pc.createColors(colour)
  const { recorded, groups, notReplayed } = replay
  if (recorded.requests === 0) return `The record has no requests.\n${segmentLines(replay).join("\n")}`
  const lines = [
    `${ofAll(replay.differing, recorded, "recorded ")} ${replay.differing.requests === 1 ? "is" : "are"} treated differently`,
    ...groups.slice(0, groupsMax).flatMap((group) => groupLines(group, recorded, paint)),
  ]
  if (groups.length > groupsMax) lines.push(`  and ${groups.length - groupsMax} more causes`)
  lines.push(...blastLines(replay), ...periodLines(replay))
  const left = notReplayed.reduce((sum, { requests }) => sum + requests, 0)
  if (left > 0) lines.push(`  not replayed: ${requestWords(left)} (${percent(left, recorded.requests)})`)
  for (const { reason, requests } of notReplayed.slice(0, reasonsMax))
    lines.push(`${indent}${requests}: ${visible(reason)}`)
  if (notReplayed.length > reasonsMax)
    lines.push(`${indent}and ${notReplayed.length - reasonsMax} more reasons`)
  return `${[...lines, ...segmentLines(replay)].join("\n")}\n`
}

/** `312 of 50000 requests (0.6 %) of 41 of 1204 callers (3.4 %)`. */
function ofAll(part: Counted, all: Counted, adjective = ""): string {
  const requests = `${part.requests} of ${all.requests} ${adjective}requests (${percent(part.requests, all.requests)})`
  return `${requests}, of ${part.callers} of ${all.callers} callers (${percent(part.callers, all.callers)}),`
}

function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (part / all) * 100
  if (share > 0 && share < 0.1) return "< 0.1 %"
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`
}

function requestWords(count: number): string {
  return `${count} request${count === 1 ? "" : "s"}`
}

function callerWords(count: number): string {
  return `${count} caller${count === 1 ? "" : "s"}`
}

function groupLines(group: ReplayGroup, all: Counted, paint: Paint): string[] {
  const { effect, requests, callers, routes, example, before, after } = group
  const counts = `${requestWords(requests)} (${percent(requests, all.requests)}) of ${callerWords(callers)} (${percent(callers, all.callers)})`
  return [
    `  ${effectWords(effect, paint)}  ${counts}: ${visible(namesWords([...routes.keys()], routesNamed))}`,
    `${indent}${visible(outcomeChangeWords(before, after, example.facts, isCredentialFact))}`,
    `${indent}for example ${visible(`${example.method} ${example.target}`)} at ${timeWords(example.atMs)}, caller ${example.caller}`,
  ]
}

/** Credentials of a replay are made up, and their values say nothing. */
function isCredentialFact(name: string): boolean {
  return / (?:authorization|proxy-authorization|cookie)$/.test(name)
}

function timeWords(ms: number): string {
  return new Date(ms).toISOString()
}

/** The share of calls and callers of the routes that the change concerns. */
function blastLines({ blast, recorded }: Replay): string[] {
  if (blast.requests === 0) return ["  nothing that differs between the plans concerns a recorded request"]
  const shown = blast.routes.slice(0, blastRoutesMax).map(({ route, requests, callers }) => {
    const counts = `${percent(requests, recorded.requests)} of requests, ${percent(callers, recorded.callers)} of callers`
    return `${indent}${visible(route)}: ${counts}`
  })
  const more = blast.routes.length - blastRoutesMax
  return [
    `  concerned: ${ofAll(blast, recorded)} at ${blast.routes.length} route${blast.routes.length === 1 ? "" : "s"}`,
    ...shown,
    ...(more > 0 ? [`${indent}and ${more} more routes`] : []),
  ]
}

function periodLines({ period, ofOtherPlans, recorded }: Replay): string[] {
  if (period === undefined) return []
  const span = `  recorded from ${timeWords(period.fromMs)} to ${timeWords(period.toMs)}`
  if (ofOtherPlans === 0) return [span]
  const share = percent(ofOtherPlans, recorded.requests)
  return [`${span}; ${requestWords(ofOtherPlans)} (${share}) under another plan than the one compared with`]
}

function segmentLines({ segments }: Replay): string[] {
  const words = {
    torn: "a file ends within its last frame, because its process ended: its last requests are missing",
    damaged: "a file was altered: what follows the damage is left out",
    foreign: "a file was encrypted with another secret and is left out",
    unknown: "a file is no record, or that of a later version, and is left out",
  } as const
  return (["torn", "damaged", "foreign", "unknown"] as const).flatMap((ending) =>
    segments[ending] === 0 ? [] : [`  ${segments[ending]}×: ${words[ending]}`],
  )
}

/** The replay for programs. */
export function replayDocument(replay: Replay) {
  const { recorded, period, blast, differing, groups, notReplayed } = replay
  return {
    recorded,
    period: period === undefined ? null : { from: timeWords(period.fromMs), to: timeWords(period.toMs) },
    unchanged: replay.unchanged,
    sent: replay.sent,
    concerned: blast,
    differing,
    groups: groups.map(({ routes, example, effect, before, after, facts, ...counts }) => ({
      ...{ effect, before, after, facts, ...counts },
      routes: [...routes].map(([route, requests]) => ({ route, requests })),
      example: {
        ...{ method: example.method, host: example.host, target: example.target, caller: example.caller },
        at: timeWords(example.atMs),
        facts: example.facts.map(factDocument),
      },
    })),
    notReplayed,
    ofOtherPlans: replay.ofOtherPlans,
    segments: replay.segments,
  }
}

function factDocument({ name, before, after }: FactChange) {
  const isHidden = isCredentialFact(name)
  const shown = (value: string | undefined) => (value === undefined ? null : isHidden ? "…" : value)
  return { name, before: shown(before), after: shown(after) }
}

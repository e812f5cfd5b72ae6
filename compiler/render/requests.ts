import pc from "picocolors"
import type { RequestComparison, RequestDifference } from "../request-compare/compare-requests.ts"
import type { RequestOutcome } from "../request-compare/outcome.ts"
import { effectWords, namesWords, outcomeChangeWords, type Paint } from "./outcome-words.ts"
import { visible } from "./width.ts"

type Effect = RequestDifference["effect"]

const effects: readonly Effect[] = ["opens", "closes", "changes"]
const groupsMax = 20
const linesMax = 12
const routesNamed = 3
const callersNamed = 3
const indent = " ".repeat(12)

/** Callers of one route who notice the same. `kind`: the text without what is of this route alone. */
interface Line {
  readonly effect: Effect
  readonly callers: string[]
  readonly text: string
  readonly kind: string
}

/**
 * What callers notice, as text for people. Routes with equal lines are one group, and callers with equal outcomes one line:
 *
 *     2 of 60 routes treat requests differently (3 %): 36 requests were sent through both plans
 *       opens     GET /orders, GET /orders/{id}
 *                 without a credential: 401 unauthorized (auth, gateway.conf:8) → 200 from backend orders
 */
export function requestsText(
  comparison: RequestComparison,
  { colour }: { readonly colour: boolean },
): string {
  const { routes, concerned, left, requests, differences, unplayed } = comparison
  if (concerned === 0) return ""
  const paint = pc.createColors(colour)
  const groups = groupsOf(differences)
  const differing = new Set(differences.flatMap(({ routes: each }) => each)).size
  const share = routes === 0 ? 0 : Math.round((differing / routes) * 100)
  const lines = [
    `${differing} of ${routes} routes treat requests differently (${share} %): ${requests} requests were sent through the plans`,
    ...groups.slice(0, groupsMax).flatMap((group) => groupLines(group, paint)),
  ]
  if (groups.length > groupsMax) lines.push(`  and ${groups.length - groupsMax} more groups of routes`)
  if (left > 0)
    lines.push(`  ${left} more routes were not compared, because ${requests} requests are the limit`)
  if (unplayed.length > 0) lines.push(`  not compared: callers with ${unplayed.join(", ")}`)
  return `${lines.join("\n")}\n`
}

/** Routes whose callers notice the same. The lines are those of the first. */
interface Group {
  readonly routes: string[]
  readonly lines: readonly Line[]
}

function groupsOf(differences: readonly RequestDifference[]): Group[] {
  const byRoute = new Map<string, RequestDifference[]>()
  for (const each of differences) {
    const [first = ""] = each.routes
    byRoute.set(first, [...(byRoute.get(first) ?? []), each])
  }
  const groups = new Map<string, Group>()
  for (const own of byRoute.values()) {
    const lines = linesOf(own)
    const key = JSON.stringify(lines.map(({ effect, kind }) => [effect, kind]))
    const group = groups.get(key)
    const routes = own[0]?.routes ?? []
    if (group === undefined) groups.set(key, { routes: [...routes], lines })
    else group.routes.push(...routes)
  }
  return [...groups.values()].sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf({ lines }: Group): number {
  return effects.indexOf(lines[0]?.effect ?? "changes")
}

/** The worst first. Who is refused in another way matters only where nothing else does. */
function linesOf(differences: readonly RequestDifference[]): Line[] {
  const lines = new Map<string, Line>()
  const telling = differences.filter(
    ({ before, after }) => before.kind !== "refused" || after.kind !== "refused",
  )
  for (const { effect, caller, before, after, facts } of telling.length > 0 ? telling : differences) {
    const text = outcomeChangeWords(before, after, facts)
    const line = lines.get(`${effect} ${text}`)
    const kind = `${generalOf(caller)} ${generalOf(text)}`
    if (line === undefined) lines.set(`${effect} ${text}`, { effect, callers: [caller], text, kind })
    else line.callers.push(caller)
  }
  return [...lines.values()].sort((a, b) => effects.indexOf(a.effect) - effects.indexOf(b.effect))
}

/** Without names of backends, relations and places in the text, which differ between routes that change in the same way. */
function generalOf(text: string): string {
  return text
    .replace(/, who is .*/, ", who may")
    .replaceAll(/ from backend \S+/g, " from its backend")
    .replaceAll(/ \([^()]*\)/g, "")
}

function groupLines({ routes, lines }: Group, paint: Paint): string[] {
  const effect = lines[0]?.effect ?? "changes"
  const shown = lines.slice(0, linesMax).map(({ callers, text }) => `${indent}${callersOf(callers)}: ${text}`)
  if (lines.length > linesMax) shown.push(`${indent}and ${lines.length - linesMax} more kinds of callers`)
  const head = `${namesWords(routes, routesNamed)}${routes.length > 1 ? "; for the first of them:" : ""}`
  return [`  ${effectWords(effect, paint)}  ${visible(head)}`, ...shown.map(visible)]
}

function callersOf(callers: readonly string[]): string {
  return namesWords(callers, callersNamed, "; ")
}

/** The comparison for programs. Facts are `[name, before, after]`, null stands for none. */
export function requestsJson({ differences, ...counts }: RequestComparison): string {
  const documents = differences.map(({ routes, caller, effect, before, after, facts }) => ({
    ...{ routes, caller, effect },
    before: documentOf(before),
    after: documentOf(after),
    facts: facts.map((each) => [each.name, each.before ?? null, each.after ?? null]),
  }))
  return `${JSON.stringify({ ...counts, differences: documents }, null, 2)}\n`
}

function documentOf({ kind, words, by }: RequestOutcome) {
  return { kind, words, by }
}

import pc from "picocolors"
import { type Risk, risks } from "../analysis/finding.ts"
import type { Change, SubjectKind } from "../diff/change.ts"
import { visible } from "./width.ts"

type Paint = ReturnType<typeof pc.createColors>

const signs = { added: "+", removed: "-", changed: "~" } as const
/** `  ~ breaking  `: further lines of a change are indented by this width. */
const indent = " ".repeat(14)
const wordsMax = 160
const lineMax = 84

/**
 * Changes as text for people, by heading, with a summary in the last line:
 *
 *     api orders
 *       ~ opens     limit 100 per 1m by jwt.sub else ip → limit 200 per 1m by jwt.sub else ip
 *                   200 calls pass, not 100
 *                   all 10 routes of orders · gateway.conf:74
 *
 *     1 change: 1 opens
 */
export function changesText(changes: readonly Change[], { colour }: { readonly colour: boolean }): string {
  if (changes.length === 0) return "No changes.\n"
  const paint = pc.createColors(colour)
  const lines: string[] = []
  let head: string | undefined
  for (const change of changes) {
    if (change.danger) {
      const sides = change.before === undefined ? "" : ` (${change.before} → ${change.after})`
      lines.push(`${paint.bold(paint.red("danger"))}  ${visible(change.why + sides)}`)
      continue
    }
    const own = headOf(change)
    if (own !== head) {
      if (lines.length > 0) lines.push("")
      lines.push(paint.bold(visible(own)))
      head = own
    }
    lines.push(...changeLines(change, paint))
  }
  return `${lines.join("\n")}\n\n${summaryOf(changes)}\n`
}

/** The same as Markdown, for a comment of a pull request. */
export function changesMarkdown(changes: readonly Change[]): string {
  const text = changesText(changes, { colour: false }).trimEnd()
  // Statements may contain backticks.
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)))
  return ["### Changes", "", `${fence}text`, text, fence, ""].join("\n")
}

/**
 * Changes for programs: a JSON array; its shape is described in compiler/diff/README.md. Unknown or missing values are null. `more`: further
 * elements of the array.
 */
export function changesJson(changes: readonly Change[], more: readonly object[] = []): string {
  const documents = changes.map((change) => ({
    risk: change.risk,
    danger: change.danger,
    action: change.action,
    subject: change.subject,
    scope: change.scope,
    routes: change.routes,
    where: change.where,
    path: change.path,
    before: change.before ?? null,
    after: change.after ?? null,
    why: change.why,
    reasons: change.reasons,
    origin: change.origin ?? null,
  }))
  return `${JSON.stringify([...documents, ...more], null, 2)}\n`
}

function headOf({ scope }: Change): string {
  return scope.name === "" ? scope.kind : `${scope.kind} ${scope.name}`
}

function changeLines(change: Change, paint: Paint): string[] {
  const sign = signOf(change, paint)
  const risk = riskPaint(paint, change.risk)(change.risk.padEnd(8))
  const [first, ...more] = wordsOf(change)
  const lines = [`  ${sign} ${risk}  ${visible(first ?? "")}`]
  for (const words of more) lines.push(`${" ".repeat(indent.length - 2)}→ ${visible(words)}`)
  for (const { risk, why } of change.reasons)
    lines.push(indent + visible(risk === change.risk ? why : `${risk}: ${why}`))
  const place = placeOf(change)
  if (place !== "") lines.push(indent + paint.dim(visible(place)))
  return lines
}

/** The old and new statement in words, on one line if both fit. */
function wordsOf({ before, after, subject }: Change): string[] {
  if (before !== undefined && after !== undefined && before !== after) {
    if (before.length + after.length + 3 <= lineMax) return [`${before} → ${after}`]
    const from = firstDifference(before, after)
    return [shortened(before, from), shortened(after, from)]
  }
  const words = after ?? before ?? (subject.name === "" ? subject.kind : `${subject.kind} ${subject.name}`)
  return [shortened(words, 0)]
}

/** The routes, their section, and the place in the text. */
function placeOf({ where, subject, origin, after, before }: Change): string {
  const parts = where === "" || where === after || where === before ? [] : [where]
  // Guards are in `inbound` unless they are inside of a block.
  if (subject.kind === "step" || (isGuard(subject.kind) && subject.name !== "inbound"))
    parts.push(subject.name)
  if (origin !== undefined) parts.push(origin)
  return parts.join(" · ")
}

function isGuard(kind: SubjectKind): boolean {
  return kind === "auth" || kind === "limit" || kind === "require"
}

function signOf({ action }: Change, paint: Paint): string {
  const paints = { added: paint.green, removed: paint.red, changed: paint.yellow }
  return paints[action](signs[action])
}

function riskPaint(paint: Paint, risk: Risk): (text: string) => string {
  const paints = { opens: paint.red, breaking: paint.magenta, closes: paint.cyan, neutral: paint.dim }
  return paints[risk]
}

function firstDifference(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return at
}

/** Cuts long words so that the difference stays visible. */
function shortened(text: string, difference: number): string {
  if (text.length <= wordsMax) return text
  const from = difference < wordsMax - 40 ? 0 : difference - 40
  const cut = text.slice(from, from + wordsMax)
  return `${from > 0 ? "…" : ""}${cut}${from + wordsMax < text.length ? "…" : ""}`
}

/** `3 changes: 1 opens, 1 breaking, 1 neutral` */
function summaryOf(changes: readonly Change[]): string {
  const dangers = changes.filter(({ danger }) => danger).length
  const counts = risks.map((risk) => [
    changes.filter((each) => !each.danger && each.risk === risk).length,
    risk,
  ])
  const parts = [[dangers, dangers === 1 ? "danger" : "dangers"], ...counts].filter(([count]) => count !== 0)
  return `${changes.length} change${changes.length === 1 ? "" : "s"}: ${parts.map((part) => part.join(" ")).join(", ")}`
}
